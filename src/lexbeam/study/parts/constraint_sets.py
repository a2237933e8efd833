"""The sizes of the constraint sets, in phrases and in the model's tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.plan import Plan
from lexbeam.study.report.blocks import Figure, Section, Table, Text
from lexbeam.study.report.figures import Line, draw_lines

LAST_BIN = 14
"""Sentences with more constraint tokens than this are counted together."""


class ConstraintSets:
    """Means and a histogram of the number of constraint tokens per sentence."""

    name = "sets"

    def cells(self, plan: Plan) -> Sequence[Cell]:  # noqa: ARG002
        """Return none: nothing has to be translated."""
        return []

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Count the tokens of each set."""
        names = plan.constrained_sets
        counts = {name: experiment.token_counts(experiment.constraints(name)) for name in names}
        rows = [self._row(experiment, name, counts[name]) for name in names]
        columns = ["set", "constraints per sentence", "tokens per sentence", "tokens, most"]
        text = (
            "Constraints come from the references: `randN` are N random words of each, `phrN` "
            "is a random phrase of N words. A word that the vocabulary cuts into pieces is a "
            "phrase to the search, so what counts is the number of tokens."
        )

        def draw(axes: Any) -> None:
            lines = [
                _histogram(name, counts[name], i) for i, name in enumerate(plan.constrained_sets)
            ]
            draw_lines(axes, lines, "constraint tokens of a sentence", "sentences, %")
            axes.set_xticks(
                range(0, LAST_BIN + 1, 2), [*map(str, range(0, LAST_BIN, 2)), f"{LAST_BIN}+"]
            )

        return Section(
            self.name,
            "Constraint sets",
            [
                Text(text),
                Table("sets", "Constraints by set", columns, rows, decimals=2),
                Figure("sets", "How many tokens the constraints of a sentence are.", draw),
            ],
        )

    def _row(self, experiment: Experiment, name: str, tokens: list[int]) -> list[str | int | float]:
        phrases = fmean(map(len, experiment.constraints(name)))
        return [name, phrases, fmean(tokens), max(tokens)]


def _histogram(name: str, counts: list[int], style: int) -> Line:
    seen = Counter(min(count, LAST_BIN) for count in counts)
    xs = range(min(seen), max(seen) + 1)
    return Line(name, xs, [100 * seen[x] / len(counts) for x in xs], style)

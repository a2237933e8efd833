"""The constraint sets: how much is demanded, in words and in the model's tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lexbeam.study.bench import Bench, Measurable
from lexbeam.study.blocks import Figure, Section, Table, Text
from lexbeam.study.figures import Line, draw_lines
from lexbeam.study.plan import Plan

MOST = 14
"""Token counts shown one by one; more are rare."""


class ConstraintSets:
    """Means and histogram of token counts after subwords."""

    name = "sets"

    def cells(self, plan: Plan) -> Sequence[Measurable]:  # noqa: ARG002
        """Nothing has to be translated for it."""
        return []

    def show(self, plan: Plan, bench: Bench) -> Section:
        """Count tokens."""
        counts = {name: bench.token_counts(bench.constraints(name)) for name in plan.demanding}
        rows = [self._row(bench, name, counts[name]) for name in plan.demanding]
        columns = ["set", "constraints a sentence", "tokens a sentence", "tokens, most"]
        text = (
            "Constraints come from the references: `randN` are N random words of each, `phrN` "
            "is a random phrase of N words. A word that the vocabulary cuts into pieces is a "
            "phrase to the search, so what counts is the number of tokens."
        )

        def draw(axes: Any) -> None:
            lines = [_histogram(name, counts[name], i) for i, name in enumerate(plan.demanding)]
            draw_lines(axes, lines, "constraint tokens of a sentence", "sentences, %")
            axes.set_xticks(range(0, MOST + 1, 2), [*map(str, range(0, MOST, 2)), f"{MOST}+"])

        return Section(
            self.name,
            "Constraint sets",
            [
                Text(text),
                Table("sets", "Constraints by set", columns, rows, decimals=2),
                Figure("sets", "How many tokens the constraints of a sentence are.", draw),
            ],
        )

    def _row(self, bench: Bench, name: str, tokens: list[int]) -> list[str | int | float]:
        demanded = bench.constraints(name)
        sentences = max(len(tokens), 1)
        words = sum(map(len, demanded)) / sentences
        return [name, words, sum(tokens) / sentences, max(tokens, default=0)]


def _histogram(name: str, counts: list[int], look: int) -> Line:
    seen = Counter(min(count, MOST) for count in counts)
    xs = range(min(seen, default=0), max(seen, default=0) + 1)
    return Line(name, xs, [100 * seen[x] / max(len(counts), 1) for x in xs], look)

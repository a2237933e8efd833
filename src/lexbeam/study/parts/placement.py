"""Where constraints stand in the output, compared with the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from lexbeam.study.cells import Translated
from lexbeam.study.constraint_sets import find_phrase
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.metrics import pearson
from lexbeam.study.plan import Plan
from lexbeam.study.report.blocks import Figure, Section, Table, Text, Value
from lexbeam.study.report.figures import COLOURS

SHOWN = "phr3"
"""The set of the paper's figure."""
PAPER_R = 0.82
"""Pearson's r in the paper."""


class Placement:
    """The correlation of relative positions in reference and output."""

    name = "placement"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return every set with constraints, for every algorithm."""
        names = dict.fromkeys([SHOWN, *plan.constrained_sets])
        return [plan.cell(name, algorithm=a) for a in plan.algorithms for name in names]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return a table of correlations and a scatter plot."""
        names = list(dict.fromkeys([*plan.constrained_sets, SHOWN]))
        rows: list[list[Value]] = []
        for name in names:
            found = [positions(experiment, plan.cell(name, algorithm=a)) for a in plan.algorithms]
            rs = [pearson(*points) for points in found]
            rows.append([name, len(found[0][0]), *(None if math.isnan(r) else r for r in rs)])
        shown = positions(experiment, plan.cell(SHOWN))
        r = pearson(*shown)
        verdict = "at least the paper's" if r >= PAPER_R else "below the paper's"
        text = (
            "Are constraints put where they belong? Each point is a constraint: the position of "
            "its first word in the reference and in the output, as a fraction of the words. For "
            f"`{SHOWN}`, Pearson's r is {r:.2f}, {verdict} {PAPER_R}."
        )
        columns = ["set", "constraints", *(f"r, {a}" for a in plan.algorithms)]
        return Section(
            self.name,
            "Placement",
            [
                Text(text),
                Table("placement", "Correlation of positions, Pearson's r", columns, rows, 3),
                Figure(
                    "placement",
                    f"Position of each {SHOWN} constraint in reference and output, r = {r:.2f}.",
                    partial(_draw, shown),
                    (4.6, 4.4),
                ),
            ],
        )


def positions(experiment: Experiment, cell: Translated) -> tuple[list[float], list[float]]:
    """Return the relative positions of all constraints, in references and in outputs."""
    texts = experiment.result(cell)["texts"]
    in_references: list[float] = []
    in_outputs: list[float] = []
    for reference, text, phrases in zip(
        experiment.text.references, texts, cell.phrases(experiment), strict=True
    ):
        for phrase in phrases:
            expected = relative_position(" ".join(reference.split()), phrase)
            found = relative_position(text, phrase)
            if expected is not None and found is not None:
                in_references.append(expected)
                in_outputs.append(found)
    return in_references, in_outputs


def relative_position(text: str, phrase: str) -> float | None:
    """Return the share of a text's words that stand before a phrase, None if it is not there."""
    start = find_phrase(text, phrase)
    words = len(text.split())
    if start is None or not words:
        return None
    return len(text[:start].split()) / words


def _draw(points: tuple[list[float], list[float]], axes: Any) -> None:
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle="--")
    axes.scatter(*points, s=9, alpha=0.4, color=COLOURS[0], linewidths=0)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_xlabel("position in the reference")
    axes.set_ylabel("position in the output")

"""Where constraints end up: their place in the output against that in the reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from lexbeam.study.bench import Bench, Measurable
from lexbeam.study.blocks import Figure, Section, Table, Text, Value
from lexbeam.study.figures import COLOURS
from lexbeam.study.measures import Translated
from lexbeam.study.metrics import pearson
from lexbeam.study.plan import Plan
from lexbeam.study.sets import find

SHOWN = "phr3"
"""The paper's set for this."""
PAPER_R = 0.82


class Placement:
    """Scatter of relative positions, with Pearson's r."""

    name = "placement"

    def cells(self, plan: Plan) -> Sequence[Measurable]:
        """Every demanding set, for every algorithm."""
        names = dict.fromkeys([SHOWN, *plan.demanding])
        return [plan.cell(name, algorithm=a) for a in plan.algorithms for name in names]

    def show(self, plan: Plan, bench: Bench) -> Section:
        """Correlate."""
        names = list(dict.fromkeys([*plan.demanding, SHOWN]))
        rows: list[list[Value]] = []
        for name in names:
            found = [positions(bench, plan.cell(name, algorithm=a)) for a in plan.algorithms]
            rs = [pearson(*points) for points in found]
            rows.append([name, len(found[0][0]), *(None if math.isnan(r) else r for r in rs)])
        shown = positions(bench, plan.cell(SHOWN))
        r = pearson(*shown)
        verdict = "at least the paper's" if r >= PAPER_R else "below the paper's"
        text = (
            "Are constraints put where they belong? Each point is a constraint: the place of its "
            "first word in the reference and in the output, as a fraction of the words. For "
            f"`{SHOWN}`, Pearson's r is {r:.2f}, {verdict} {PAPER_R}."
        )
        columns = ["set", "constraints", *(f"r, {a}" for a in plan.algorithms)]
        return Section(
            self.name,
            "Placement",
            [
                Text(text),
                Table("placement", "Correlation of places, Pearson's r", columns, rows, 3),
                Figure(
                    "placement",
                    f"Place of each {SHOWN} constraint in reference and output, r = {r:.2f}.",
                    partial(_draw, shown),
                    (4.6, 4.4),
                ),
            ],
        )


def positions(bench: Bench, cell: Translated) -> tuple[list[float], list[float]]:
    """Return the relative places of all constraints, in references and in outputs."""
    texts = bench.result(cell)["texts"]
    there: list[float] = []
    here: list[float] = []
    for reference, text, phrases in zip(
        bench.text.references, texts, cell.phrases(bench), strict=True
    ):
        for phrase in phrases:
            places = place(" ".join(reference.split()), phrase), place(text, phrase)
            if places[0] is not None and places[1] is not None:
                there.append(places[0])
                here.append(places[1])
    return there, here


def place(text: str, phrase: str) -> float | None:
    """Return where a phrase begins, as a fraction of the words of a text."""
    start = find(text, phrase)
    words = len(text.split())
    if start is None or not words:
        return None
    return len(text[:start].split()) / words


def _draw(points: tuple[list[float], list[float]], axes: Any) -> None:
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle="--")
    axes.scatter(*points, s=9, alpha=0.4, color=COLOURS[0], linewidths=0)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_xlabel("place in the reference")
    axes.set_ylabel("place in the output")

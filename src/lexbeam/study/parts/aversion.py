"""Reference aversion: outputs nearer to the reference have lower model scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from lexbeam.study.cells import ForcedReferences
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.plan import UNCONSTRAINED, Plan, listed
from lexbeam.study.report.blocks import Figure, Section, Table, Text, Value
from lexbeam.study.report.figures import COLOURS


class Aversion:
    """BLEU against the summed model score."""

    name = "aversion"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return every set, and the references themselves."""
        return [*(plan.cell(name) for name in self._sets(plan)), ForcedReferences()]

    def _sets(self, plan: Plan) -> list[str]:
        return [UNCONSTRAINED, *plan.constrained_sets]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return BLEU and score of every set."""
        points = []
        for name in self._sets(plan):
            found = experiment.result(plan.cell(name))
            points.append((name, sum(found["scores"]), found["bleu"]))
        forced = sum(experiment.result(ForcedReferences())["scores"])
        points.append(("reference", forced, 100.0))
        free = points[0][1]
        likes = [name for name, score, _ in points if score < forced]
        demanding = points[1:-1]
        dearer = sum(score < free for _, score, _ in demanding)
        nearer = sum(bleu > points[0][2] for _, _, bleu in demanding)
        text = (
            "Words of the reference cost score: the model would have said something else. "
            f"Of {len(demanding)} sets, {dearer} cost model score, and {nearer} raise BLEU all the "
            f"same. The sum of the scores (log-probability by length) is {_number(free)} for "
            f"unconstrained output and {_number(forced)} for the references themselves, which "
            f"the model likes {'less' if forced < free else 'more'}."
        )
        if likes:
            text += f" Even less than the references it likes {listed(likes)}."
        count = max(len(experiment.text.sources), 1)
        rows: list[list[Value]] = [[n, round(s, 1), s / count, b] for n, s, b in points]
        columns = ["set", "summed score", "score per sentence", "BLEU"]
        return Section(
            self.name,
            "Reference aversion",
            [
                Text(text),
                Table("aversion", "Model score and BLEU", columns, rows, 2),
                Figure(
                    "aversion",
                    "BLEU against the summed model score; the reference itself would be at "
                    f"{_number(forced)} and 100.",
                    partial(_draw, points[:-1]),
                    (5.6, 4.0),
                ),
            ],
        )


def _number(value: float) -> str:
    return f"{value:,.1f}".replace("-", "−")


def _draw(points: Sequence[tuple[str, float, float]], axes: Any) -> None:
    for i, (name, score, bleu) in enumerate(points):
        axes.scatter(score, bleu, s=36, color=COLOURS[i % len(COLOURS)])
        axes.annotate(name, (score, bleu), xytext=(6, 4), textcoords="offset points")
    axes.margins(x=0.16, y=0.1)
    axes.set_xlabel("summed model score")
    axes.set_ylabel("BLEU")

"""When to drop hypotheses and when to stop: pruning thresholds and stopping rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

from lexbeam.study.cells import Translated
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.plan import UNCONSTRAINED, Plan, listed
from lexbeam.study.report.blocks import Figure, Section, Table, Text, Value
from lexbeam.study.report.figures import Line, draw_lines

THRESHOLDS = (0.0, 3.0, 5.0, 10.0, 20.0, 30.0)
"""The paper's thresholds. 0 is no pruning."""
LAG = 3.0
"""The default of `Translator.translate`."""


class Pruning:
    """BLEU by pruning threshold."""

    name = "prune"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return every set with every threshold."""
        return [plan.cell(name, prune=t) for t in THRESHOLDS for name in plan.sets]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return BLEU and work by threshold."""
        found = {
            n: [experiment.result(plan.cell(n, prune=t)) for t in THRESHOLDS] for n in plan.sets
        }
        sentences = max(len(experiment.text.sources), 1)
        bleu = {name: [r["bleu"] for r in row] for name, row in found.items()}
        rows = [[r["rows"] / sentences for r in row] for row in found.values()]
        columns = ["set", *(f"{t:g}" if t else "none" for t in THRESHOLDS)]
        told = listed([f"{name} {_best(bleu[name])}" for name in plan.constrained_sets])
        text = (
            f"A hypothesis that is further than the threshold below the best finished one is "
            f"dropped. `{plan.algorithms[0]}`, k = {plan.usual_beam}. The best threshold by "
            f"BLEU: {told}. All thresholds with less than half a point between them are as good. "
            f"Without pruning the model scores "
            f"{_ratio(rows, 0, THRESHOLDS.index(20.0)):.1f} times as many hypotheses as with "
            "the paper's threshold of 20."
        )
        return Section(
            self.name,
            "Pruning",
            [
                Text(text),
                Table(
                    "prune-bleu",
                    "BLEU by pruning threshold",
                    columns,
                    [[name, *row] for name, row in bleu.items()],
                ),
                Table(
                    "prune-work",
                    "Hypotheses scored per sentence by pruning threshold",
                    columns,
                    [[name, *row] for name, row in zip(found, rows, strict=True)],
                    0,
                ),
                Figure("prune", "BLEU by pruning threshold.", partial(_draw, plan, bleu)),
            ],
        )


class Stopping:
    """The paper's stopping rule against early stopping and others."""

    name = "stop"

    def rules(self, plan: Plan, name: str) -> dict[str, Translated]:
        """Return the cell of a set for each stopping rule."""
        return {
            "all finished (the paper's)": plan.cell(name),
            "first finished (early)": plan.cell(name, stop="first"),
            "none can win (bound)": plan.cell(name, stop="bound"),
            f"all finished, lag {LAG:g}": plan.cell(name, lag=LAG),
            f"none likely to win, lag {LAG:g} (default)": plan.cell(name, stop="likely", lag=LAG),
        }

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return every set with every rule."""
        return [cell for name in plan.sets for cell in self.rules(plan, name).values()]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return BLEU, score and work by rule."""
        tables = []
        for what, title, decimals in (
            ("bleu", "BLEU by stopping rule", 1),
            ("score", "Mean model score by stopping rule", 3),
            ("rows", "Hypotheses scored per sentence by stopping rule", 0),
        ):
            rules = list(self.rules(plan, UNCONSTRAINED))
            rows: list[list[Value]] = [
                [rule, *(_value(experiment, self.rules(plan, n)[rule], what) for n in plan.sets)]
                for rule in rules
            ]
            tables.append(Table(f"stop-{what}", title, ["rule", *plan.sets], rows, decimals))
        text = (
            "The paper's rule goes on until everything on the beam has finished; early stopping "
            "ends with the first finished hypothesis, `bound` when nothing on the beam can still "
            "win, `likely` when nothing can unless it becomes much longer than is usual. A `lag` "
            "drops what is far behind the best of its own bank. The last two are not in the "
            "paper; they are what `lexbeam translate` does."
        )
        return Section(self.name, "Stopping", [Text(text), *tables])


def _best(bleu: Sequence[float]) -> str:
    best = THRESHOLDS[bleu.index(max(bleu))]
    if max(bleu) - min(bleu) < 0.5:
        return "any"
    return f"{best:g}" if best else "without pruning"


def _value(experiment: Experiment, cell: Translated, what: str) -> float:
    result = experiment.result(cell)
    if what == "score":
        return fmean(result["scores"])
    return float(result[what]) / (len(result["scores"]) if what == "rows" else 1)


def _ratio(rows: Sequence[Sequence[float]], over: int, under: int) -> float:
    return sum(row[over] for row in rows) / max(sum(row[under] for row in rows), 1e-9)


def _draw(plan: Plan, bleu: dict[str, list[float]], axes: Any) -> None:
    xs = range(len(THRESHOLDS))
    order = [*range(1, len(THRESHOLDS)), 0]  # no pruning comes last, as an infinite threshold
    lines = [
        Line(name, xs, [bleu[name][i] for i in order], style)
        for style, name in enumerate(plan.constrained_sets)
    ]
    if UNCONSTRAINED in bleu:
        lines.append(Line("unconstrained", xs, [bleu[UNCONSTRAINED][i] for i in order], 7, 1))
    draw_lines(axes, lines, "pruning threshold", "BLEU")
    axes.set_xticks(xs, [f"{THRESHOLDS[i]:g}" if i else "none" for i in order])

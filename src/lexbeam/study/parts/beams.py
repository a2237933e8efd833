"""BLEU by beam size for every set, the algorithms side by side, and an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from lexbeam.study.cells import Compared, Translated
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.parts.summary import say_few
from lexbeam.study.plan import FEW_SENTENCES, UNCONSTRAINED, Plan, listed, signed
from lexbeam.study.report.blocks import Block, Figure, Section, Table, Text
from lexbeam.study.report.figures import Line, draw_lines

CBS_BASE = 5
"""Slots that the oracle gives to every set of constraint tokens met."""


class Beams:
    """BLEU by beam size, for every set and algorithm."""

    name = "beam"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return every set with every beam and algorithm, and the comparisons."""
        cells: list[Cell] = [
            plan.cell(name, beam_size=k, algorithm=algorithm)
            for algorithm in plan.algorithms
            for k in plan.beams
            for name in plan.sets
        ]
        return [*cells, *(p for name in plan.constrained_sets for p in _compared(plan, name))]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return tables and a figure per algorithm, and a comparison."""
        blocks: list[Block] = []
        for algorithm in plan.algorithms:
            blocks += self._one_algorithm(plan, experiment, algorithm)
        if len(plan.algorithms) > 1:
            blocks += self._compare(plan, experiment)
        return Section(self.name, "Beam size", blocks)

    def _one_algorithm(self, plan: Plan, experiment: Experiment, algorithm: str) -> list[Block]:
        bleu = {name: _row(plan, experiment, name, algorithm, "bleu") for name in plan.sets}
        chrf = {name: _row(plan, experiment, name, algorithm, "chrf") for name in plan.sets}
        columns = ["set", *(f"k={k}" for k in plan.beams)]
        draw = partial(_draw, plan, bleu)
        count = len(experiment.text.sources)
        enough = count >= FEW_SENTENCES
        return [
            Text(self._say(plan, algorithm, bleu) if enough else say_few(count)),
            Table(
                f"beam-{algorithm}-bleu",
                f"BLEU by beam size, {algorithm}",
                columns,
                [[name, *row] for name, row in bleu.items()],
            ),
            Table(
                f"beam-{algorithm}-chrf",
                f"chrF by beam size, {algorithm}",
                columns,
                [[name, *row] for name, row in chrf.items()],
            ),
            Figure(f"beam-{algorithm}", f"BLEU by beam size for every set ({algorithm}).", draw),
        ]

    def _say(self, plan: Plan, algorithm: str, bleu: dict[str, list[float]]) -> str:
        first, last = plan.beams[0], plan.beams[-1]
        rising = [name for name in plan.constrained_sets if bleu[name][-1] > bleu[name][0]]
        rest = [name for name in plan.constrained_sets if name not in rising]
        said = f"With `{algorithm}`, from k = {first} to k = {last}, "
        said += f"BLEU rises with {listed(rising)}" if rising else "BLEU rises with no set"
        said += f", but not {listed(rest)}." if rest and rising else "."
        below = [
            f"{name} at k = {k} ({signed(bleu[name][i] - bleu[UNCONSTRAINED][i])})"
            for name in plan.constrained_sets
            for i, k in enumerate(plan.beams)
            if UNCONSTRAINED in bleu and bleu[name][i] < bleu[UNCONSTRAINED][i]
        ]
        if UNCONSTRAINED not in bleu:
            return said
        if below:
            return f"{said} Below the unconstrained baseline at the same k: {listed(below)}."
        return f"{said} No set is below the unconstrained baseline at any k."

    def _compare(self, plan: Plan, experiment: Experiment) -> list[Block]:
        blocks: list[Block] = []
        for what, title, decimals in (
            ("bleu", "BLEU", 1),
            ("score", "Mean model score", 3),
            ("work", "Hypotheses scored per sentence", 0),
        ):
            columns = ["set", *(f"{a} k={k}" for k in plan.beams[:2] for a in plan.algorithms)]
            rows = [
                [
                    name,
                    *(
                        _measure(
                            experiment, plan.cell(name, beam_size=k, algorithm=algorithm), what
                        )
                        for k in plan.beams[:2]
                        for algorithm in plan.algorithms
                    ),
                ]
                for name in plan.sets
            ]
            caption = f"{title} by algorithm at the same beam"
            blocks.append(Table(f"algorithms-{what}", caption, columns, rows, decimals))
        first, *others = plan.algorithms
        columns = ["set", *(f"{a} k={k}" for k in plan.beams[:2] for a in others)]
        rows = [
            [name, *(experiment.result(cell)["p"] for cell in _compared(plan, name))]
            for name in plan.constrained_sets
        ]
        caption = f"Is the difference in BLEU to {first} chance? p, by paired bootstrap"
        return [*blocks, Table("algorithms-p", caption, columns, rows, 3)]


class Oracle:
    """How much better the outputs of a much wider search are."""

    name = "oracle"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return every set with the usual beam, with a very wide one, and with CBS."""
        return [cell for name in plan.sets for cell in self._searches(plan, name)]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return BLEU and model score next to those of the usual beam."""
        wide, cbs = f"k={plan.wide_beam}", f"CBS b={CBS_BASE}"
        rows, better = [], []
        for name in plan.sets:
            usual, wide_beam, cbs_beam = self._searches(plan, name)
            found, best = experiment.result(usual), _best_scores(experiment, wide_beam, cbs_beam)
            scores = found["scores"]
            improved = sum(b > s + 1e-4 for b, s in zip(best, scores, strict=True))
            better.append(100 * improved / max(len(best), 1))
            rows.append(
                [
                    name,
                    *(_measure(experiment, cell, "bleu") for cell in (usual, wide_beam, cbs_beam)),
                    *(_measure(experiment, cell, "score") for cell in (usual, wide_beam, cbs_beam)),
                    better[-1],
                ]
            )
        count = min(plan.oracle_sentences, len(experiment.text.sources))
        usual_name = f"k={plan.usual_beam}"
        columns = ["set", *(f"BLEU {s}" for s in (usual_name, wide, cbs))]
        columns += [f"score {s}" for s in (usual_name, wide, cbs)] + ["better exists, %"]
        text = (
            "How much is lost to the beam? Two searches bound it: one with k = "
            f"{plan.wide_beam}, and constrained beam search, which keeps {CBS_BASE} hypotheses "
            f"for every set of constraints met. Both are slow, so {count} sentences have to do. "
            "“Better exists” counts those for which one of the two found an output that the model "
            f"prefers to the one found with k = {plan.usual_beam}. A gap in BLEU without one in "
            "score is the model's, not the search's."
        )
        return Section(
            self.name,
            "How far from the best",
            [Text(text), Table("oracle", "The beam against an oracle", columns, rows, 2)],
        )

    def _searches(self, plan: Plan, name: str) -> list[Translated]:
        """Return the cells of the usual beam, the wide beam and CBS."""
        cells = [
            plan.cell(name),
            plan.cell(name, beam_size=plan.wide_beam),
            plan.cell(name, algorithm="cbs", beam_size=CBS_BASE),
        ]
        return [replace(cell, sentences=plan.oracle_sentences) for cell in cells]


def _compared(plan: Plan, name: str) -> list[Compared]:
    """Return the comparisons of the other algorithms with the first, on a set."""
    return [
        Compared(
            plan.cell(name, beam_size=k, algorithm=other),
            plan.cell(name, beam_size=k, algorithm=plan.algorithms[0]),
        )
        for k in plan.beams[:2]
        for other in plan.algorithms[1:]
    ]


def _best_scores(experiment: Experiment, *cells: Cell) -> list[float]:
    results = [experiment.result(cell) for cell in cells]
    return [
        max(each) for each in zip(*(r["scores"] for r in results if "scores" in r), strict=True)
    ]


def _row(plan: Plan, experiment: Experiment, name: str, algorithm: str, what: str) -> list[float]:
    return [
        _measure(experiment, plan.cell(name, beam_size=k, algorithm=algorithm), what) or 0.0
        for k in plan.beams
    ]


def _measure(experiment: Experiment, cell: Cell, what: str) -> float | None:
    result = experiment.result(cell)
    if "refused" in result:
        return None
    if what in ("score", "work"):
        scores = result["scores"]
        return fmean(scores) if what == "score" else float(result["rows"] / len(scores))
    return float(result[what])


def _draw(plan: Plan, bleu: dict[str, list[float]], axes: Any) -> None:
    lines = [Line(name, plan.beams, bleu[name], i) for i, name in enumerate(plan.constrained_sets)]
    if UNCONSTRAINED in bleu:
        lines.append(Line("unconstrained", plan.beams, bleu[UNCONSTRAINED], 7, 1))
    draw_lines(axes, lines, "beam size k", "BLEU")
    axes.set_xticks(plan.beams)

"""Work and time by number of constraints, for each algorithm.

The paper's figure gives seconds. Seconds differ from run to run, but the report must be the same
twice. So the report counts the hypotheses that the model scores, which take most of the time;
the seconds go to a report of their own (`Speed.show_times`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from lexbeam.study.cells import Setting, Timed, grows
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.metrics import slope
from lexbeam.study.plan import UNCONSTRAINED, Plan
from lexbeam.study.report.blocks import Block, Figure, Section, Table, Text
from lexbeam.study.report.figures import Line, draw_lines
from lexbeam.study.store import Result

MOST_FOR_CBS = 4
"""The most words for constrained beam search, whose beam doubles with each of them."""
SCORED = "rand3"
"""The set whose BLEU is in the legend, as in the paper."""


class Point(NamedTuple):
    """The means per sentence of one system, for one number of words demanded."""

    words: int
    tokens: float
    steps: float
    rows: float
    seconds: float

    @property
    def milliseconds(self) -> float:
        """The time per sentence."""
        return 1000 * self.seconds

    @property
    def milliseconds_per_step(self) -> float:
        """The time per step."""
        return self.milliseconds / self.steps


Points = dict[Setting, list[Point]]

FIGURE_SIZE = (7.6, 4.2)


class Speed:
    """Hypotheses scored, and seconds, by number of constraints."""

    name = "speed"

    def systems(self, plan: Plan) -> list[Setting]:
        """Return the settings that are compared."""
        fixed = [a for a in plan.algorithms if not grows(a)]
        found = [plan.setting(algorithm=a, beam_size=k) for a in fixed for k in plan.speed_beams]
        found += [plan.setting(algorithm="gbs", beam_size=base) for base in plan.gbs_bases]
        return [*found, plan.setting(algorithm="cbs", beam_size=1)]

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return sentences one by one with ever more words, and the whole text for BLEU."""
        cells: list[Cell] = [plan.cell(UNCONSTRAINED), self._free(plan)]
        for system in self.systems(plan):
            cells += [
                _timed(plan, system, words) for words in plan.speed_words if _tried(system, words)
            ]
            cells.append(self._scored(plan, system))
        return cells

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return the section on the work."""
        points = self._all_points(plan, experiment)
        blocks: list[Block] = [
            Text(
                "What does a constraint cost? Up to eight random words of the reference are "
                f"demanded of {self._count(plan, experiment)} sentences, translated one by one. "
                "Counted is what takes the time: hypotheses that the model scores, over all "
                "steps of a sentence. Seconds, which are never twice the same, are in "
                "[a report of their own](times.md)."
            ),
            _table(plan, points, "speed", "Hypotheses scored per sentence", "rows", 0),
            Figure(
                "speed",
                f"Work by number of constraint tokens; BLEU is that of {SCORED}.",
                self._drawing(plan, experiment, points, "rows", "hypotheses scored per sentence"),
                FIGURE_SIZE,
            ),
            Text(self._say(points, "rows", "hypotheses")),
        ]
        return Section(self.name, "Cost by number of constraints", blocks)

    def show_times(self, plan: Plan, experiment: Experiment) -> Section:
        """Return the section on the seconds."""
        points = self._all_points(plan, experiment)
        blocks: list[Block] = [
            Text(
                f"Processor time of {self._count(plan, experiment)} sentences, translated one by "
                "one on one thread. These figures change from run to run and from machine to "
                "machine; everything else in the report does not."
            ),
            _table(plan, points, "times", "Milliseconds per sentence", "milliseconds", 1),
            _table(plan, points, "times-step", "Milliseconds per step", "milliseconds_per_step", 2),
            Figure(
                "times",
                f"Time by number of constraint tokens; BLEU is that of {SCORED}.",
                self._drawing(plan, experiment, points, "milliseconds", "ms per sentence"),
                FIGURE_SIZE,
            ),
            Text(self._say(points, "milliseconds", "ms")),
        ]
        return Section("times", "Time by number of constraints", blocks)

    def _all_points(self, plan: Plan, experiment: Experiment) -> Points:
        return {system: self._points(plan, experiment, system) for system in self.systems(plan)}

    def _scored(self, plan: Plan, system: Setting) -> Cell:
        return plan.cell(SCORED, algorithm=system.algorithm, beam_size=system.beam_size)

    def _free(self, plan: Plan) -> Timed:
        return Timed(UNCONSTRAINED, plan.setting(algorithm="beam"), plan.speed_sentences)

    def _count(self, plan: Plan, experiment: Experiment) -> int:
        return min(plan.speed_sentences, len(experiment.text.sources))

    def _points(self, plan: Plan, experiment: Experiment, system: Setting) -> list[Point]:
        points = []
        for words in plan.speed_words:
            if not _tried(system, words):
                continue
            found = experiment.result(_timed(plan, system, words))
            if "refused" in found:
                continue
            points.append(_point(words, found))
        return points

    def _drawing(
        self, plan: Plan, experiment: Experiment, points: Points, what: str, label: str
    ) -> Callable[[Any], None]:
        """Return a function that draws one value of all systems by number of tokens."""

        def draw(axes: Any) -> None:
            lines = []
            algorithms = list(dict.fromkeys(system.algorithm for system in points))
            for number, (system, row) in enumerate(points.items()):
                found = experiment.result(self._scored(plan, system))
                bleu = f" ({found['bleu']:.1f})" if "bleu" in found else ""
                xs, ys = [p.tokens for p in row], [getattr(p, what) for p in row]
                dash = algorithms.index(system.algorithm)
                lines.append(Line(_title(system) + bleu, xs, ys, number, dash))
            free = _point(0, experiment.result(self._free(plan)))
            free_bleu = experiment.result(plan.cell(UNCONSTRAINED))["bleu"]
            name = f"unconstrained k={plan.usual_beam} ({free_bleu:.1f})"
            level = (name, getattr(free, what))
            draw_lines(axes, lines, "constraint tokens per sentence (mean)", label, level)
            axes.set_ylim(bottom=0)

        return draw

    def _say(self, points: Points, what: str, unit: str) -> str:
        said = []
        for system, row in points.items():
            demanded = [p for p in row if p.words]
            if len(demanded) < 2:
                continue
            ys = [getattr(p, what) for p in demanded]
            grows = slope([p.tokens for p in demanded], ys)
            said.append(f"{_title(system)} {grows:+,.1f}".replace("-", "−"))
        return (
            f"Growth with each further constraint token, in {unit} per sentence: {'; '.join(said)}."
        )


def _point(words: int, found: Result) -> Point:
    n = found["sentences"]
    each = (found[what] / n for what in ("steps", "rows", "seconds"))
    return Point(words, found["tokens"], *each)


def _timed(plan: Plan, system: Setting, words: int) -> Timed:
    if not words:  # whatever the algorithm, it is plain beam search
        return Timed(UNCONSTRAINED, replace(system, algorithm="beam"), plan.speed_sentences)
    return Timed(f"rand{words}", system, plan.speed_sentences)


def _tried(system: Setting, words: int) -> bool:
    return system.algorithm != "cbs" or words <= MOST_FOR_CBS


def _table(
    plan: Plan,
    points: Points,
    name: str,
    caption: str,
    what: str,
    decimals: int,
) -> Table:
    """Return one value of every system, by the number of words demanded."""
    columns = ["system", *(f"{n} word{'' if n == 1 else 's'}" for n in plan.speed_words)]
    rows = []
    for system, row in points.items():
        there = {point.words: getattr(point, what) for point in row}
        rows.append([_title(system), *map(there.get, plan.speed_words)])
    return Table(name, caption, columns, rows, decimals)


def _title(system: Setting) -> str:
    letter = "b" if grows(system.algorithm) else "k"
    return f"{system.algorithm.upper()} {letter}={system.beam_size}"

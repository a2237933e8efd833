"""What constraints cost: work and time by their number, for each algorithm.

The paper's figure gives seconds. Seconds differ from day to day, and a report that is to come
out alike twice can't have them in it; so the report counts what the model is made to price,
which is where the time goes, and the seconds are written to files of their own (`Times`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from lexbeam.study.bench import Bench, Measurable
from lexbeam.study.blocks import Block, Figure, Section, Table, Text
from lexbeam.study.figures import Line, draw_lines
from lexbeam.study.measures import GROWING, Setting, Timed
from lexbeam.study.metrics import slope
from lexbeam.study.plan import FREE, Plan
from lexbeam.study.store import Result

MOST_FOR_CBS = 4
"""Words up to which constrained beam search is tried: its beam grows with two to that power."""
SCORED = "rand3"
"""The set whose BLEU stands in the legend, as in the paper."""


class Point(NamedTuple):
    """One measurement of a system."""

    words: int
    tokens: float
    steps: float
    rows: float
    seconds: float

    @property
    def milliseconds(self) -> float:
        """The time of a sentence."""
        return 1000 * self.seconds

    @property
    def milliseconds_a_step(self) -> float:
        """The time of a step."""
        return self.milliseconds / self.steps


class Speed:
    """Hypotheses priced by number of constraints."""

    name = "speed"

    def systems(self, plan: Plan) -> list[Setting]:
        """Everything that is compared."""
        fixed = [a for a in plan.algorithms if a not in GROWING]
        found = [plan.setting(algorithm=a, beam_size=k) for a in fixed for k in plan.speed_beams]
        found += [plan.setting(algorithm="gbs", beam_size=base) for base in plan.gbs_bases]
        return [*found, plan.setting(algorithm="cbs", beam_size=1)]

    def cells(self, plan: Plan) -> Sequence[Measurable]:
        """Sentences one by one with ever more words; and the whole text for BLEU."""
        cells: list[Measurable] = [plan.cell(FREE), self._free(plan)]
        for system in self.systems(plan):
            cells += [
                _timed(plan, system, words) for words in plan.speed_words if _tried(system, words)
            ]
            cells.append(self._scored(plan, system))
        return cells

    def show(self, plan: Plan, bench: Bench) -> Section:
        """Write up the work; `times` has the seconds."""
        points = {system: self._points(plan, bench, system) for system in self.systems(plan)}
        blocks: list[Block] = [
            Text(
                "What does a constraint cost? Up to eight random words of the reference are "
                f"demanded of {self._count(plan, bench)} sentences, translated one by one. "
                "Counted is what takes the time: hypotheses that the model prices, over all "
                "steps of a sentence. Seconds, which are never twice the same, are in "
                "[a report of their own](times.md)."
            ),
            _table(plan, points, "speed", "Hypotheses priced a sentence", "rows", 0),
            Figure(
                "speed",
                f"Work by number of constraint tokens; BLEU is that of {SCORED}.",
                partial(self._draw, plan, bench, points, "rows", "hypotheses priced a sentence"),
                (7.6, 4.2),
            ),
            Text(self._say(points, "rows", "hypotheses")),
        ]
        return Section(self.name, "Cost by number of constraints", blocks)

    def times(self, plan: Plan, bench: Bench) -> Section:
        """Write up the seconds."""
        points = {system: self._points(plan, bench, system) for system in self.systems(plan)}
        return Section(
            "times",
            "Time by number of constraints",
            [
                Text(
                    f"Processor time of {self._count(plan, bench)} sentences, translated one by "
                    "one on one thread. These figures change from run to run and from machine "
                    "to machine; everything else in the report does not."
                ),
                _table(plan, points, "times", "Milliseconds a sentence", "milliseconds", 1),
                _table(plan, points, "times-step", "Milliseconds a step", "milliseconds_a_step", 2),
                Figure(
                    "times",
                    f"Time by number of constraint tokens; BLEU is that of {SCORED}.",
                    partial(self._draw, plan, bench, points, "milliseconds", "ms a sentence"),
                    (7.6, 4.2),
                ),
                Text(self._say(points, "milliseconds", "ms")),
            ],
        )

    def _scored(self, plan: Plan, system: Setting) -> Measurable:
        return plan.cell(SCORED, algorithm=system.algorithm, beam_size=system.beam_size)

    def _free(self, plan: Plan) -> Timed:
        return Timed(FREE, plan.setting(algorithm="beam"), plan.speed_sentences)

    def _count(self, plan: Plan, bench: Bench) -> int:
        return min(plan.speed_sentences, len(bench.text.sources))

    def _points(self, plan: Plan, bench: Bench, system: Setting) -> list[Point]:
        points = []
        for words in plan.speed_words:
            if not _tried(system, words):
                continue
            found = bench.result(_timed(plan, system, words))
            if "refused" in found:
                continue
            points.append(_point(words, found))
        return points

    def _draw(
        self,
        plan: Plan,
        bench: Bench,
        points: dict[Setting, list[Point]],
        what: str,
        y: str,
        axes: Any,
    ) -> None:
        lines = []
        kinds = list(dict.fromkeys(system.algorithm for system in points))
        for number, (system, row) in enumerate(points.items()):
            found = bench.result(self._scored(plan, system))
            bleu = f" ({found['bleu']:.1f})" if "bleu" in found else ""
            xs, ys = [p.tokens for p in row], [getattr(p, what) for p in row]
            dash = kinds.index(system.algorithm)
            lines.append(Line(_title(system) + bleu, xs, ys, number, dash))
        free = _point(0, bench.result(self._free(plan)))
        bleu = bench.result(plan.cell(FREE))["bleu"]
        level = (f"unconstrained k={plan.usual_beam} ({bleu:.1f})", getattr(free, what))
        draw_lines(axes, lines, "constraint tokens a sentence (mean)", y, level)
        axes.set_ylim(bottom=0)

    def _say(self, points: dict[Setting, list[Point]], what: str, unit: str) -> str:
        said = []
        for system, row in points.items():
            demanded = [p for p in row if p.words]
            if len(demanded) < 2:
                continue
            ys = [getattr(p, what) for p in demanded]
            grows = slope([p.tokens for p in demanded], ys)
            said.append(f"{_title(system)} {grows:+,.1f}".replace("-", "−"))
        return (
            f"Growth with each further constraint token, in {unit} a sentence: {'; '.join(said)}."
        )


def _point(words: int, found: Result) -> Point:
    n = found["sentences"]
    each = (found[what] / n for what in ("steps", "rows", "seconds"))
    return Point(words, found["tokens"], *each)


def _timed(plan: Plan, system: Setting, words: int) -> Timed:
    if not words:  # whatever the algorithm, it is plain beam search
        return Timed(FREE, replace(system, algorithm="beam"), plan.speed_sentences)
    return Timed(f"rand{words}", system, plan.speed_sentences)


def _tried(system: Setting, words: int) -> bool:
    return system.algorithm != "cbs" or words <= MOST_FOR_CBS


def _table(
    plan: Plan,
    points: dict[Setting, list[Point]],
    name: str,
    caption: str,
    what: str,
    decimals: int,
) -> Table:
    """Return one figure of every system, by the number of words demanded."""
    columns = ["system", *(f"{n} word{'' if n == 1 else 's'}" for n in plan.speed_words)]
    rows = []
    for system, row in points.items():
        there = {point.words: getattr(point, what) for point in row}
        rows.append([_title(system), *map(there.get, plan.speed_words)])
    return Table(name, caption, columns, rows, decimals)


def _title(system: Setting) -> str:
    letter = "b" if system.algorithm in GROWING else "k"
    return f"{system.algorithm.upper()} {letter}={system.beam_size}"

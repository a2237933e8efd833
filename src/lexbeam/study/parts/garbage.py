"""Garbage on the beam: hypotheses that go on after the best output has ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

from lexbeam.study.beam_observer import ObservedSearches
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.plan import Plan
from lexbeam.study.report.blocks import Figure, Section, Table, Text, Value
from lexbeam.study.report.figures import Line, draw_lines

SET = "rand3"
THRESHOLDS = (0.0, 20.0, 10.0)
BEFORE, AFTER = 10, 60
"""Steps shown before and after the end of the best output."""
LONGEST = 150
"""Characters of an output that are shown at most."""

Searches = list[dict[str, Any]]


class Garbage:
    """How many hypotheses are unfinished, for how long, and an example."""

    name = "garbage"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return some sentences, observed with and without pruning."""
        return [self._cell(plan, threshold) for threshold in THRESHOLDS]

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return the comparison of the thresholds."""
        found = {t: experiment.result(self._cell(plan, t))["searches"] for t in THRESHOLDS}
        rows: list[list[Value]] = [[_title(t), *_summary(found[t])] for t in THRESHOLDS]
        without, usual = _summary(found[0.0]), _summary(found[20.0])
        text = (
            f"{len(found[0.0])} sentences of {SET}, watched at every step. Without pruning the "
            f"search goes on for {without[1]:.1f} steps on average after the best output has "
            f"ended, and {without[2]:.0f} % of all hypotheses are scored in that time; "
            f"{without[4]:.0f} % of the searches run into the length limit. With a threshold of "
            f"20 it is {usual[1]:.1f} steps, {usual[2]:.0f} % and {usual[4]:.0f} %."
        )
        columns = [
            "pruning",
            "steps to the best",
            "steps after it",
            "priced after it, %",
            "unfinished at its end",
            "at the limit, %",
        ]
        example = _example(found[0.0])
        sentence = example["sentence"]
        source = experiment.text.sources[sentence]
        demanded = _quoted(experiment.constraints(SET)[sentence])
        return Section(
            self.name,
            "Garbage on the beam",
            [
                Text(text),
                Table("garbage", "Life after the best output", columns, rows, 1),
                Figure(
                    "garbage",
                    "Unfinished hypotheses on the beam before and after the end of the best "
                    "output; a search that is over has none.",
                    partial(_draw, found),
                ),
                Text(
                    f"One such beam, without pruning: “{source}” with {demanded}. The best output, "
                    "and what was still unfinished when the search ended."
                ),
                _beam_table(example),
            ],
        )

    def _cell(self, plan: Plan, threshold: float) -> ObservedSearches:
        return ObservedSearches(SET, plan.setting(prune=threshold), plan.speed_sentences)


def _summary(searches: Searches) -> tuple[float, float, float, float, float]:
    """Return the columns of the table for one threshold.

    These are the mean length of the best output, the mean number of steps after it, the share
    of hypotheses scored after it, the mean number of unfinished hypotheses at its end, and the
    share of searches that reach the length limit.
    """
    ended = [s["ended"] for s in searches]
    after = [len(s["live"]) - 1 - s["ended"] for s in searches]
    late = sum(sum(s["live"][s["ended"] : -1]) for s in searches)
    scored = sum(1 + sum(s["live"][:-1]) for s in searches)
    unfinished = [s["live"][s["ended"]] for s in searches]
    limit = sum(len(s["live"]) > s["limit"] for s in searches)
    return (
        fmean(ended),
        fmean(after),
        100 * late / scored,
        fmean(unfinished),
        100 * limit / len(searches),
    )


def _example(searches: Searches) -> dict[str, Any]:
    """Choose the shortest search that has many unfinished hypotheses to show."""
    return min(searches, key=lambda s: (-len(s["beam"]), s["limit"], s["sentence"]))


def _beam_table(search: dict[str, Any]) -> Table:
    rows: list[list[Value]] = [
        [
            "finished" if shown["finished"] else "unfinished",
            shown["tokens"],
            shown["log_prob"],
            _short(shown["text"]),
        ]
        for shown in search["beam"]
    ]
    columns = ["state", "tokens", "log-probability", "output"]
    return Table("garbage-beam", "A beam without pruning", columns, rows, 1)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else "… " + text[2 - LONGEST :].lstrip()


def _quoted(phrases: Sequence[str]) -> str:
    return ", ".join(f"“{phrase}”" for phrase in phrases) or "no constraints"


def _title(threshold: float) -> str:
    return f"{threshold:g}" if threshold else "none"


def _draw(found: dict[float, Searches], axes: Any) -> None:
    xs = range(-BEFORE, AFTER + 1)
    lines = []
    for style, (threshold, searches) in enumerate(found.items()):
        name = f"threshold {threshold:g}" if threshold else "no pruning"
        lines.append(Line(name, xs, [_mean_live(searches, x) for x in xs], style))
    draw_lines(axes, lines, "steps after the best output has ended", "unfinished hypotheses (mean)")
    for line in axes.get_lines():
        line.set_marker("")
    axes.axvline(0, color="#999999", linewidth=0.8)
    axes.get_legend().remove()
    axes.legend(loc="upper right")


def _mean_live(searches: Searches, step: int) -> float:
    """Return the mean of unfinished hypotheses so many steps after the best output's end."""
    live = [
        s["live"][s["ended"] + step] for s in searches if 0 <= s["ended"] + step < len(s["live"])
    ]
    there = sum(s["ended"] + step >= 0 for s in searches)
    return float(sum(live) / max(there, 1))

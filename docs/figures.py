"""Draw the pictures of docs/algorithm.md: ``python docs/figures.py [FOLDER]``.

All of them show real searches of the model that comes with lexbeam, as the tracing recorder has
recorded them; nothing is drawn by hand. Run it again when the model or the search has changed. The
same search gives the same bytes. Needs matplotlib (extra ``study``).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

from drawing import (
    EDGE,
    FAINT,
    INK,
    MOVED,
    PATH,
    Point,
    bank_colour,
    draw_box,
    draw_link,
    draw_token,
    set_limits,
    write_text,
)
from lexbeam.study.report.blocks import Figure
from lexbeam.study.report.figures import render
from lexbeam.translation.tracing.collect import Candidate, Step
from recorded_search import RecordedDraft, RecordedSearch

SHORT = ("Enter the password.", ["Passwort", {"text": "bitte", "case": "exact"}])
LONG = (
    "Enter the password and click the button.",
    ["Passwort", {"text": "anschließend", "case": "exact"}, "Schaltfläche", "Geben Sie"],
)
BEAM = 5
WORDS = ("#B3392F", "#3B6FB5", "#6F9F7A", "#8A6FB0")
"""The colours of the words of the long one."""


_SQUARE = {"marker": "s", "markersize": 5.5, "markeredgewidth": 1.1, "zorder": 4}
SLOTS: dict[str, dict[str, Any]] = {
    "kept": {**_SQUARE, "color": INK},
    "received": {**_SQUARE, "color": MOVED},
    "given away": {**_SQUARE, "markerfacecolor": "none", "markeredgecolor": FAINT},
}
"""How a slot of a bank is drawn."""


# The beam, from the first step to the last


def _points(recorded: RecordedSearch) -> tuple[list[dict[int, Point]], list[tuple[float, float]]]:
    """Return the point of each slot at each step, and the top and bottom of each bank."""
    steps = recorded.steps
    rows = [max(step.banks[bank].filled for step in steps) for bank in range(recorded.size + 1)]
    bands, top = [(0.0, 0.0)] * len(rows), 0.0
    for bank in range(recorded.size, -1, -1):
        bands[bank] = (top, top - rows[bank] - 0.25)
        top = bands[bank][1]
    points = []
    for number in range(len(steps)):
        filled = [0] * len(rows)
        points.append(dict[int, Point]())
        for slot, candidate in sorted(recorded.standing(number).items()):
            y = bands[candidate.bank][0] - 0.625 - filled[candidate.bank]
            points[-1][slot] = Point(1.3 * number, y)
            filled[candidate.bank] += 1
    return points, bands


def draw_beam(axes: Any, recorded: RecordedSearch) -> None:
    """Draw the beam: one column per step, one band per bank, and the path of the output."""
    points, bands = _points(recorded)
    path = recorded.search.path
    last = 1.3 * (len(points) - 1)
    for bank, (top, bottom) in enumerate(bands):
        shade = {"facecolor": bank_colour(bank, recorded.size), "alpha": 0.45, "zorder": 0}
        axes.fill_between((-0.75, last + 0.75), bottom, top, linewidth=0, **shade)
        axes.plot((-0.75, last + 0.75), (top, top), color="white", linewidth=2, zorder=0)
        write_text(axes, Point(-0.9, (top + bottom) / 2), f"bank {bank}", ha="right", weight="bold")
    for number, slots in enumerate(points):
        write_text(axes, Point(1.3 * number, 0.45), str(number + 1), color=FAINT)
        for slot, candidate in recorded.standing(number).items():
            won = number < len(path) and path[number] == slot
            if number:
                came = points[number - 1][candidate.parent]
                way = {"edgecolor": PATH, "linewidth": 2.2, "zorder": 2} if won else {}
                draw_link(
                    axes,
                    Point(came.x + 0.56, came.y),
                    slots[slot]._replace(x=slots[slot].x - 0.56),
                    **way,
                )
            look = {"edgecolor": PATH, "linewidth": 1.8} if won else {}
            if "constraint" in candidate.origins:
                look["facecolor"] = bank_colour(candidate.bank, recorded.size)
            draw_token(axes, slots[slot], recorded.written[candidate.token], 1.12, **look)
    write_text(axes, Point(-0.9, 0.45), "step", color=FAINT, ha="right")
    set_limits(axes, -2.0, last + 0.8, bands[0][1] - 0.1, 0.8)


# One step


ORIGINS = (("best", "k best", 5.0), ("constraint", "constraint", 6.0), ("row", "row best", 7.0))
LEFT, MIDDLE, RIGHT = 0.0, 2.75, 9.35
"""Where the three columns of the picture of a step begin."""


def draw_step(axes: Any, recorded: RecordedSearch) -> None:
    """Draw one step: the beam before, all candidates by bank, the beam after."""
    number = recorded.telling_step()
    step = recorded.steps[number]
    y, points = 0.0, dict[int, Point]()
    for bank in range(recorded.size, -1, -1):
        inside = [i for i, c in enumerate(step.candidates) if c.bank == bank]
        height = max(0.62 * len(inside) + 0.3, 1.15)
        _band(axes, recorded, step, bank, y, y - height)
        for row, i in enumerate(inside):
            points[i] = Point(MIDDLE, y - 0.46 - 0.62 * row)
            _candidate(axes, recorded, number, step.candidates[i], points[i])
        y -= height
    write_text(axes, Point(LEFT, 1.0), f"before step {number + 1}", ha="left", weight="bold")
    write_text(axes, Point(MIDDLE, 1.0), "candidates", ha="left", weight="bold")
    write_text(axes, Point(RIGHT, 1.0), "after it", ha="left", weight="bold")
    for _, name, x in ORIGINS:
        write_text(axes, Point(x, 0.35), name, 8, color=FAINT)
    write_text(axes, Point(7.75, 0.35), "slots", 8, color=FAINT, ha="left")
    _beams(axes, recorded, number, points, y)
    set_limits(axes, LEFT - 0.05, RIGHT + 2.5, y - 0.1, 1.3)


def _band(
    axes: Any, recorded: RecordedSearch, step: Step, bank: int, top: float, bottom: float
) -> None:
    """Draw the ground of a bank and its slots: kept, given away, received."""
    shade = {"facecolor": bank_colour(bank, recorded.size), "alpha": 0.5, "zorder": 0}
    axes.fill_between((MIDDLE - 0.15, 8.85), bottom, top, linewidth=0, **shade)
    axes.plot((MIDDLE - 0.15, 8.85), (top, top), color="white", linewidth=2, zorder=0)
    middle = (top + bottom) / 2
    if not step.banks[bank].candidates:
        write_text(axes, Point(MIDDLE, middle), "none", 9, color=FAINT, ha="left")
    write_text(axes, Point(7.75, middle + 0.24), f"bank {bank}", 8.5, weight="bold", ha="left")
    _squares(axes, step, bank, Point(7.83, middle - 0.24), 0.26)


def _squares(axes: Any, step: Step, bank: int, at: Point, apart: float) -> None:
    """Draw the slots of a bank in a row: kept, received (blue), given away (hollow)."""
    own = step.banks[bank].given or 0
    away = sum(many for giver, _, many in step.moves if giver == bank)
    come = sum(many for _, taker, many in step.moves if taker == bank)
    slots = ["kept"] * (own - away) + ["received"] * come + ["given away"] * away
    for i, name in enumerate(slots):
        axes.plot(at.x + apart * i, at.y, **SLOTS[name])


def _candidate(
    axes: Any, recorded: RecordedSearch, number: int, candidate: Candidate, at: Point
) -> None:
    before = recorded.text(number - 1, candidate.parent)
    text = f"{before} ▸ {recorded.written[candidate.token]}"
    had = recorded.standing(number - 1)[candidate.parent].bank if number else 0
    text += "  ↺" if candidate.bank < had else ""
    chosen = candidate.slot is not None
    write_text(axes, at, text, 9, ha="left", color=INK if chosen else FAINT)
    for origin, _, x in ORIGINS:
        if origin in candidate.origins:
            axes.plot(x, at.y, "o", color=INK if chosen else EDGE, markersize=4.5)


def _beams(
    axes: Any, recorded: RecordedSearch, number: int, points: dict[int, Point], bottom: float
) -> None:
    """Draw the beams on both sides, and lines to the chosen candidates and from them."""
    path = recorded.search.path
    gap = -bottom / BEAM
    before = recorded.standing(number - 1) if number else {}
    left = {slot: Point(LEFT, -gap * (slot + 0.5)) for slot in before}
    for slot, at in left.items():
        _hypothesis(axes, recorded, number - 1, slot, at, 1.9)
    for slot, candidate in recorded.standing(number).items():
        at = Point(RIGHT, -gap * (slot + 0.5))
        _hypothesis(axes, recorded, number, slot, at, 2.4)
        i = recorded.steps[number].candidates.index(candidate)
        way = {"edgecolor": PATH, "linewidth": 2.0} if path[number : number + 1] == (slot,) else {}
        if candidate.parent in left:
            came = left[candidate.parent]
            draw_link(
                axes, Point(came.x + 1.9, came.y), Point(points[i].x - 0.08, points[i].y), **way
            )
        draw_link(axes, Point(8.85, points[i].y), at, **way)


def _hypothesis(
    axes: Any, recorded: RecordedSearch, step: int, slot: int, at: Point, width: float
) -> None:
    bank = recorded.standing(step)[slot].bank
    won = recorded.search.path[step : step + 1] == (slot,)
    look: dict[str, Any] = {"edgecolor": PATH, "linewidth": 1.8} if won else {}
    centre = Point(at.x + width / 2, at.y)
    draw_box(axes, centre, width, 0.72, facecolor=bank_colour(bank, recorded.size), **look)
    write_text(axes, Point(at.x + 0.15, at.y), recorded.text(step, slot), 9, ha="left")
    write_text(axes, Point(at.x + width - 0.15, at.y), str(bank), 9, ha="right", weight="bold")


# Slots, step by step

MOST_STEPS = 6
"""After these the division of the beam hardly changes any more."""


def draw_slots(axes: Any, recorded: RecordedSearch) -> None:
    """Draw the slots of each bank in the first steps, and where they came from."""
    steps = recorded.steps[:MOST_STEPS]
    wide = 2.0
    for bank in range(recorded.size + 1):
        shade = {"facecolor": bank_colour(bank, recorded.size), "alpha": 0.5, "zorder": 0}
        ground = (-0.9, wide * len(steps) - 0.9)
        axes.fill_between(ground, bank - 0.47, bank + 0.47, linewidth=0, **shade)
        write_text(axes, Point(-1.05, bank), f"bank {bank}", ha="right", weight="bold")
    for number, step in enumerate(steps):
        left = wide * number
        write_text(axes, Point(left - 0.3, recorded.size + 0.75), str(number + 1), color=FAINT)
        for bank in range(recorded.size + 1):
            _squares(axes, step, bank, Point(left - 0.7, bank), 0.18)
        for i, (giver, taker, many) in enumerate(step.moves):
            x = left + 0.72 + 0.17 * i
            look = {"arrowstyle": "-|>,head_width=0.2,head_length=0.35", "color": MOVED}
            arrow = {**look, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.0 + 0.3 * many}
            axes.annotate("", (x, taker), (x, giver), arrowprops=arrow, zorder=5)
    write_text(axes, Point(-1.05, recorded.size + 0.75), "step", color=FAINT, ha="right")
    _legend_of_slots(axes, Point(-0.75, -0.95), 2.2)
    set_limits(axes, -2.2, wide * len(steps) - 0.9, -1.25, recorded.size + 1.05)


def _legend_of_slots(axes: Any, at: Point, apart: float) -> None:
    for i, (name, look) in enumerate(SLOTS.items()):
        axes.plot(at.x + i * apart, at.y, **look)
        write_text(axes, Point(at.x + i * apart + 0.2, at.y), name, 9, ha="left")


# Progress and unwinding


def _stairs(recorded: RecordedSearch) -> list[list[Candidate]]:
    """Return the output and, if there is one, a hypothesis that breaks a phrase off."""
    end = recorded.search.ended
    ways = [recorded.way_to(end, recorded.standing(end)[recorded.search.path[end]])]
    if broken := recorded.unwound():
        ways.append(recorded.way_to(*broken))
    return ways


def draw_unwinding(axes: Any, recorded: RecordedSearch) -> None:
    """Draw two hypotheses as stairs: each token as high as its bank."""
    ways = _stairs(recorded)
    left = 0.0
    for way in ways:
        for bank in range(recorded.size + 1):
            right = left + 1.3 * len(way) - 0.1
            shade = {"facecolor": bank_colour(bank, recorded.size), "alpha": 0.5, "zorder": 0}
            axes.fill_between((left - 0.1, right), bank - 0.46, bank + 0.46, linewidth=0, **shade)
        points = [Point(left + 0.55 + 1.3 * i, one.bank) for i, one in enumerate(way)]
        for a, b in pairwise(points):
            falls = b.y < a.y
            line = {"edgecolor": "#B3392F" if falls else FAINT, "linewidth": 1.8 if falls else 1.2}
            draw_link(axes, a, b, **line)
        for at, one in zip(points, way, strict=True):
            look = {"facecolor": bank_colour(one.bank, recorded.size)} if one.bank else {}
            draw_token(axes, at, recorded.written[one.token], 1.12, **look)
        left += 1.3 * len(way) + 0.5
    for bank in range(recorded.size + 1):
        write_text(axes, Point(-0.25, bank), f"bank {bank}", ha="right", weight="bold")
    set_limits(axes, -1.5, left - 0.5, -0.55, recorded.size + 0.55)


# Looking ahead


def draw_expected_cost(axes: Any, drafted: RecordedDraft) -> None:
    """Draw what each word would cost at the places of the draft, and what it is expected to."""
    places = range(1, len(drafted.tokens) + 1)
    for number, (word, colour) in enumerate(zip(drafted.words, WORDS, strict=True)):
        dots = {"s": 22, "color": colour, "edgecolor": INK, "linewidth": 0.5, "zorder": 3}
        axes.scatter(places, drafted.log_prob[:, number], **dots)
        axes.plot(places, drafted.prices[:, number], color=colour, linewidth=2.2, label=word)
    axes.set_xticks(list(places), drafted.tokens, rotation=45, ha="right", fontsize=9)
    axes.set_ylabel("log-probability")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize=9)


def draw_shares(axes: Any, both: Sequence[RecordedSearch]) -> None:
    """Draw the slots of each bank at each step, under two allocation policies."""
    axes.axis("off")
    longest = max(len(each.steps) for each in both)
    for i, recorded in enumerate(both):
        panel = axes.inset_axes((0.0, 0.54 - 0.54 * i, 1.0, 0.40))
        steps = recorded.steps
        way = [
            recorded.standing(n)[slot].bank
            for n, slot in enumerate(recorded.search.path[: len(steps)])
        ]
        for number, step in enumerate(steps):
            for bank, one in enumerate(step.banks):
                if one.filled:
                    ours = number < len(way) and way[number] == bank
                    style = {"edgecolor": PATH, "linewidth": 2.2} if ours else {}
                    colour = bank_colour(one.filled, BEAM)
                    draw_box(panel, Point(number + 1, bank), 0.86, 0.82, facecolor=colour, **style)
                    write_text(panel, Point(number + 1, bank), str(one.filled), 8.5)
        title = f"{recorded.search.settings.algorithm}:  {recorded.output}"
        panel.set_title(fill(title, 6 * longest), fontsize=10, loc="left").set_in_layout(False)
        panel.set_xlim(0.4, longest + 0.6)
        panel.set_ylim(-0.6, recorded.size + 0.6)
        panel.set_xticks(range(1, longest + 1))
        panel.set_yticks(range(recorded.size + 1))
        panel.set_ylabel("bank")
        panel.grid(visible=False)
        panel.set_xlabel("step" if i else "")


def pictures() -> list[Figure]:
    """Search, and return the figures."""
    short = RecordedSearch.record(*SHORT, "dba", BEAM)
    long = [RecordedSearch.record(*LONG, algorithm, BEAM) for algorithm in ("dba", "lookahead")]
    drafted = RecordedDraft.record(*LONG)
    wider = RecordedSearch.record(*SHORT, "dba", 2 * BEAM)
    wide = 0.55 + 0.86 * len(short.steps)
    rows = sum(max(s.banks[b].filled for s in short.steps) for b in range(short.size + 1))
    longest = max(len(each.steps) for each in long)
    pieces = sum(map(len, _stairs(short)))
    step = short.steps[short.telling_step()]
    return [
        Figure("beam", "", partial(draw_beam, recorded=short), (wide, 0.30 * rows + 1.0)),
        Figure(
            "step", "", partial(draw_step, recorded=short), (7.5, 0.22 * len(step.candidates) + 1)
        ),
        Figure("slots", "", partial(draw_slots, recorded=wider), (7.6, 2.8)),
        Figure(
            "unwinding", "", partial(draw_unwinding, recorded=short), (0.66 * pieces + 0.9, 2.2)
        ),
        Figure("expected-cost", "", partial(draw_expected_cost, drafted=drafted), (6.4, 4.0)),
        Figure("shares", "", partial(draw_shares, both=long), (0.4 * longest + 0.8, 5.4)),
    ]


def main(folder: Path) -> None:
    """Write every picture as SVG and as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in pictures():
        for kind, content in render(figure).items():
            (folder / f"{figure.name}.{kind}").write_bytes(content)


if __name__ == "__main__":
    main(Path(*sys.argv[1:]) if sys.argv[1:] else Path(__file__).parent / "figures")

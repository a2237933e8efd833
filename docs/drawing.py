"""Boxes, texts and lines for the pictures of docs/algorithm.md."""

from __future__ import annotations

from typing import Any, NamedTuple

INK, FAINT, EDGE = "#24292E", "#7C838C", "#BCC2C9"
PATH, MOVED = "#D98E04", "#2F6FB3"
PALE, DEEP = (244, 246, 244), (112, 181, 126)
"""The colours of the lowest and the highest bank."""


class Point(NamedTuple):
    """A point of a picture."""

    x: float
    y: float


def bank_colour(bank: int, size: int) -> str:
    """Return the colour of a bank, of ``size`` + 1 banks."""
    share = bank / max(size, 1)
    parts = (round(a + (b - a) * share) for a, b in zip(PALE, DEEP, strict=True))
    return "#" + "".join(f"{part:02X}" for part in parts)


def draw_box(axes: Any, at: Point, width: float, height: float, **style: Any) -> None:
    """Draw a box with round corners around a point."""
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415  (an extra)

    round_off = "round,pad=0,rounding_size=0.09"
    look = {"facecolor": "white", "edgecolor": EDGE, "linewidth": 0.9, "zorder": 3, **style}
    corner = (at.x - width / 2, at.y - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=round_off, **look))


def write_text(axes: Any, at: Point, text: str, size: float = 9.5, **style: Any) -> None:
    """Write a text at a point."""
    look = {"ha": "center", "va": "center", "color": INK, "zorder": 4, **style}
    axes.text(at.x, at.y, text, fontsize=size, **look)


def draw_token(axes: Any, at: Point, text: str, width: float, **style: Any) -> None:
    """Draw a token in a box, small enough to fit."""
    draw_box(axes, at, width, 0.68, **style)
    write_text(axes, at, text, min(9.5, 9.5 * 8.2 * width / max(len(text), 1)))


def set_limits(axes: Any, left: float, right: float, bottom: float, top: float) -> None:
    """Set what is shown, without ticks and frame."""
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.axis("off")


def draw_link(axes: Any, start: Point, end: Point, **style: Any) -> None:
    """Draw a line that leaves and arrives level."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path as Line  # noqa: PLC0415

    middle = (start.x + end.x) / 2
    line = Line([start, (middle, start.y), (middle, end.y), end], [1, 4, 4, 4])
    look = {"edgecolor": EDGE, "linewidth": 1.0, "zorder": 1, **style}
    axes.add_patch(PathPatch(line, facecolor="none", **look))

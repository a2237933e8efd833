"""Drawing figures: the same numbers always give the same bytes, as SVG and as PNG."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lexbeam.errors import MissingExtraError
from lexbeam.study.report.blocks import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Colours that colour-blind readers can tell apart (Okabe and Ito)."""
MARKERS = "osD^vPX*"
DASHES = ("-", "--", ":", "-.")

_STYLE: Any = {
    "svg.hashsalt": "lexbeam",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.facecolor": "white",
}


@dataclass(frozen=True)
class Line:
    """Points joined by a line. ``style`` sets colour and marker, ``dash`` the kind of line."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    style: int = 0
    dash: int = 0


def render(figure: Figure) -> dict[str, bytes]:
    """Return the file contents of a figure, by file ending."""
    try:
        import matplotlib as mpl  # noqa: PLC0415
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
        from matplotlib.figure import Figure as Canvas  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("drawing figures", "study") from error
    pictures = {}
    with mpl.rc_context():
        mpl.rcdefaults()  # without the settings that the user has for other figures
        mpl.rcParams.update(_STYLE)
        canvas = Canvas(figsize=figure.size, layout="constrained")
        FigureCanvasAgg(canvas)
        figure.draw(canvas.add_subplot())
        for kind, silent in (("svg", ("Date", "Creator")), ("png", ("Software",))):
            file = io.BytesIO()
            canvas.savefig(file, format=kind, dpi=160, metadata=dict.fromkeys(silent))
            pictures[kind] = file.getvalue()
    return pictures


def draw_lines(
    axes: Any,
    lines: Sequence[Line],
    x: str,
    y: str,
    level: tuple[str, float] | None = None,
) -> None:
    """Draw lines with markers. ``level`` is the name and height of a dashed line across."""
    for line in lines:
        axes.plot(
            line.xs,
            line.ys,
            label=line.name,
            color=COLOURS[line.style % len(COLOURS)],
            marker=MARKERS[line.style % len(MARKERS)],
            linestyle=DASHES[line.dash % len(DASHES)],
            markersize=4.5,
            linewidth=1.4,
        )
    if level:
        axes.axhline(level[1], color="#555555", linestyle=(0, (4, 3)), linewidth=1, label=level[0])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    put_legend_outside(axes)


def put_legend_outside(axes: Any) -> None:
    """Put the legend beside the plot, where it hides nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), handlelength=2.6)

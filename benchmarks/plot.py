"""Draw what the benchmarks printed: ``python benchmarks/plot.py``.

Figures are kept as they were printed, in ``benchmarks/results``:

    python benchmarks/step.py > benchmarks/results/step.txt
    python benchmarks/step.py --sweep > benchmarks/results/sweep.txt
    python benchmarks/engine.py … > benchmarks/results/engine.txt

From these files the pictures of docs/performance.md are drawn, and its tables filled in: a table
there is the block below a comment that names the file. Needs matplotlib (extra ``study``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

from lexbeam.study.report.blocks import Figure
from lexbeam.study.report.figures import COLOURS, Line, draw_lines, put_legend_outside, render

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"

Points = dict[int, float]
"""Milliseconds by number of constraints."""


def read_step(text: str) -> dict[tuple[int, int], Points]:
    """Return the milliseconds per step of a table of step.py, by batch and beam."""
    counts = [int(count) for count in re.findall(r"C = (\d+)", _head(text, "batch"))]
    found = {}
    for line in re.findall(r"^ *\d+ +\d+ +\d.*$", text, re.MULTILINE):
        batch, beam, *times = line.split()
        found[int(batch), int(beam)] = dict(zip(counts, map(float, times), strict=False))
    return found


def read_engine(text: str) -> dict[tuple[str, int, int], Points]:
    """Return the milliseconds per sentence of a table of engine.py, by engine, beam and batch."""
    found: dict[tuple[str, int, int], Points] = defaultdict(dict)
    row = r"^([a-z_0-9]+) +(\d+) +(\d+) +(\d+) +([\d.]+)"
    for name, beam, batch, count, each in re.findall(row, text, re.MULTILINE):
        found[name, int(beam), int(batch)][int(count)] = float(each)
    return found


def _head(text: str, first: str) -> str:
    return next(line for line in text.splitlines() if line.lstrip().startswith(first))


def draw_step(axes: Any, text: str) -> None:
    """Draw what the search takes per step, by number of constraint tokens."""
    table = read_step(text)
    batches = sorted({batch for batch, _ in table})
    beams = sorted({beam for _, beam in table})
    lines = [
        Line(
            f"batch {batch}, k = {beam}",
            list(points),
            list(points.values()),
            batches.index(batch),
            beams.index(beam),
        )
        for (batch, beam), points in table.items()
    ]
    draw_lines(axes, lines, "constraint tokens", "ms per step, search alone")
    axes.set_ylim(bottom=0)


def read_sweep(text: str) -> dict[str, Points]:
    """Return the milliseconds per step by what grows, and by how much there is of it."""
    row = r"^ *(\w+)((?: +\d+)+)\n +ms((?: +[\d.]+)+)$"
    return {
        name: dict(zip(map(int, values.split()), map(float, times.split()), strict=True))
        for name, values, times in re.findall(row, text, re.MULTILINE)
    }


def draw_sweep(axes: Any, text: str) -> None:
    """Draw what the search takes per step as constraint tokens, beam or batch grow."""
    names = {"C": "constraint tokens", "k": "beam size", "batch": "sentences"}
    lines = [
        Line(names[name], list(points), list(points.values()), index, index)
        for index, (name, points) in enumerate(read_sweep(text).items())
    ]
    draw_lines(axes, lines, "how many there are of what grows", "ms per step, search alone")
    axes.set_ylim(bottom=0)


def draw_engine(axes: Any, text: str) -> None:
    """Draw what a sentence takes, by number of constraints.

    Other engines have no constraints and are drawn as horizontal lines.
    """
    table = read_engine(text)
    batches = sorted({batch for _, _, batch in table})
    widest = max(beam for name, beam, _ in table if name == "lexbeam")
    table = {key: points for key, points in table.items() if key[1] == widest}
    beams = [widest]
    lines = [
        Line(
            _named(key, beams),
            list(points),
            list(points.values()),
            batches.index(key[2]),
            beams.index(key[1]),
        )
        for key, points in table.items()
        if key[0] == "lexbeam"
    ]
    draw_lines(axes, lines, "constraints (the native engine has none)", "ms per sentence")
    for key, points in table.items():
        if key[0] != "lexbeam":
            colour = COLOURS[batches.index(key[2])]
            dots = {"color": colour, "linestyle": (0, (1, 1.5)), "linewidth": 1.2}
            axes.axhline(points[0], label=_named(key, beams), **dots)
    axes.set_ylim(bottom=0)
    put_legend_outside(axes)


def _named(key: tuple[str, int, int], beams: list[int]) -> str:
    name, beam, batch = key
    return f"{name}, batch {batch}" + (f", k = {beam}" if len(beams) > 1 else "")


def fill_in(page: str, results: dict[str, str]) -> str:
    """Return a page with what was printed below each comment that names it."""
    for name, text in results.items():
        mark = f"<!-- {name} -->\n```\n"
        before, found, after = page.partition(mark)
        if found:
            page = f"{before}{mark}{text.strip()}\n```{after.split('```', 1)[1]}"
    return page


def main() -> None:
    """Draw the pictures and fill in the page."""
    results = {path.name: path.read_text(encoding="utf-8") for path in RESULTS.glob("*.txt")}
    draws = {
        "step.txt": ("cost-of-search", draw_step),
        "sweep.txt": ("growth-of-search", draw_sweep),
        "engine.txt": ("engines", draw_engine),
    }
    for source, (name, draw) in draws.items():
        figure = Figure(name, "", partial(draw, text=results[source]), (6.8, 3.6))
        for kind, content in render(figure).items():
            (ROOT / "docs" / "figures" / f"{name}.{kind}").write_bytes(content)
    PAGE.write_text(fill_in(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()

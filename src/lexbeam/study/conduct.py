"""A study from beginning to end: read, measure what has not been, write up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexbeam.constraints.phrases import unusable
from lexbeam.errors import InputError, SettingError
from lexbeam.study.bench import Bench, Progress, TestSet
from lexbeam.study.parts.appendix import Appendix
from lexbeam.study.parts.aversion import Aversion
from lexbeam.study.parts.beams import Beams, Oracle
from lexbeam.study.parts.constraint_sets import ConstraintSets
from lexbeam.study.parts.garbage import Garbage
from lexbeam.study.parts.keeping import show_met
from lexbeam.study.parts.placement import Placement
from lexbeam.study.parts.speed import Speed
from lexbeam.study.parts.stopping import Pruning, Stopping
from lexbeam.study.parts.summary import model_name, show_set_up, show_summary
from lexbeam.study.plan import Part, Plan
from lexbeam.study.report import write_report

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        ConstraintSets(),
        Beams(),
        Oracle(),
        Speed(),
        Pruning(),
        Stopping(),
        Placement(),
        Aversion(),
        Garbage(),
        Appendix(),
    )
}


def read_text(source: Path, reference: Path, limit: int | None) -> TestSet:
    """Read a test set: two files, a sentence a line."""
    sources, references = (_lines(path) for path in (source, reference))
    if len(sources) != len(references):
        raise InputError(
            f"{source} has {len(sources)} lines, {reference} has {len(references)}: "
            "each line needs its translation"
        )
    sources, references = sources[:limit], references[:limit]
    for number, pair in enumerate(zip(sources, references, strict=True), 1):
        for path, line in zip((source, reference), pair, strict=True):
            fault = "nothing in it" if not line.strip() else unusable(line)
            if fault:
                raise InputError(f"{path}: line {number} has {fault}: drop the pair")
    if not sources:
        raise InputError(f"{source} is empty: a study needs sentences")
    return TestSet(sources, references)


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # line ends of all systems become one
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    # Not splitlines: it takes rarer characters, which a sentence may hold, for line ends too.
    return text.removesuffix("\n").split("\n") if text else []


def choose_parts(names: Sequence[str] | None) -> list[Part]:
    """Return the parts that are asked for; all if none are named."""
    for name in names or ():
        if name not in PARTS:
            raise SettingError(f"unknown part {name!r} of a study: there are {', '.join(PARTS)}")
    return [part for name, part in PARTS.items() if not names or name in names]


def conduct(bench: Bench, plan: Plan, parts: Sequence[Part], out: Path, progress: Progress) -> Path:
    """Measure what the parts need and write the report.

    Parts that were not asked for are in it too if all they rest on has been measured before.
    """
    bench.measure((cell for part in parts for cell in part.cells(plan)), progress)
    ready = [
        part
        for part in PARTS.values()
        if part in parts or (part.cells(plan) and all(map(bench.has, part.cells(plan))))
    ]
    cells = [cell for part in ready for cell in part.cells(plan)]
    sections = [show_set_up(plan, bench), *show_summary(plan, bench)]
    sections += [part.show(plan, bench) for part in ready]
    sections.append(show_met(bench, cells))
    title = f"What constraints do to {model_name(bench)}"
    write_report(out, "report", title, sections, ("tables", "figures"))
    for part in ready:
        if isinstance(part, Speed):
            times = [part.times(plan, bench)]
            write_report(out, "times", f"{title}: seconds", times, ("times", "times"))
    return out / "report.html"

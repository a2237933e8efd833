"""A whole study: measure what has not been measured, and write the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexbeam.errors import SettingError
from lexbeam.study.experiment import Experiment, Progress
from lexbeam.study.parts.aversion import Aversion
from lexbeam.study.parts.beams import Beams, Oracle
from lexbeam.study.parts.constraint_sets import ConstraintSets
from lexbeam.study.parts.constraints_met import show_constraints_met
from lexbeam.study.parts.dictionary_constraints import DictionaryConstraints
from lexbeam.study.parts.garbage import Garbage
from lexbeam.study.parts.placement import Placement
from lexbeam.study.parts.speed import Speed
from lexbeam.study.parts.stopping import Pruning, Stopping
from lexbeam.study.parts.summary import model_name, show_set_up, show_summary
from lexbeam.study.parts.terms import Terms
from lexbeam.study.plan import Part, Plan
from lexbeam.study.report.writing import write_report

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
        DictionaryConstraints(),
        Terms(),
    )
}
"""The parts of a study by name, in the order of the report."""


def choose_parts(names: Sequence[str] | None, skipped: Sequence[str] = ()) -> list[Part]:
    """Return the parts that are asked for, or all if none are named, without the skipped ones."""
    for name in (*(names or ()), *skipped):
        if name not in PARTS:
            raise SettingError(f"unknown part {name!r} of a study: there are {', '.join(PARTS)}")
    wanted = [name for name in PARTS if not names or name in names]
    return [PARTS[name] for name in wanted if name not in skipped]


def measure_and_report(
    experiment: Experiment, plan: Plan, parts: Sequence[Part], out: Path, progress: Progress
) -> Path:
    """Measure what the parts need, write the report and return the path of its page.

    Parts that were not asked for are in the report too if all their cells were measured before.
    """
    parts = [part for part in parts if plan.terms or not isinstance(part, Terms)]
    experiment.measure((cell for part in parts for cell in part.cells(plan)), progress)
    ready = [
        part
        for part in PARTS.values()
        if part in parts or (part.cells(plan) and all(map(experiment.has, part.cells(plan))))
    ]
    cells = [cell for part in ready for cell in part.cells(plan)]
    sections = [show_set_up(plan, experiment), *show_summary(plan, experiment)]
    sections += [part.show(plan, experiment) for part in ready]
    sections += show_constraints_met(experiment, cells)
    title = f"What constraints do to {model_name(experiment)}"
    write_report(out, "report", title, sections, ("tables", "figures"))
    timed = [part for part in ready if isinstance(part, Speed | Terms)]
    if timed:
        times = [part.show_times(plan, experiment) for part in timed]
        write_report(out, "times", f"{title}: seconds", times, ("times", "times"))
    return out / "report.html"

"""The paper's experiments with any model and test set (extra ``study``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexbeam.errors import InputError, MissingExtraError, SettingError
from lexbeam.search.settings import at_least

if TYPE_CHECKING:
    from lexbeam.study.plan import Plan as _Plan

__all__ = ["run"]


def run(
    model: str | Path | None,
    source: str | Path,
    reference: str | Path,
    out: str | Path,
    *,
    only: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[str, float, float], None] | None = None,
    **plan: Any,
) -> Path:
    """Measure what constraints do to a model, and write a report.

    Every measurement is kept in ``out`` at once. A study that was killed goes on where it was,
    and only what a change of model, text or settings touches is measured again.

    Args:
        model: as `lexbeam.load` takes it.
        source: a text with one sentence per line.
        reference: its translation, line by line.
        out: a folder for the report. It is made if it does not exist.
        only: names of the parts to measure. Default: all.
        skip: names of parts to leave out.
        limit: use only so many sentences.
        seed: another seed chooses other constraints.
        threads: cores that one search may use.
        progress: called with what is being measured, the work done and the work in all.
        plan: fields of `lexbeam.study.plan.Plan`: algorithms, beams, lag and others.

    Returns:
        The path of the report's web page. The same report in Markdown is beside it.

    Raises:
        InputError: the text or a setting can't be used; nothing has been measured yet.
        MissingExtraError: a library of the extra ``study`` is not installed.
    """
    for module in ("matplotlib", "sacrebleu", "thot"):
        if find_spec(module) is None:
            raise MissingExtraError("a study", "study")
    # Imported here, so that constraint sets can be made without the extra.
    from lexbeam.study.experiment import Experiment  # noqa: PLC0415
    from lexbeam.study.pipeline import choose_parts, measure_and_report  # noqa: PLC0415
    from lexbeam.study.test_set import read_test_set  # noqa: PLC0415

    parts = choose_parts(only, skip)
    if limit is not None:
        at_least(1, "limit", limit)
    checked_plan = _check_plan(plan)
    text = read_test_set(Path(source), Path(reference), limit)
    _check_terms(checked_plan.terms, text.sources, only, partly=limit is not None)
    _make_folder(Path(out))
    experiment = Experiment.open(model, text, Path(out), seed, threads)
    progress = progress or (lambda *_: None)
    return measure_and_report(experiment, checked_plan, parts, Path(out), progress)


def _check_plan(settings: dict[str, Any]) -> _Plan:
    """Return a plan whose files can be read: a fault is better known now than in an hour."""
    from lexbeam.study.dictionaries import read_rows  # noqa: PLC0415
    from lexbeam.study.plan import Plan  # noqa: PLC0415

    unknown = settings.keys() - Plan.__dataclass_fields__.keys()
    if unknown:
        raise SettingError(f"unknown setting {', '.join(sorted(unknown))} of a study")
    plan = Plan(**settings)
    for path in filter(None, (plan.parallel, plan.entities)):
        read_rows(path)
    return plan


def _check_terms(
    path: Path | None, sources: Sequence[str], only: Sequence[str] | None, partly: bool
) -> None:
    """Refuse a file of terms that does not fit the text, or its part without one."""
    from lexbeam.study.competing_terms import read_competing_terms  # noqa: PLC0415

    if path is not None:
        read_competing_terms(path, sources, partly=partly)
    elif "terms" in (only or ()):
        raise SettingError("the part terms needs a file of terms: give it as terms=, or --terms")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be made a folder ({error.strerror})") from error

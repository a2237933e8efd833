"""The paper's experiments with any model and test set (extra ``study``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError, MissingExtraError, SettingError
from lexbeam.search.settings import at_least

__all__ = ["run"]


def run(
    model: str | Path | None,
    source: str | Path,
    reference: str | Path,
    out: str | Path,
    *,
    only: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[str, float, float], None] | None = None,
    **plan: Any,
) -> Path:
    """Study what constraints do to a model, and write a report.

    Every measurement is kept in ``out`` at once: a study that was killed goes on where it was,
    and only what a change of model, text or settings touches is measured anew.

    Args:
        model: as `lexbeam.load` takes it.
        source: a text, a sentence a line.
        reference: its translation, line by line.
        out: a folder for the report; made if it is not there.
        only: names of parts to measure; all unless given.
        limit: use only so many sentences.
        seed: chooses other constraints.
        threads: cores that one search may use.
        progress: is told what is being measured, how much is done and of how much.
        plan: fields of `lexbeam.study.plan.Plan`: algorithms, beams, lag and others.

    Returns:
        The report as a web page; the same as Markdown is beside it.

    Raises:
        InputError: the text or a setting can't be used; nothing has been measured yet.
        MissingExtraError: sacreBLEU or matplotlib is not installed.
    """
    for module in ("matplotlib", "sacrebleu", "thot"):
        if find_spec(module) is None:
            raise MissingExtraError("a study", "study")
    from lexbeam.study.bench import Bench  # noqa: PLC0415  (not needed for constraint sets)
    from lexbeam.study.conduct import choose_parts, conduct, read_text  # noqa: PLC0415
    from lexbeam.study.dictionaries import read_rows  # noqa: PLC0415
    from lexbeam.study.plan import Plan  # noqa: PLC0415

    parts = choose_parts(only)
    if limit is not None:
        at_least(1, "limit", limit)
    unknown = plan.keys() - Plan.__dataclass_fields__.keys()
    if unknown:
        raise SettingError(f"unknown setting {', '.join(sorted(unknown))} of a study")
    planned = Plan(**plan)
    text = read_text(Path(source), Path(reference), limit)
    for path in filter(None, (planned.parallel, planned.entities)):
        read_rows(path)  # what is wrong with it is better known now than in an hour
    _make_folder(Path(out))
    bench = Bench.open(model, text, Path(out), seed, threads)
    return conduct(bench, planned, parts, Path(out), progress or (lambda *_: None))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be made a folder ({error.strerror})") from error

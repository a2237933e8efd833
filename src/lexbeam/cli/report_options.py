"""The option by which a command writes a report on its constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from lexbeam.errors import InputError
from lexbeam.translation.reporting import SUFFIXES, Reporter, Row, Summary, write

Command = TypeVar("Command", bound=Callable[..., Any])


def report_option(command: Command) -> Command:
    """Let a command take the name of a report."""
    return click.option(
        "--report",
        metavar="HTML|TSV",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=_check,
        help="Write what became of each constraint, what it costs and what it replaced.",
    )(command)


def _check(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in SUFFIXES:
        raise click.BadParameter(f"the name of a report ends with .html or .tsv, not {path.name}")
    return path


def write_report(path: Path, reporter: Reporter) -> None:
    """Write the report on what was translated, and say so on standard error."""
    write_rows(path, reporter.finish(), reporter.summary)


def write_rows(path: Path, rows: Sequence[Row], summary: Summary) -> None:
    """Write a report, and say so on standard error."""
    try:
        write(path, rows, summary)
    except OSError as error:
        raise InputError(f"{path}: can't be written: {error.strerror or error}") from error
    met = sum(row.status == "met" for row in rows)
    click.echo(f"{met} of {len(rows)} constraints met; see {path}", err=True)

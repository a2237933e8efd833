"""The options by which a command takes constraints for all its texts, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from lexbeam.constraints.parsing import read_argument, read_list
from lexbeam.errors import quoted

Command = TypeVar("Command", bound=Callable[..., Any])


def constraint_options(constraint_help: str) -> Callable[[Command], Command]:
    """Let a command take ``-c``, which the help explains, ``--avoid`` and ``--avoid-file``."""
    options = [
        click.option(
            "-c",
            "--constraint",
            "constraints",
            multiple=True,
            metavar="PHRASE|JSON",
            help=constraint_help,
        ),
        click.option(
            "--avoid",
            multiple=True,
            metavar="PHRASE|JSON",
            help="Must not appear. Repeat for more.",
        ),
        click.option(
            "--avoid-file",
            "avoid_files",
            multiple=True,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="What must not appear, one per line.",
        ),
    ]

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def read_constraints(constraints: Iterable[str]) -> list[Any]:
    """Read what was given with ``-c``."""
    return [read_argument(each, f"-c {quoted(each)}") for each in constraints]


def read_avoided(avoid: Iterable[str], files: Iterable[Path]) -> list[Any]:
    """Read what was given with ``--avoid``, and the files of ``--avoid-file``."""
    avoided = [read_argument(each, f"--avoid {quoted(each)}") for each in avoid]
    return avoided + [phrase for path in files for phrase in read_list(path)]

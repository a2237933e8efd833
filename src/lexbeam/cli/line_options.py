"""The options of the commands that translate lines: ``translate`` and ``corpus``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from lexbeam.cli.constraint_options import constraint_options, read_avoided, read_constraints
from lexbeam.cli.glossary_options import glossary_options, load_glossary
from lexbeam.cli.model_options import model_option, threads_option
from lexbeam.cli.setting_options import setting_options
from lexbeam.translation.asked import Asked
from lexbeam.translation.settings import TextSettings

NAMES = ("-c", "--avoid")
"""What errors call what was asked for."""

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    model_option,
    constraint_options("Must appear, as whole words. Repeat for more."),
    click.option(
        "--prefix",
        metavar="TEXT",
        help="What the translation begins with; the last word is open unless a space follows it.",
    ),
    glossary_options,
    click.option(
        "--json", "as_json", is_flag=True, help="Read and write one JSON object per line."
    ),
    click.option(
        "--signature", is_flag=True, help="With --json: add which model and settings were used."
    ),
    click.option(
        "--tabs", is_flag=True, help="Lines are a text and its phrases, with tabs between."
    ),
    click.option(
        "--ordered", is_flag=True, help="With --tabs: the phrases must appear in that order."
    ),
    setting_options,
    threads_option,
)


def line_options(command: Command) -> Command:
    """Let a command take all that can be asked of lines; `read_asked` reads it."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_asked(options: dict[str, Any]) -> Asked:
    """Take what is asked of every line out of the options of a command.

    What is left are model, threads and how lines are written.
    """
    files: tuple[Path, ...] = options.pop("avoid_files")
    phrases = read_constraints(options.pop("constraints"))
    avoided = read_avoided(options.pop("avoid"), files)
    glossary = load_glossary(options)
    settings = {name: options.pop(name) for name in TextSettings.__dataclass_fields__}
    return Asked(
        constraints=tuple(phrases),
        avoid=tuple(avoided),
        prefix=options.pop("prefix"),
        glossary=glossary,
        keep=options.pop("keep"),
        settings=TextSettings(**settings),
    )


def check_line_format(as_json: bool, tabs: bool, ordered: bool) -> None:
    """Refuse ways to write lines that exclude each other."""
    if (as_json and tabs) or (ordered and not tabs):
        raise click.UsageError("--tabs and --json exclude each other; --ordered goes with --tabs")

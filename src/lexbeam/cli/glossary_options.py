"""The options by which a command takes glossaries, and what is to be kept of a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lexbeam.constraints.glossary.glossary import Glossary
from lexbeam.constraints.glossary.matching import CASES
from lexbeam.translation.keep import PATTERNS

_OPTIONS = (
    click.option(
        "--glossary",
        "glossaries",
        multiple=True,
        metavar="FILE",
        help="CSV, TSV or TBX file of terms. Repeat for more; later ones win.",
    ),
    click.option(
        "--glossary-lemmas",
        is_flag=True,
        help='Terms in any of their inflected forms (extra "glossary").',
    ),
    click.option(
        "--glossary-compounds",
        is_flag=True,
        help="Terms may be part of a compound; forbidden ones may not.",
    ),
    click.option(
        "--glossary-verbs",
        is_flag=True,
        help="German nouns also where the English word is a verb, which they are not by default.",
    ),
    click.option(
        "--glossary-case",
        type=click.Choice(CASES),
        default="smart",
        show_default=True,
        help="How the capitals of a source term count: smart lets lower case match any.",
    ),
    click.option(
        "--glossary-encoding",
        metavar="NAME",
        help="Encoding of tables that are not Unicode, e.g. cp1252.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="NAME|REGEX",
        help=f"What must survive unchanged: {', '.join(PATTERNS)}, or a regular expression. "
        "Repeat for more.",
    ),
)

Command = TypeVar("Command", bound=Callable[..., Any])


def glossary_options(command: Command) -> Command:
    """Let a command take glossaries and what is to be kept; `load_glossary` reads them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def load_glossary(options: dict[str, Any]) -> Glossary | None:
    """Take the glossary options out of those of a command; return the glossary that they name.

    What is wrong with it goes to standard error.
    """
    files = options.pop("glossaries")
    how = {
        name: options.pop(f"glossary_{name}")
        for name in ("lemmas", "compounds", "verbs", "case", "encoding")
    }
    if not files:
        return None
    loaded = Glossary.load(*files, **how)
    if loaded.problems:
        more = len(loaded.problems) - 1
        others = f" (and {more} more; see: lexbeam glossary check)" if more else ""
        click.echo(f"lexbeam: {loaded.problems[0]}{others}", err=True)
    return loaded

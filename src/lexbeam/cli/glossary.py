"""``lexbeam glossary``: what is wrong with a glossary, and what it finds in a text."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations

import click

from lexbeam.constraints.glossary.entries import Contents, Problem
from lexbeam.constraints.glossary.glossary import Glossary
from lexbeam.constraints.glossary.reading import read_file
from lexbeam.errors import InputError

_MOST_LANGUAGES = 4  # compared in all directions without being asked
_MOST_SHOWN = 20


@click.group("glossary")
def command() -> None:
    """Look into glossary files: CSV, TSV and TBX."""


@command.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--source", metavar="LANGUAGE", help="Compare entries from this language …")
@click.option("--target", metavar="LANGUAGE", help="… to this one.")
@click.option("--encoding", help="Encoding of tables that are not Unicode, e.g. cp1252.")
@click.option("--all", "show_all", is_flag=True, help="Show all notes, not only the first ones.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per problem.")
def check(
    files: tuple[str, ...],
    source: str | None,
    target: str | None,
    encoding: str | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Show what is wrong with glossaries.

    Errors are lines that can't be used, warnings entries that contradict each other, notes
    entries that repeat each other or overlap. Several files are also compared with each other.
    The exit status is 1 if there are errors or warnings.

    \b
    Examples:
      lexbeam glossary check terms.csv
      lexbeam glossary check --source en --target de company.tbx project.tsv
    """
    contents, problems = _read(files, encoding)
    problems += _compared(contents, source, target)
    problems = sorted(dict.fromkeys(problems), key=lambda problem: (problem.path, problem.line))
    if as_json:
        for problem in problems:
            click.echo(json.dumps(_record(problem), ensure_ascii=False))
    else:
        _show(problems, show_all)
        _summarise(contents, problems)
    sys.exit(any(problem.level != "note" for problem in problems))


@command.command()
@click.argument("file")
@click.argument("text")
@click.option("--source", metavar="LANGUAGE", help="Language of the text.")
@click.option("--target", metavar="LANGUAGE", help="Language of the translation.")
@click.option("--lemmas", is_flag=True, help="Find and demand words in any of their forms.")
@click.option("--encoding", help="Encoding of a table that is not Unicode, e.g. cp1252.")
def find(
    file: str,
    text: str,
    source: str | None,
    target: str | None,
    lemmas: bool,
    encoding: str | None,
) -> None:
    """Show which terms of a glossary stand in TEXT, and what they demand.

    \b
    Example:
      lexbeam glossary find terms.csv "The power supply is switched off."
    """
    glossary = Glossary.load(file, lemmas=lemmas, encoding=encoding)
    if glossary.languages and not (source and target):
        there = ", ".join(glossary.languages)
        raise click.UsageError(
            f"{file} has terms in {there}: say which languages are meant, as in --source "
            f"{glossary.languages[0]} --target {glossary.languages[-1]}"
        )
    found = glossary.find(text, source, target)
    for match in found.entries:
        rule = match.rule
        targets = " | ".join(rule.targets) or "–"
        forbidden = f" (not {' | '.join(rule.forbidden)})" if rule.forbidden else ""
        line = f"{rule.path}:{rule.line}"
        click.echo(f"{text[match.start : match.end]} → {targets}{forbidden}  [{line}]")
    if not found.entries:
        click.echo("no terms found", err=True)


def _read(files: Sequence[str], encoding: str | None) -> tuple[list[Contents], list[Problem]]:
    """Read files; one that can't be used at all is a problem like others."""
    contents, problems = [], []
    for file in files:
        try:
            read = read_file(file, encoding)
        except InputError as error:
            problems.append(Problem("error", file, 0, str(error).removeprefix(f"{file}: ")))
            continue
        problems += read.problems
        contents.append(read)
    return contents, problems


def _compared(
    contents: Sequence[Contents], source: str | None, target: str | None
) -> Iterator[Problem]:
    languages = sorted({code for each in contents for code in each.languages})
    if source or target or not languages:
        pairs = [(source, target)]
    elif len(languages) <= _MOST_LANGUAGES:
        pairs = list(permutations(languages, 2))
    else:
        click.echo("name --source and --target to have entries compared", err=True)
        return
    book = Glossary([Contents(each.path, each.concepts, each.languages) for each in contents])
    for pair in pairs:
        try:
            yield from book.check(*pair)
        except InputError as error:
            if source or target:
                raise error


def _show(problems: Sequence[Problem], show_all: bool) -> None:
    shown: Counter[str] = Counter()
    for problem in problems:
        shown[problem.level] += 1
        if show_all or problem.level != "note" or shown["note"] <= _MOST_SHOWN:
            where = f"{problem.path}:{problem.line}" if problem.line else problem.path
            click.echo(f"{where}: {problem.level}: {problem.message}")
    hidden = shown["note"] - _MOST_SHOWN
    if hidden > 0 and not show_all:
        click.echo(f"… and {hidden} more notes (--all shows them)")


def _summarise(contents: Sequence[Contents], problems: Sequence[Problem]) -> None:
    for each in contents:
        levels = Counter(problem.level for problem in problems if problem.path == each.path)
        counts = ", ".join(
            f"{levels[level]} {level}{'' if levels[level] == 1 else 's'}"
            for level in ("error", "warning", "note")
            if levels[level]
        )
        languages = f" in {', '.join(sorted(each.languages))}" if each.languages else ""
        entries = "1 entry" if len(each.concepts) == 1 else f"{len(each.concepts)} entries"
        click.echo(f"{each.path}: {entries}{languages}; {counts or 'nothing wrong'}")


def _record(problem: Problem) -> dict[str, str | int]:
    return {
        "level": problem.level,
        "file": problem.path,
        "line": problem.line,
        "message": problem.message,
    }

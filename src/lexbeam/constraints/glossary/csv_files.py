"""Tables of terms, comma- or tab-separated, as DeepL and Google take them.

- two columns, source and target, without a header;
- four columns or more: source, target, and the languages of both (DeepL's export);
- a header of language codes, a column each (Google's equivalent term sets);
- a header that names columns: source, target, status, and others, which are ignored.

Several targets may stand in a cell, separated by ``|``, or in rows of their own.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from lexbeam.constraints.glossary.encodings import decode
from lexbeam.constraints.glossary.entries import (
    LARGEST_FILE,
    LONGEST_TERM,
    Contents,
    Role,
    Term,
    clean_term,
    fault_of,
    forbids,
)
from lexbeam.errors import InputError, quoted
from lexbeam.text.files import read_bytes
from lexbeam.text.languages import language_code

_SEPARATORS = (",", ";", "\t")
_SAMPLE_LINES = 50
_LONGEST_ROW = 64 * LONGEST_TERM

_COLUMNS = {
    "source": ("source", "source term", "source text", "src", "term"),
    "target": ("target", "target term", "target text", "tgt", "translation"),
    "source language": ("source language", "source lang", "source locale"),
    "target language": ("target language", "target lang", "target locale"),
    "status": ("status", "usage", "usage status", "term status", "administrative status"),
    "forbidden": ("forbidden", "do not use", "avoid", "deprecated"),
    "compound": ("compound", "compounds"),
    "other": (
        "", "comment", "comments", "context", "definition", "description", "domain", "example",
        "id", "note", "notes", "part of speech", "pos", "relevance", "subject", "tags",
    ),
}  # fmt: skip
_KINDS = {name: kind for kind, names in _COLUMNS.items() for name in names}
_FORBIDDEN_LANGUAGE = re.compile(
    r"(?P<before>forbidden|avoid)?[ :(]*(?P<language>[\w-]+?)[ :(]*(?P<after>forbidden|avoid)?\)?"
)
_YES = frozenset({"yes", "true", "1", "x", "y"})

Row = tuple[int, list[str]]


@dataclass(frozen=True)
class _Column:
    """What a column holds: terms of a language or a side, or something about them."""

    kind: str
    language: str | None = None
    forbidden: bool = False

    @property
    def has_terms(self) -> bool:
        return self.kind in ("source", "target", "either")


def read_table(path: Path, encoding: str | None = None) -> Contents:
    """Read a table of terms.

    Raises:
        InputError: the file can't be read, is not text, or lacks a column.
    """
    text = decode(read_bytes(path, LARGEST_FILE), path, encoding)
    contents = Contents(str(path))
    separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else _separator(text)
    rows = ((line, cells) for line, cells in _rows(text, separator, contents) if any(cells))
    first = next(rows, None)
    if first is None:
        if contents.problems:
            return contents
        raise InputError(f"{path} is empty")
    columns = _header(first, path)
    if columns is None:
        columns = _by_position(first, path)
        _read_row(first, columns, contents)
    for row in rows:
        _read_row(row, columns, contents)
    return contents


# --- lines and cells ---------------------------------------------------------------------------


def _rows(text: str, separator: str, contents: Contents) -> Iterator[Row]:
    """Yield the cells of each row with the number of its line."""
    if separator == "\t":
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > _LONGEST_ROW:
                contents.complain(number, _too_long(len(line)))
            else:
                yield number, [_unquoted(cell) for cell in line.split("\t")]
        return
    yield from _quoted_rows(text, separator, contents)


def _quoted_rows(text: str, separator: str, contents: Contents) -> Iterator[Row]:
    """Yield rows in which a cell may be quoted, and then go on over several lines."""
    lines = _Lines(text, contents)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    while True:
        begin = lines.number + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            contents.complain(begin, f"can't be read as a row: {error}")
            return
        if cells is None:
            return
        if lines.number > begin and any("\n" in cell for cell in cells):
            contents.complain(
                begin,
                f"a quoted cell goes on until line {lines.number}: is a quotation mark missing?",
            )
        else:
            yield lines.number, [cell.strip() for cell in cells]


class _Lines:
    """Iterates over the lines of a text and counts them; lines that are too long are left out."""

    def __init__(self, text: str, contents: Contents) -> None:
        self.number = 0
        self._lines = iter(text.splitlines(keepends=True))
        self._contents = contents

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        for line in self._lines:
            self.number += 1
            if len(line) <= _LONGEST_ROW:
                return line
            self._contents.complain(self.number, _too_long(len(line)))
        raise StopIteration


def _too_long(length: int) -> str:
    return f"the line has {length} characters, more than {_LONGEST_ROW}: are line breaks missing?"


def _unquoted(cell: str) -> str:
    cell = cell.strip()
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"').strip()
    return cell


def _separator(text: str) -> str:
    """Return the separator that most of the first lines have equally often."""
    head = list(
        islice((line for line in text[: 1 << 16].splitlines() if line.strip()), _SAMPLE_LINES)
    )
    best, best_share = ",", 0
    for separator in _SEPARATORS:
        try:
            widths = Counter(len(row) for row in csv.reader(head, delimiter=separator))
        except csv.Error:
            continue
        share = max((count for width, count in widths.items() if width > 1), default=0)
        if share > best_share:
            best, best_share = separator, share
    return best


# --- columns -----------------------------------------------------------------------------------


def _header(row: Row, path: Path) -> list[_Column] | None:
    """Return the columns that a header names; None if the first row has terms already."""
    line, cells = row
    columns = [_named(cell) for cell in cells]
    kinds = {column.kind for column in columns}
    languages = {column.language for column in columns if column.language}
    sides = len(languages) + ("source" in kinds) + ("target" in kinds)
    if sides > 1 and not _is_export(columns):
        return columns
    if "unknown" in kinds or len(kinds) == 1:  # "status, Status" may well be a pair of terms
        return None
    raise InputError(
        f"{path}: line {line} names no columns of source and target terms "
        f'({quoted(", ".join(cells))}): call them "source" and "target", or by their languages'
    )


def _is_export(columns: Sequence[_Column]) -> bool:
    """Return whether a row is one of an export, *house, Haus, EN, DE*, and no header."""
    kinds = [column.kind for column in columns[:4]]
    return kinds == ["unknown", "unknown", "either", "either"]


def _named(cell: str) -> _Column:
    name = " ".join(re.split(r"[\s_]+", cell.strip().lower()))
    if name in _KINDS:
        return _Column(_KINDS[name])
    language = language_code(name)
    if language:
        return _Column("either", language)
    parts = _FORBIDDEN_LANGUAGE.fullmatch(name)
    if parts and (parts["before"] or parts["after"]):
        language = language_code(parts["language"])
        side: Role = "target" if parts["language"] == "target" else "either"
        if language or side == "target":
            return _Column(side, language, forbidden=True)
    return _Column("unknown")


def _by_position(row: Row, path: Path) -> list[_Column]:
    """Return the columns of a table without header."""
    line, cells = row
    if len(cells) < 2:
        raise InputError(
            f"{path}: line {line} has one column: source and target are expected, separated by "
            "a comma, a semicolon or a tab"
        )
    kinds = ["source", "target"]
    if len(cells) >= 4 and language_code(cells[2]) and language_code(cells[3]):
        kinds += ["source language", "target language"]
    return [_Column(kind) for kind in kinds] + [_Column("other")] * (len(cells) - len(kinds))


# --- rows --------------------------------------------------------------------------------------


def _read_row(row: Row, columns: Sequence[_Column], contents: Contents) -> None:
    """Add a row to the contents, or a problem if it can't be used."""
    line, cells = row
    if len(cells) > len(columns) and len(columns) == 2:
        contents.complain(
            line, f"{len(cells)} columns instead of 2: quote cells that contain the separator"
        )
        return
    about = {
        column.kind: cell
        for column, cell in zip(columns, cells, strict=False)
        if not column.has_terms
    }
    is_forbidden = forbids(about.get("status", "")) or _affirms(about.get("forbidden", ""))
    terms: list[Term] = []
    for column, cell in zip(columns, cells, strict=False):
        if column.has_terms:
            terms += _terms(column, cell, line, contents)
    terms = [_about(term, about, is_forbidden) for term in terms]
    absent = _missing_side(terms)
    if absent:
        shown = quoted(terms[0].text) if terms else "the row"
        contents.complain(line, f"{shown} has no {absent}")
    else:
        contents.add(line, terms, about.get("compound", "").strip().lower() in _YES)


def _terms(column: _Column, cell: str, line: int, contents: Contents) -> Iterator[Term]:
    for written in cell.split("|") if "|" in cell else (cell,):
        text = clean_term(written)
        fault = fault_of(text)
        if fault:
            contents.complain(line, fault)
        elif text:
            role: Role = column.kind  # type: ignore[assignment]
            yield Term(text, column.language, role, column.forbidden)


def _about(term: Term, about: dict[str, str], is_forbidden: bool) -> Term:
    """Return a term with the language and status that other columns of its row give it."""
    if term.role == "either":
        return term
    language = language_code(about.get(f"{term.role} language", "")) or term.language
    forbidden = term.forbidden or (is_forbidden and term.role == "target")
    if language == term.language and forbidden == term.forbidden:
        return term
    return replace(term, language=language, forbidden=forbidden)


def _missing_side(terms: Sequence[Term]) -> str | None:
    """Return what a row lacks, None if it has terms on both sides."""
    roles = {term.role for term in terms}
    if "either" in roles:
        sides = {term.language or term.role for term in terms}
        return None if len(sides) > 1 else "translation"
    return next((f"{role} term" for role in ("source", "target") if role not in roles), None)


def _affirms(cell: str) -> bool:
    return cell.strip().lower() in _YES or forbids(cell)

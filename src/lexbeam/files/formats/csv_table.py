"""Bilingual tables: CSV and TSV with a column for the source and one for the target language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lexbeam.errors import InputError
from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.languages import primary
from lexbeam.files.placeholders import mark
from lexbeam.files.units import Edit, Options, State, Unit
from lexbeam.translation.marked_text import MarkedText, plain

_SOURCES = ("source", "source text", "original", "msgid", "text")
_TARGETS = ("target", "target text", "translation", "msgstr")
_NAMES = {
    "english": "en", "german": "de", "deutsch": "de", "french": "fr", "français": "fr",
    "spanish": "es", "español": "es", "italian": "it", "portuguese": "pt", "dutch": "nl",
    "polish": "pl", "russian": "ru", "czech": "cs", "japanese": "ja", "chinese": "zh",
}  # fmt: skip


class Cell(NamedTuple):
    """A cell with the place it takes in the file, quotation marks included."""

    start: int
    end: int
    text: str
    quoted: bool


@register("csv", ".csv", ".tsv", ".tab")
class TableScan:
    """A table; the first row names the columns."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content = read_text(data, options.encoding)
        self._options = options
        text = self._content.text
        first = text.split("\n", 1)[0]
        self._delimiter = max("\t;,|", key=lambda mark: (first.count(mark), mark == ","))
        header = next(_rows(text, self._delimiter), [])
        names = [cell.text.strip().lower() for cell in header]
        self._header = header
        self._source = _column(names, options.source_language, _SOURCES)
        self._target = _column(names, options.target_language, _TARGETS)
        if self._source is None or self._source == self._target:
            raise InputError(
                "the first row of the table must name a column with the source language, "
                f"such as source or {options.source_language or 'en'}; there are: "
                + ", ".join(" ".join(cell.text.split()) for cell in header)[:200]
            )
        self._id = next((i for i, n in enumerate(names) if n in ("id", "key", "keys", "")), None)

    def units(self) -> Iterator[Unit]:
        """Yield the rows that have a source text."""
        rows = _rows(self._content.text, self._delimiter)
        next(rows, None)
        for number, row in enumerate(rows, 2):
            assert self._source is not None
            if len(row) > self._source and row[self._source].text.strip():
                yield self._unit(number, row, row[self._source])

    def _unit(self, number: int, row: Sequence[Cell], source: Cell) -> Unit:
        target = None
        if self._target is not None and len(row) > self._target:
            target = row[self._target]
        state: State = "translated" if target and target.text.strip() else "untranslated"
        name = row[self._id].text if self._id is not None and len(row) > self._id else ""

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            cell = self._cell(plain(targets[0]), source.quoted or bool(target and target.quoted))
            if target is not None:
                yield Edit(target.start, target.end, cell)
                return
            missing = ""
            if self._target is not None:  # otherwise every row gets a new cell
                missing = self._delimiter * (self._target - len(row) + 1)
            yield Edit(row[-1].end, row[-1].end, missing + cell)

        return Unit(
            name or f"row {number}",
            lambda: (mark(source.text),),
            write,
            state,
            (target.text,) if target and target.text else (),
        )

    def _cell(self, text: str, quoted: bool) -> str:
        if quoted or any(c in text for c in (self._delimiter, '"', "\n", "\r")):
            return '"' + text.replace('"', '""') + '"'
        return text

    def header(self) -> Iterator[Edit]:
        """Yield a column for the target language if there is none: its name, and empty cells."""
        if self._target is not None:
            return
        name = self._options.target_language or "target"
        if self._header[self._source or 0].text.strip().lower() in _SOURCES:
            name = "target"
        name = self._cell(name, self._header[-1].quoted)
        for number, row in enumerate(_rows(self._content.text, self._delimiter)):
            missing = self._delimiter * max(1, len(self._header) - len(row) + 1)
            yield Edit(row[-1].end, row[-1].end, missing + ("" if number else name))

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._content.spliced(edits, encoding)


def _column(names: Sequence[str], language: str | None, usual: Sequence[str]) -> int | None:
    """Return the column of a language: by its code, its name, or what such columns are called."""
    for i, name in enumerate(names):
        if name in usual:
            return i
    if language is None:
        return None
    exact = [i for i, name in enumerate(names) if name.replace("_", "-") == language.lower()]
    codes = [
        i
        for i, name in enumerate(names)
        if _NAMES.get(name) == primary(language)
        or (re.fullmatch(r"[a-z]{2,3}(?:[-_]\w+)?", name) and primary(name) == primary(language))
    ]
    return next(iter(exact + codes), None)


def _rows(text: str, delimiter: str) -> Iterator[list[Cell]]:
    """Yield the rows of a table.

    Raises:
        InputError: a quotation mark is not closed.
    """
    plain_cell = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    quoted_cell = re.compile(r'"((?:[^"]|"")*)"')
    at = 0
    row: list[Cell] = []
    while at <= len(text):
        if text.startswith('"', at):
            found = quoted_cell.match(text, at)
            if found is None:
                line = text.count("\n", 0, at) + 1
                raise InputError(f"line {line}: a quotation mark that is not closed")
            rest = plain_cell.match(text, found.end())
            end = rest.end() if rest else found.end()
            row.append(Cell(at, end, found[1].replace('""', '"') + text[found.end() : end], True))
        else:
            plain_found = plain_cell.match(text, at)
            end = plain_found.end() if plain_found else at
            row.append(Cell(at, end, text[at:end], False))
        at = end
        if text.startswith(delimiter, at):
            at += 1
            continue
        if len(row) > 1 or row[0].text:
            yield row
        row = []
        at += 2 if text.startswith("\r\n", at) else 1

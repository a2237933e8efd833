"""The entries of a glossary as clients send them: TSV or CSV, source and target."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping

from lexbeam.constraints.glossary.entries import clean_term, fault_of
from lexbeam.server.errors import ApiError, bad_request
from lexbeam.server.languages import known_language

FORMATS = ("tsv", "csv")
LARGEST = 10 * 1024 * 1024
"""Bytes of a dictionary at most, as at DeepL."""

LONGEST_TERM = 1024
"""Bytes of a term at most, as at DeepL."""

_LINE_END = re.compile(r"\r\n|\r|\n")

Entries = dict[str, str]


def read_entries(text: str, written_in: str, pair: tuple[str, str]) -> Entries:
    """Return the entries of a text.

    Raises:
        ApiError: the format is unknown, or a line can't be used.
    """
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise ApiError(413, f"The entries are larger than {LARGEST} bytes")
    if written_in not in FORMATS:
        raise bad_request(f"Value for 'entries_format' not supported. There is {FORMATS}.")
    entries: Entries = {}
    rows = _tsv(text) if written_in == "tsv" else _csv(text, pair)
    for number, source, target in rows:
        for term in (source, target):
            if not term:
                raise _invalid(f"line {number}: a term is empty")
            if len(term.encode("utf-8", "surrogatepass")) > LONGEST_TERM:
                raise _invalid(f"line {number}: a term is longer than {LONGEST_TERM} bytes")
            if fault := fault_of(term):
                raise _invalid(f"line {number}: {fault}")
        if source in entries:
            raise _invalid(f'line {number}: duplicate key "{source}"')
        entries[source] = target
    if not entries:
        raise _invalid("no entries given")
    return entries


def write_tsv(entries: Mapping[str, str]) -> str:
    """Return entries as TSV."""
    return "\n".join(f"{source}\t{target}" for source, target in entries.items())


def _tsv(text: str) -> Iterable[tuple[int, str, str]]:
    for number, line in enumerate(_LINE_END.split(text), 1):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < 2:
            raise _invalid(f"line {number}: key with no value (no tab in it)")
        if len(cells) > 2:
            raise _invalid(f"line {number}: more than two columns")
        yield number, clean_term(cells[0]), clean_term(cells[1])


def _csv(text: str, pair: tuple[str, str]) -> Iterable[tuple[int, str, str]]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) not in (2, 4):
                raise _invalid(f"line {reader.line_num}: not two or four columns")
            if len(cells) == 4 and tuple(map(known_language, cells[2:])) != pair:
                continue  # an entry for other languages
            yield reader.line_num, clean_term(cells[0]), clean_term(cells[1])
    except csv.Error as error:
        raise _invalid(f"line {reader.line_num}: {error}") from None


def _invalid(reason: str) -> ApiError:
    return ApiError(400, f"Invalid glossary entries provided: {reason}")

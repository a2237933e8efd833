"""The formats of a corpus: how a file is cut into slices, and how a slice is read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lexbeam.errors import InputError
from lexbeam.translation.lines import Line
from lexbeam.translation.requests import TextRequest


@dataclass(frozen=True)
class Slice:
    """Rows of a file that follow each other."""

    first: int
    """The number of the first row, from 1."""
    rows: int
    start: int | None = None
    """Where in a file of lines they begin, in bytes of its text."""
    size: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Writing:
    """How rows are read and written, beside what their format says."""

    text: str = "text"
    """The field or column that has the texts."""
    tabs: bool = False
    ordered: bool = False
    signature: bool = False
    max_chars: int | None = None
    """How long a text may be; longer ones are errors."""


class Rows(Protocol):
    """The rows of a slice: read when made, then translated, then written as a file."""

    lines: list[Line]

    def content(self) -> bytes:
        """Return the file of the rows with their translations, or what is wrong with them."""
        ...


class Format(NamedTuple):
    """One format; ``row`` is what a row is called in messages."""

    suffix: str
    row: str
    plan: Callable[[Path, int, str], tuple[str, list[Slice]]]
    """Takes a file, the rows of a slice and the text column; returns a hash and the slices."""
    read: Callable[[Path, Slice, TextRequest, Writing], Rows]


_MODULES = {"text": "line_files", "jsonl": "line_files", "parquet": "parquet_files"}
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def find_format(path: str, lines: str | None = None) -> tuple[str, Format]:
    """Return the format of a file by its name; ``lines`` is that of a file of lines, if given."""
    name = Path(path)
    packed = name.suffix.lower() == ".gz"
    suffix = (Path(name.stem) if packed else name).suffix.lower()
    found = _SUFFIXES.get(suffix, "text")
    if packed and found == "parquet":
        raise InputError(f"{path}: Parquet files are compressed inside: unpack it")
    chosen = found if found == "parquet" else lines or found
    return chosen, get_format(chosen)


def get_format(name: str) -> Format:
    """Return a format by its name; its module is loaded when it is used."""
    formats: dict[str, Any] = import_module(f"lexbeam.corpus.{_MODULES[name]}").FORMATS
    found: Format = formats[name]
    return found

"""Files of lines: text, text with phrases behind tabs, and JSON lines; plain or gzipped."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

from lexbeam.corpus.formats import Format, Slice, Writing
from lexbeam.errors import InputError
from lexbeam.text.files import decode_line
from lexbeam.translation.lines import JsonLines, Line, LineFormat, PlainLines, TabLines
from lexbeam.translation.records import parse_record, read_request
from lexbeam.translation.requests import TextRequest


class _HashedFile(io.RawIOBase):
    """A file that hashes what is read of it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self.digest.update(data)
        buffer[: len(data)] = data
        return len(data)


def plan(path: Path, rows: int, text: str) -> tuple[str, list[Slice]]:  # noqa: ARG001
    """Read a file once; return its hash and its slices of so many lines."""
    slices = []
    first, start = 1, 0
    with _reading(path), path.open("rb", buffering=0) as file:
        hashed = _HashedFile(file)
        buffered = io.BufferedReader(hashed, 1 << 20)
        lines: Any = gzip.GzipFile(fileobj=buffered) if _is_packed(path) else buffered
        while some := list(islice(lines, rows)):
            data = b"".join(some)
            sha256 = hashlib.sha256(data).hexdigest()
            slices.append(Slice(first, len(some), start, len(data), sha256))
            first, start = first + len(some), start + len(data)
        while buffered.read(1 << 20):
            pass  # what is behind the end of a gzipped file belongs to its hash
    return hashed.digest.hexdigest(), slices


def _read_slice(path: Path, part: Slice) -> list[bytes]:
    assert part.start is not None
    assert part.size is not None
    with _reading(path):
        opened: Any = gzip.open if _is_packed(path) else open
        with opened(path, "rb") as file:
            file.seek(part.start)
            data: bytes = file.read(part.size)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise InputError(f"{path}: has changed since the run began")
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever is wrong with a file into one error."""
    try:
        yield
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read: {reason}") from error


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


class LineRows:
    """Lines of a file, in one of the ways that a line can be written."""

    def __init__(self, line_format: LineFormat, path: Path, part: Slice) -> None:
        self._format = line_format
        self.lines: list[Line] = []
        for number, raw in enumerate(_read_slice(path, part), part.first):
            line = Line(number)
            try:
                line_format.read(decode_line(raw, is_first=number == 1), line)
            except InputError as error:
                line.error = str(error)
            self.lines.append(line)

    def content(self) -> bytes:
        """Return the lines with their translations."""
        return "".join(self._format.write(line) + "\n" for line in self.lines).encode()


class FieldLines(JsonLines):
    """A line is a record that has its text in a field of any name."""

    def __init__(self, common: TextRequest, field: str, signature: bool = False) -> None:
        super().__init__(common, signature)
        self._common = common
        self._field = field

    def read(self, text: str, line: Line) -> None:
        """Read the record and what it asks for."""
        if text.strip():
            line.record = parse_record(text)
            if not isinstance(line.record.get(self._field), str):
                raise InputError(f'the JSON object has no "{self._field}" that is a string')
            asked = {**line.record, "text": line.record[self._field]}
            line.request = read_request(asked, self._common)


def _read_text(path: Path, part: Slice, common: TextRequest, writing: Writing) -> LineRows:
    lines = TabLines(common, writing.ordered) if writing.tabs else PlainLines(common)
    return LineRows(lines, path, part)


def _read_json(path: Path, part: Slice, common: TextRequest, writing: Writing) -> LineRows:
    lines = FieldLines(common, writing.text, writing.signature)
    return LineRows(lines, path, part)


FORMATS = {
    "text": Format(".txt", "line", plan, _read_text),
    "jsonl": Format(".jsonl", "line", plan, _read_json),
}

"""Reading files of text: UTF-8, with or without a byte order mark, plain or gzipped.

Whatever is wrong with a file is an `InputError` that names the file, and the line if there is
one to name.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path

from lexbeam.errors import InputError


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a file, of no more than ``limit`` bytes."""
    try:
        size = path.stat().st_size
        if limit is None or size <= limit:
            return path.read_bytes()
    except (OSError, ValueError) as error:  # a path may hold a NUL character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read: {reason}") from error
    raise InputError(f"{path}: can't be read: it is larger than {limit >> 20} MiB")


def read_lines(path: Path) -> list[str]:
    r"""Return the lines of a file, without ``\n`` or ``\r\n`` at their ends.

    A file whose name ends in ``.gz`` is unpacked. A line break at the end of the file ends its
    last line, and does not begin another. Rarer characters, which other tools take for line
    breaks, may be part of a sentence and are left alone.
    """
    data = read_bytes(path)
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path}: can't be read: {error}") from error
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        line_start = data.rfind(b"\n", 0, error.start) + 1
        wrong = _wrong_byte(data, error.start, line_start)
        raise InputError(f"{path}, line {number} is not valid UTF-8: {wrong}") from error
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def decode_line(line: bytes, is_first: bool = False) -> str:
    """Return one line of a stream as text, without its end.

    A byte order mark before the first line is left out.
    """
    if is_first:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        return line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not valid UTF-8: {_wrong_byte(line, error.start)}") from error


def _wrong_byte(data: bytes, index: int, line_start: int = 0) -> str:
    return f"byte {data[index]:#04x} at {index - line_start}"

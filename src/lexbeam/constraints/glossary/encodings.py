"""The text of a glossary file: its encoding is marked in the file or named by the caller."""

from __future__ import annotations

import codecs
from pathlib import Path

from lexbeam.errors import InputError, represented

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes, path: Path, encoding: str | None = None) -> str:
    """Return the text of a file: UTF-8, unless its byte order mark or the caller says otherwise.

    No other encoding is guessed: a wrong guess would turn *Größe* into *GrÃ¶ÃŸe* unnoticed.

    Raises:
        InputError: the bytes aren't text in that encoding; the line is named.
    """
    if encoding is not None and not isinstance(encoding, str):
        raise InputError(f"an encoding has a name, such as cp1252: not {represented(encoding)}")
    marked = next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), None)
    if marked:
        data, found = data[len(marked[0]) :], marked[1]
    else:
        found = encoding or _without_mark(data)
    try:
        return data.decode(found)
    except LookupError as error:
        raise InputError(
            f"there is no encoding {represented(found)}: try utf-8 or cp1252"
        ) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        hint = "" if marked or encoding else ", or name its encoding (often it is cp1252)"
        raise InputError(
            f"{path}: line {line} is not {found}: byte {byte:#04x}. Save the file as UTF-8{hint}"
        ) from error


def _without_mark(data: bytes) -> str:
    """Return the encoding of a text without byte order mark: UTF-8 or UTF-16.

    In UTF-16 every other byte is zero, in the text of most languages.
    """
    head = data[:2000]
    if head.count(0) > len(head) // 8:
        return "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"
    return "utf-8"

"""Bytes to text and back, without losing a byte."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lexbeam.errors import InputError
from lexbeam.files.units import Edit

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNFIT = {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"}
_ENDIAN = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def codec_name(name: str) -> str:
    """Return the normal name of an encoding.

    Raises:
        InputError: it is unknown, or not for files.
    """
    try:
        info = codecs.lookup(name.strip())
    except (LookupError, ValueError):
        raise InputError(f"unknown encoding {name!r}") from None
    if not info._is_text_encoding or info.name in _UNFIT:
        raise InputError(f"the encoding {name!r} can't be used for files")
    return info.name


@dataclass(frozen=True)
class Content:
    """The text of a file, and how it was written."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @property
    def newline(self) -> str:
        """The line end of the file: that of its first line."""
        at = self.text.find("\n", 0, 100_000)
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    def spliced(self, edits: Iterable[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with stretches of its text replaced."""
        name = codec_name(encoding) if encoding else self.encoding
        yield self.mark if name == self.encoding else b""
        encoder = codecs.getincrementalencoder(name)()
        at = 0
        for edit in in_order(edits):
            yield encoder.encode(self.text[at : edit.start])
            yield _encoded(encoder, edit.text, name)
            at = edit.end
        yield encoder.encode(self.text[at:], True)


def _encoded(encoder: codecs.IncrementalEncoder, text: str, name: str) -> bytes:
    try:
        return encoder.encode(text)
    except UnicodeEncodeError as error:
        character = text[error.start]
        raise InputError(
            f"the encoding {name} of the file has no {character!r} (U+{ord(character):04X}), "
            "which a translation needs: give --encoding utf-8"
        ) from None


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Return edits from first to last.

    Raises:
        InputError: two of them overlap.
    """
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    at = 0
    for edit in ordered:
        if edit.start < at:
            raise InputError(f"two translations would go to one place, at {edit.start}")
        at = edit.end
    return ordered


def read_text(
    data: bytes, declared: str | None = None, default: str = "utf-8", guess: bool = False
) -> Content:
    """Decode a file: by its byte order mark, what it declares, or what is usual.

    ``guess`` takes UTF-16 without a mark for what it is.

    Raises:
        InputError: the bytes are not text in that encoding, or hold NUL.
    """
    mark, name = _marked(data)
    if name is None:
        name = codec_name(declared) if declared else default
        name = _ENDIAN.get(name, name)
        if guess and not declared:
            name = _guessed(data) or name
    body = data[len(mark) :]
    try:
        text = body.decode(name)
    except UnicodeDecodeError as error:
        raise InputError(
            f"not valid {name.upper()}: byte {body[error.start]:#04x} at {error.start + len(mark)}"
        ) from None
    if "\0" in text:
        raise InputError(f"there is a NUL character at {text.index(chr(0))}: not a text file")
    if name != "utf-8" and text.encode(name, "replace") != body:
        raise InputError(f"the file can't be written again in its encoding {name}")
    return Content(text, name, mark)


def _marked(data: bytes) -> tuple[bytes, str | None]:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return mark, name
    return b"", None


def _guessed(data: bytes) -> str | None:
    head = data[:4]
    if len(data) < 4 or len(data) % 2:
        return None
    if head[1] == 0 and head[0] and head[3] == 0:
        return "utf-16-le"
    if head[0] == 0 and head[1] and head[2] == 0:
        return "utf-16-be"
    return None

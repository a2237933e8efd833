"""Read the files of a model: only regular ones, and never more than a model can need."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexbeam.errors import LexbeamError, ModelError

LARGEST_FILE = 1 << 33
"""Bytes of the largest file that is read: weights of two milliard parameters in float."""

LARGEST_VOCABULARY = 1 << 28
"""Bytes of the largest vocabulary, manifest or shortlist."""

MOST_UNPACKED = 16
"""How many times as large as its file packed content may be; weights pack to half their size."""

SPARE_BYTES = 1 << 24
"""What packed content may have beyond that: a small file of zeros is harmless."""

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file before the message of a ModelError that names none beside it."""
    try:
        yield
    except ModelError as error:
        message = str(error)
        has_name = str(path) in message or message.startswith(f"{path.parent}{os.sep}")
        raise ModelError(message if has_name else f"{path}: {message}") from None


@contextmanager
def refusing_damage(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file makes Python raise into a ModelError that names the file.

    For readers of formats whose content is too free to be checked value by value.
    """
    try:
        with naming(path):
            yield
    except LexbeamError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
        struct.error,
    ) as error:
        raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}") from None


@contextmanager
def refusing_unreadable() -> Iterator[None]:
    """Turn the error for what must not be looked at into a ModelError that names it."""
    try:
        yield
    except PermissionError as error:
        raise ModelError(f"{error.filename}: can't be read: {error.strerror}") from None


def check_file(path: Path, largest: int = LARGEST_FILE) -> int:
    """Return the size of a file; anything but a regular file of at most that size is an error."""
    try:
        size = path.stat().st_size
        regular = path.is_file()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    if not regular:
        raise ModelError(f"{path}: can't be read: not a file")
    if size > largest:
        raise ModelError(f"{path}: {size} bytes, {largest} is the limit")
    return size


def read_file(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Return the content of a file."""
    check_file(path, largest)
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: can't be read: {error}") from None


def read_json_object(path: Path, otherwise: str = "a JSON object is expected") -> dict[str, Any]:
    """Read a file that holds one JSON object; ``otherwise`` is said where it holds another."""
    try:
        content = json.loads(read_file(path, LARGEST_VOCABULARY))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    if not isinstance(content, dict):
        raise ModelError(f"{path}: {otherwise}")
    return content


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, which is not kept in memory."""
    check_file(path)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: can't be read: {error}") from None


def read_unpacked(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Return the content of a file, unpacked if it is gzipped."""
    data = read_file(path, largest)
    if not data.startswith(_GZIP_MAGIC):
        return data
    most = min(largest, MOST_UNPACKED * len(data) + SPARE_BYTES)
    try:
        return _unpack(data, most)
    except (zlib.error, EOFError) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    except OverflowError:
        raise ModelError(f"{path}: more than {most} bytes when unpacked") from None


def _unpack(data: bytes, most: int) -> bytes:
    """Unpack the members of a gzip file; OverflowError if they are too large together."""
    parts: list[bytes] = []
    while data.startswith(_GZIP_MAGIC):
        member = zlib.decompressobj(_GZIP)
        parts.append(member.decompress(data, most + 1))
        most -= len(parts[-1])
        if most < 0:
            raise OverflowError
        if not member.eof:
            raise EOFError("the file is cut short")
        data = member.unused_data.lstrip(b"\0")
    if data:
        raise EOFError("something else follows what is packed")
    return b"".join(parts)

"""CTranslate2's binary model files, versions 2 to 6.

Little-endian: the version, the name of the specification and its revision; then the variables,
each with its name, shape, type and values; then, since version 3, further names of variables.
A text is its length in two bytes, with the zero byte that ends it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import naming, read_file

OLDEST, NEWEST = 2, 6
_TYPED, _ALIASES = 4, 3  # the versions that brought types, and further names
_TYPES = ("<f4", "i1", "<i2", "<i4", "<f2", "bfloat16")
_BY_SIZE = {4: "<f4", 2: "<i2", 1: "i1"}  # how older versions name types
_MOST_DIMENSIONS = 8
_SHORTEST = 8  # bytes of a variable or a further name, at least


@dataclass(frozen=True)
class BinaryModel:
    """What a file holds."""

    version: int
    specification: str
    revision: int
    variables: Mapping[str, NDArray[Any]]
    """By name; further names of a variable give the same array."""


def read(path: Path) -> BinaryModel:
    """Read a model file; whatever is wrong with it is a ModelError that names it."""
    with naming(path):
        return _read(_Cursor(memoryview(read_file(path))))


class _Cursor:
    """Read forward through bytes; running past the end says that the file is cut short."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> memoryview:
        if size > self.left:
            raise ModelError("the file is cut short or is not a CTranslate2 model")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, code: str) -> int:
        (value,) = struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))
        return int(value)

    def count(self) -> int:
        """Read how many entries follow, which must have room in the file."""
        count = self.number("I")
        if count * _SHORTEST > self.left:
            raise ModelError("the file is cut short or is not a CTranslate2 model")
        return count

    def text(self) -> str:
        raw = bytes(self.take(self.number("H")))
        return raw.rstrip(b"\0").decode("utf-8", "replace")


def _read(cursor: _Cursor) -> BinaryModel:
    version = cursor.number("I")
    if not OLDEST <= version <= NEWEST:
        raise ModelError(
            f"not a CTranslate2 model, or of version {version}; {OLDEST} to {NEWEST} can be read"
        )
    specification, revision = cursor.text(), cursor.number("I")
    variables: dict[str, NDArray[Any]] = {}
    for _ in range(cursor.count()):
        name = cursor.text()
        variables[name] = _variable(cursor, name, typed=version >= _TYPED)
    for _ in range(cursor.count() if version >= _ALIASES else 0):
        alias, name = cursor.text(), cursor.text()
        for suffix in ("", "_scale"):
            if name + suffix in variables:
                variables[alias + suffix] = variables[name + suffix]
    return BinaryModel(version, specification, revision, variables)


def _variable(cursor: _Cursor, name: str, *, typed: bool) -> NDArray[Any]:
    dimensions = cursor.number("B")
    if dimensions > _MOST_DIMENSIONS:
        raise ModelError(f"the variable {name!r:.80} has {dimensions} dimensions")
    shape = [cursor.number("I") for _ in range(dimensions)]
    kind = cursor.number("B")
    known = dict(enumerate(_TYPES)) if typed else _BY_SIZE
    if kind not in known:
        raise ModelError(f"the variable {name!r:.80} is of the unknown type {kind}")
    half = known[kind] == "bfloat16"
    dtype = np.dtype("<u2" if half else known[kind])
    size = cursor.number("I") * (1 if typed else dtype.itemsize)
    if prod(shape) * dtype.itemsize != size:
        raise ModelError(f"the variable {name!r:.80} has {size} bytes, not as many as its shape")
    values = np.frombuffer(cursor.take(size), dtype).reshape(shape)
    if half:  # the upper half of a number in single precision
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values

"""Marian's binary model files, version 1.

Little-endian: the version and the number of items, a header of four numbers an item (length of
its name, type, number of dimensions, length of its data), then all names, all shapes, padding,
all data. Weights in eight bits were prepared by intgemm: the values of a matrix are stored
transposed (a table of embeddings is not), followed by the multiplier they were rounded with.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import naming, read_unpacked
from lexbeam.models.graphs.weights import (
    Float32,
    Int8Matrix,
    Weight,
    check_multiplier,
    check_values,
    without_overflow,
)

_VERSION = 1
_BYTES, _INTGEMM8 = 0x101, 0x4101
_FLOATS = {0x402: "<f2", 0x404: "<f4", 0x408: "<f8"}
_NAMES = {0x4102: "intgemm16", 0x808: "packed8", 0x1010: "packed16"}
_CONFIG = "special:model.yml"
_MULTIPLIER = "_QuantMultA"


@dataclass(frozen=True)
class _Item:
    name: str
    type: int
    shape: tuple[int, ...]
    data: memoryview


@dataclass(frozen=True)
class MarianModel:
    """What a file holds: the configuration (YAML text) and the weights by name."""

    config: str
    weights: Mapping[str, Weight]
    activations: Mapping[str, float]  # multipliers of activations, by the matrix they meet


def read(path: Path) -> MarianModel:
    """Read a model file; whatever is wrong with it is a ModelError that names it."""
    with naming(path):
        return _interpret(_items(memoryview(read_unpacked(path))))


class _Cursor:
    """Read forward through bytes; running past the end says that the file is cut short."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> memoryview:
        if size > len(self.data) - self.at:
            raise ModelError("the file is cut short or is not a Marian model")
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, code: str, count: int) -> tuple[int, ...]:
        size = struct.calcsize(f"<{code}")
        return struct.unpack(f"<{count}{code}", self.take(count * size))


def _items(data: memoryview) -> list[_Item]:
    cursor = _Cursor(data)
    version, count = cursor.numbers("Q", 2)
    if version != _VERSION:
        raise ModelError(f"not a Marian binary model of version {_VERSION}")
    headers = [cursor.numbers("Q", 4) for _ in range(min(count, len(data)))]
    names = [bytes(cursor.take(header[0])) for header in headers]
    shapes = [cursor.numbers("i", header[2]) for header in headers]
    cursor.take(cursor.numbers("Q", 1)[0])
    items = []
    for (_, kind, _, size), raw, shape in zip(headers, names, shapes, strict=True):
        name = raw.rstrip(b"\0").decode("utf-8", "replace")
        if any(dim < 0 for dim in shape):
            raise ModelError(f"{name}: impossible shape {shape}")
        items.append(_Item(name, kind, shape, cursor.take(size)))
    return items


def _interpret(items: list[_Item]) -> MarianModel:
    by_name = {item.name: item for item in items}
    if _CONFIG not in by_name:
        raise ModelError(f"no configuration ({_CONFIG}) in the file")
    config = bytes(by_name[_CONFIG].data).rstrip(b"\0").decode("utf-8", "replace")
    activations = {
        item.name.removesuffix(_MULTIPLIER): _floats(item).item()
        for item in items
        if item.name.endswith(_MULTIPLIER) and item.type in _FLOATS and prod(item.shape) == 1
    }
    weights = {
        item.name: _weight(item, activations.get(item.name))
        for item in items
        if not item.name.startswith("special:") and not item.name.endswith(_MULTIPLIER)
    }
    return MarianModel(config, weights, activations)


def _floats(item: _Item) -> Float32:
    dtype = np.dtype(_FLOATS[item.type])
    size = prod(item.shape)
    if size * dtype.itemsize > len(item.data):
        raise ModelError(f"{item.name}: {len(item.data)} bytes are too few for shape {item.shape}")
    with np.errstate(over="ignore"):
        values = np.frombuffer(item.data, dtype, size).reshape(item.shape).astype(np.float32)
    check_values(item.name, values)
    return values


def _weight(item: _Item, activation: float | None) -> Weight:
    if item.type in _FLOATS:
        return _floats(item)
    if item.type != _INTGEMM8:
        kind = _NAMES.get(item.type, hex(item.type))
        raise ModelError(f"{item.name}: weights of type {kind} are not supported")
    return _int8(item, activation)


def _int8(item: _Item, activation: float | None) -> Int8Matrix:
    size = prod(item.shape)
    if len(item.shape) != 2 or not size or size + 4 > len(item.data):
        raise ModelError(f"{item.name}: {len(item.data)} bytes don't fit shape {item.shape}")
    multiplier = float(np.frombuffer(item.data, "<f4", 1, size)[0])
    check_multiplier(f"the scale of {item.name}", multiplier)
    if activation is not None:
        check_multiplier(f"the activation of {item.name}", activation)
    values = np.frombuffer(item.data, np.int8, size)
    rows, columns = item.shape
    if item.name.endswith("Wemb"):
        scale = np.full((rows, 1), 1 / multiplier, np.float32)
        return without_overflow(Int8Matrix(values.reshape(rows, columns), scale, activation).T).T
    scale = np.full((1, columns), 1 / multiplier, np.float32)
    return without_overflow(Int8Matrix(values.reshape(columns, rows).T, scale, activation))

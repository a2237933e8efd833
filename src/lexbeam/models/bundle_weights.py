"""The weights of a bundle: rounded to eight bits, written to one file, read back.

A file is read array by array, and only what the network asks for. An array is unpacked after its
size was compared with that of the file, and used after its type, shape and values were checked.
"""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import MOST_UNPACKED, SPARE_BYTES, check_file
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.graphs.weights import (
    Float32,
    Int8Matrix,
    Weight,
    Weights,
    check_multiplier,
    check_values,
    quantise,
)

_SCALE, _ACTIVATION, _SUFFIX = ".scale", ".activation", ".npy"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_ENCRYPTED = 1  # a flag of members
_ZIP_ERRORS = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)
_HEADER_ERRORS = (  # of a Python literal
    ValueError,
    TypeError,
    SyntaxError,
    RecursionError,
    tokenize.TokenError,
)


def check_finite(weights: Mapping[str, Any]) -> dict[str, Weight]:
    """Return weights as arrays in single precision; NaN or infinity in one is an error.

    Matrices that are in eight bits already are returned as they are.
    """
    arrays: dict[str, Weight] = {}
    for name, weight in weights.items():
        if isinstance(weight, Int8Matrix):
            arrays[name] = weight
            continue
        arrays[name] = array = np.asarray(weight, np.float32)
        check_values(name, array)
    return arrays


def to_floats(weights: Weights) -> dict[str, Float32]:
    """Return weights in single precision."""
    return {
        name: weight.to_float() if isinstance(weight, Int8Matrix) else weight
        for name, weight in weights.items()
    }


def round_weights(architecture: Architecture, weights: Weights) -> Weights:
    """Round matrices to eight bits; vectors and small tables stay in single precision."""
    rounded: dict[str, Weight] = {}
    for name, value in weights.items():
        small = len(value.shape) != 2 or 1 in value.shape
        if isinstance(value, Int8Matrix) or small or architecture.stays_float(name):
            rounded[name] = value
        elif name.endswith("Wemb"):
            rounded[name] = quantise(value.T).T
        else:
            rounded[name] = quantise(value)
    return rounded


def with_multipliers(weights: Weights, multipliers: Mapping[str, float]) -> Weights:
    """Return rounded weights with the multipliers of their activations, where known."""
    return {
        name: replace(weight, activation=multipliers.get(name))
        if isinstance(weight, Int8Matrix)
        else weight
        for name, weight in weights.items()
    }


def write_weights(path: Path, weights: Weights) -> None:
    """Write weights to an ``.npz`` file."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if isinstance(weight, Int8Matrix):
            arrays[name] = np.ascontiguousarray(weight.values)
            arrays[name + _SCALE] = weight.scale
            if weight.activation is not None:
                arrays[name + _ACTIVATION] = np.array(weight.activation, np.float32)
        else:
            arrays[name] = weight
    np.savez(path, allow_pickle=False, **arrays)


class StoredWeights(Mapping[str, Weight]):
    """What `write_weights` has written: each weight is read and checked when it is asked for."""

    def __init__(self, path: Path) -> None:
        self._bytes_left = MOST_UNPACKED * check_file(path) + SPARE_BYTES
        try:
            self._archive = zipfile.ZipFile(path)
        except _ZIP_ERRORS as error:
            raise ModelError(f"can't be read: {error}") from None
        self._members = {
            member.filename.removesuffix(_SUFFIX): member
            for member in self._archive.infolist()
            if member.filename.endswith(_SUFFIX)
        }
        self._read: dict[str, Weight] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._archive.close()

    def __iter__(self) -> Iterator[str]:
        beside = (_SCALE, _ACTIVATION)
        return (name for name in self._members if not name.endswith(beside))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._members and not str(name).endswith((_SCALE, _ACTIVATION))

    def __getitem__(self, name: str) -> Weight:
        if name not in self:
            raise KeyError(name)
        if name not in self._read:
            array = self._array(name)
            self._read[name] = self._matrix(name, array) if array.dtype == np.int8 else array
        return self._read[name]

    def _matrix(self, name: str, values: NDArray[np.int8]) -> Int8Matrix:
        """Return a matrix in eight bits with what stands beside it in the file."""
        if name + _SCALE not in self._members:
            raise ModelError(f"the scale of {name} is missing")
        scale = self._array(name + _SCALE)
        rows, columns = values.shape if values.ndim == 2 else (0, 0)
        expected = (rows, 1) if name.endswith("Wemb") else (1, columns)
        if values.ndim != 2 or scale.shape != expected or scale.dtype != np.float32:
            raise ModelError(
                f"the weight {name} has the shape {values.shape} and scales {scale.shape}"
            )
        for each in (scale.min(), scale.max()):
            check_multiplier(f"a scale of {name}", 1 / float(each) if each else 0.0)
        if name + _ACTIVATION not in self._members:
            return Int8Matrix(values, scale)
        activation = self._array(name + _ACTIVATION)
        if activation.shape not in ((), (1,)) or activation.dtype != np.float32:
            raise ModelError(f"the activation of {name} is not one number")
        multiplier = float(activation.reshape(()))
        check_multiplier(f"the activation of {name}", multiplier)
        return Int8Matrix(values, scale, multiplier)

    def _array(self, name: str) -> NDArray[Any]:
        """Read an array of int8, or of floats, which become single precision."""
        member = self._members[name]
        self._bytes_left -= member.file_size
        if self._bytes_left < 0:
            raise ModelError(f"the array {name} is too large for a file of this size")
        if member.flag_bits & _ENCRYPTED:
            raise ModelError(f"the array {name} is encrypted")
        try:
            with self._archive.open(member) as stream:
                array = _read_array(name, stream, member.file_size)
        except _ZIP_ERRORS as error:
            raise ModelError(f"the array {name} can't be read: {error}") from None
        if array.dtype == np.int8:
            return array
        with np.errstate(over="ignore"):
            floats: Float32 = array.astype(np.float32, copy=False)
        check_values(name, floats)
        return floats


def read_weights(path: Path) -> StoredWeights:
    """Open what `write_weights` has written."""
    return StoredWeights(path)


def _read_array(name: str, stream: IO[bytes], size: int) -> NDArray[Any]:
    """Read an array whose header says as many bytes as there are."""
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ModelError(f"the array {name} is of an unknown version of the format")
    try:
        shape, in_columns, dtype = _HEADERS[version](stream)
    except _HEADER_ERRORS as error:
        raise ModelError(f"the array {name} has a damaged header: {error}") from None
    if dtype != np.int8 and dtype.kind != "f":
        raise ModelError(f"the array {name} has values of type {dtype}")
    expected = prod(shape) * dtype.itemsize
    if not expected or stream.tell() + expected != size:
        raise ModelError(f"the array {name} has {size} bytes, which don't fit the shape {shape}")
    data = np.frombuffer(stream.read(), dtype)
    return data.reshape(shape[::-1]).T if in_columns else data.reshape(shape)

"""The variables of a CTranslate2 model: single values, vectors, and matrices in any precision.

What has been read is remembered, so that a model with something that nobody has asked for is
refused instead of misread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Weight, check_multiplier

_OLD_INT16_SCALE = 1000.0  # of matrices without a scale of their own
_LARGEST = 127


@dataclass(frozen=True)
class Linear:
    """A dense layer as CTranslate2 has it: one row of the matrix for each number it gives."""

    rows: Weight  # shape: (outputs, inputs)
    bias: Float32 | None

    def part(self, start: int, end: int) -> Linear:
        """Return the layer that gives some of the numbers."""
        return self._map(lambda values: values[start:end])

    def repeat_heads(self, size: int, times: int) -> Linear:
        """Return the layer that gives each head, of so many numbers, several times."""

        def repeat(values: NDArray[Any]) -> NDArray[Any]:
            heads = values.reshape(-1, size, *values.shape[1:])
            return heads.repeat(times, axis=0).reshape(-1, *values.shape[1:])

        return self._map(repeat)

    def times(self, factor: float) -> Linear:
        """Return the layer that gives so many times as much."""
        number = np.float32(factor)
        rows = self.rows
        if isinstance(rows, Int8Matrix):
            rows = Int8Matrix(rows.values, rows.scale * number)
        else:
            rows = rows * number
        return Linear(rows, None if self.bias is None else self.bias * number)

    def _map(self, change: Any) -> Linear:
        rows = self.rows
        if isinstance(rows, Int8Matrix):
            rows = Int8Matrix(change(rows.values), change(rows.scale))
        else:
            rows = change(rows)
        return Linear(rows, None if self.bias is None else change(self.bias))


class Variables:
    """The variables of a model by name."""

    def __init__(self, variables: Mapping[str, NDArray[Any]]) -> None:
        self._variables = variables
        self._used: set[str] = set()

    def has(self, name: str) -> bool:
        """Return whether the model has a variable, or variables below this name."""
        return name in self._variables or any(
            other.startswith(f"{name}/") for other in self._variables
        )

    def unread(self) -> list[str]:
        """Return the names of the variables that nobody has asked for."""
        return sorted(self._variables.keys() - self._used)

    def ignore(self, names: Iterable[str]) -> None:
        """Take variables for read: they don't matter."""
        self._used.update(names)

    def array(self, name: str) -> NDArray[Any]:
        """Return a variable as it is."""
        if name not in self._variables:
            raise ModelError(f"the variable {name} is missing from the model")
        self._used.add(name)
        return self._variables[name]

    def floats(self, name: str) -> Float32:
        """Return a variable in single precision."""
        return np.asarray(self.array(name), np.float32)

    def number(self, *names: str, default: float) -> float:
        """Return the single value of the first of these variables that the model has."""
        for name in names:
            if name in self._variables:
                value = self.array(name)
                if value.size != 1 or not np.isfinite(float(value.reshape(()))):
                    raise ModelError(f"the variable {name} is not one number")
                return float(value.reshape(()))
        return default

    def layers(self, scope: str) -> int:
        """Return how many layers there are below a name."""
        count = 0
        while self.has(f"{scope}/layer_{count}"):
            count += 1
        return count

    def linear(self, scope: str) -> Linear:
        """Return a dense layer."""
        bias = f"{scope}/bias"
        rows = self.matrix(f"{scope}/weight")
        vector = self.floats(bias).reshape(-1) if bias in self._variables else None
        if vector is not None and len(vector) != rows.shape[0]:
            raise ModelError(f"the variable {bias} has {len(vector)} values, not {rows.shape[0]}")
        return Linear(rows, vector)

    def matrix(self, name: str) -> Weight:
        """Return a matrix; in eight bits if the model has it so, otherwise in float."""
        values = self.array(name)
        if values.ndim != 2 or not values.size:
            raise ModelError(f"the variable {name} has the shape {values.shape}: not a matrix")
        if values.dtype.kind == "f":
            return values.astype(np.float32)
        if values.dtype not in (np.int8, np.int16):
            raise ModelError(f"the variable {name} is of the type {values.dtype}: not a matrix")
        scale = self._scale(name, values)
        if values.dtype == np.int16:
            return values.astype(np.float32) * scale
        return Int8Matrix(values, scale)

    def _scale(self, name: str, values: NDArray[Any]) -> Float32:
        """Return the factor of each row. # shape: (rows, 1); int16 may have one for all."""
        if f"{name}_scale" not in self._variables:
            if values.dtype == np.int8:
                raise ModelError(f"the variable {name}_scale is missing from the model")
            return np.full((1, 1), 1 / _OLD_INT16_SCALE, np.float32)
        multiplier = self.floats(f"{name}_scale").reshape(-1, 1)
        if len(multiplier) not in (1, len(values)):
            raise ModelError(f"the variable {name}_scale has {len(multiplier)} values")
        for each in (multiplier.min(), multiplier.max()):
            check_multiplier(f"{name}_scale", float(each))
        scale = _inverse(multiplier)
        if values.dtype == np.int8:
            return np.ascontiguousarray(np.broadcast_to(scale, (len(values), 1)))
        return scale


def _inverse(multiplier: Float32) -> Float32:
    """Return the scales whose inverse is nearest to these multipliers, if possible the same."""
    scale: Float32 = np.float32(1) / multiplier
    near = np.stack([scale, np.nextafter(scale, np.float32(0)), np.nextafter(scale, np.float32(9))])
    best = np.abs(np.float32(1) / near - multiplier).argmin(axis=0)
    inverse: Float32 = np.take_along_axis(near, best[None], axis=0)[0]
    return inverse


def round_rows(rows: Weight) -> Int8Matrix:
    """Round a matrix to eight bits as CTranslate2 does: the largest of each row is 127."""
    if isinstance(rows, Int8Matrix):
        return rows
    peak = np.abs(rows).max(axis=1, keepdims=True)
    scale = np.where(peak > np.finfo(np.float32).tiny * _LARGEST, peak / _LARGEST, np.float32(1))
    scale = scale.astype(np.float32)
    return Int8Matrix(np.rint(rows / scale).astype(np.int8), scale)


def to_float(rows: Weight) -> Float32:
    """Return a matrix in single precision."""
    return rows.to_float() if isinstance(rows, Int8Matrix) else rows

"""Weights in eight bits, in the form the runtime's integer kernels multiply exactly.

On processors without VNNI the kernels add two neighbouring products of an unsigned activation
(0…255) and a signed weight in sixteen bits, and saturate without a warning. Two weights of one
sign whose magnitudes sum to at most 128 can't overflow (255 · 128 < 2^15). Columns with a larger
pair get a slightly coarser scale; all others stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError

_PAIR_LIMIT = 128
_PAIR_TARGET = 127  # rounding may add one half twice

LARGEST_VALUE = 1e6
"""Weights are below: products of several such numbers, and their squares, are still finite."""

MULTIPLIERS = (1e-5, 1e38)
"""What values may be multiplied by before they are rounded to eight bits; tiny values, by much."""

Float32 = NDArray[np.float32]
Int8 = NDArray[np.int8]


@dataclass(frozen=True)
class Int8Matrix:
    """A matrix whose float value is ``values * scale``.

    ``activation`` is the number that activations are multiplied by before they are rounded to
    eight bits; with None the range is measured in each product.
    """

    values: Int8  # shape: (rows, columns)
    scale: Float32  # shape: (1, columns); of a table of embeddings (rows, 1)
    activation: float | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    @property
    def T(self) -> Int8Matrix:  # noqa: N802 - as NumPy has it
        """The transpose: a table of embeddings as the matrix of an output layer, and back."""
        return Int8Matrix(self.values.T, self.scale.T, self.activation)

    def to_float(self) -> Float32:
        """Return the matrix in single precision."""
        return self.values.astype(np.float32) * self.scale


Weight = Float32 | Int8Matrix
Weights = Mapping[str, Weight]


def check_values(name: str, weight: Float32) -> None:
    """Raise ModelError for a weight with values that no network can compute with."""
    if not weight.size or not (weight.min() >= -LARGEST_VALUE and weight.max() <= LARGEST_VALUE):
        raise ModelError(
            f"the weight {name} has no values, or values that are not numbers below "
            f"{LARGEST_VALUE:g}"
        )


def check_multiplier(name: str, multiplier: float) -> None:
    """Raise ModelError for a number that values can't be multiplied by before they are rounded."""
    smallest, largest = MULTIPLIERS
    if not smallest <= multiplier <= largest:
        raise ModelError(f"{name} makes no sense: it stands for a multiplier of {multiplier:g}")


class Observed(dict[str, Float32]):
    """Float weights of a network whose activations are to be measured.

    Its graphs also return, for each matrix, the largest magnitude of its input: as ``peak.NAME``,
    or as ``rectified.NAME`` where a rectifier has left no negative values.
    """


def _heaviest_pairs(values: NDArray[Any]) -> NDArray[Any]:
    """Return for each column the largest sum of two neighbours of one sign, as a magnitude."""
    rows = values.shape[0] // 2 * 2
    pairs = values[:rows].reshape(rows // 2, 2, values.shape[1])
    first, second = pairs[:, 0], pairs[:, 1]
    up = np.maximum(first, 0) + np.maximum(second, 0)
    down = np.minimum(first, 0) + np.minimum(second, 0)
    heaviest: NDArray[Any] = np.maximum(up.max(axis=0, initial=0), -down.min(axis=0, initial=0))
    return heaviest


def without_overflow(matrix: Int8Matrix) -> Int8Matrix:
    """Give columns whose products could overflow a coarser scale; leave the others untouched."""
    weight = _heaviest_pairs(matrix.values.astype(np.int16))  # shape: (columns,)
    heavy = np.flatnonzero(weight > _PAIR_LIMIT)
    if not heavy.size:
        return matrix
    factor = np.ones_like(matrix.scale)
    factor[0, heavy] = weight[heavy] / _PAIR_TARGET
    values = matrix.values.copy()
    values[:, heavy] = np.rint(values[:, heavy] / factor[:, heavy])
    return Int8Matrix(values, matrix.scale * factor, matrix.activation)


def quantise(matrix: Float32, activation: float | None = None) -> Int8Matrix:
    """Round a float matrix to eight bits, each column to the finest scale that is safe."""
    peak = np.maximum(np.abs(matrix).max(axis=0, initial=0), _heaviest_pairs(matrix))
    scale = (peak / _PAIR_TARGET).astype(np.float32)[None]
    scale = np.where(scale > np.finfo(np.float32).tiny, scale, np.float32(1))
    return Int8Matrix(np.rint(matrix / scale).astype(np.int8), scale, activation)

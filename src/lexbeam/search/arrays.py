"""Types of arrays, and small tools: packing ragged lists, sets of bits, picking from rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Tokens = tuple[int, ...]
"""A phrase, or an output, as token ids."""

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
ScoreArray = NDArray[np.floating[Any]]
"""Log-probabilities as a model gives them, in whatever precision."""

PAD = -1
"""Fills the unused places of ``ask`` and ``ban``; its score is minus infinity."""

Bits = tuple[NDArray[np.uint64], ...]
"""Sets of up to 64 · len members, one flat array for each 64 of them.

Kept apart, not as one array of two dimensions: nearly every batch has a single word, and then
no operation has an axis to reduce.
"""

_WORD = (1 << 64) - 1

Array = TypeVar("Array", bound=NDArray[Any])


def pack_rows(rows: Sequence[Sequence[int]], fill: int) -> NDArray[np.int64]:
    """Return the rows as one array, short ones filled up. # shape: (rows, longest row)."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    width = int(lengths.max(initial=0))
    packed = np.full((len(rows), width), fill, dtype=np.int64)
    packed[np.arange(width) < lengths[:, None]] = list(chain.from_iterable(rows))
    return packed


def pack_bits(sets: Sequence[int], words: int) -> Bits:
    """Return sets given as Python integers as ``words`` arrays. # shape of each: (sets,)."""
    return tuple(
        np.array([bits >> (64 * word) & _WORD for bits in sets], dtype=np.uint64)
        for word in range(words)
    )


def pack_rows_of_bits(rows: Sequence[Sequence[int]], words: int) -> Bits:
    """Return rows of sets, short ones filled up with empty ones.

    # shape of each: (rows, longest row).
    """
    longest = max(map(len, rows), default=0)
    filled = [bits for row in rows for bits in (*row, *[0] * (longest - len(row)))]
    return tuple(word.reshape(len(rows), longest) for word in pack_bits(filled, words))


def unpack_bits(bits: Bits, index: int) -> int:
    """Return one of the sets as a Python integer."""
    return sum(int(word[index]) << (64 * number) for number, word in enumerate(bits))


def intersects(
    table: Bits, rows: NDArray[np.int64], others: Sequence[NDArray[np.uint64]]
) -> NDArray[np.bool_]:
    """Say which sets, picked from a table, share a member with the others."""
    common: NDArray[np.uint64] = table[0][rows] & others[0]
    for word, other in zip(table[1:], others[1:], strict=True):
        common |= word[rows] & other
    shared: NDArray[np.bool_] = common != 0
    return shared


@lru_cache(maxsize=256)
def starts(rows: int, width: int) -> NDArray[np.int64]:
    """Return where each row of a table begins when it is read in one dimension.

    # shape: (rows, 1). Made once for each size: every step of a search needs a few of them.
    """
    column = (np.arange(rows) * width)[:, None]
    column.flags.writeable = False
    return column


@lru_cache(maxsize=256)
def constant_column(rows: int, value: int) -> NDArray[np.int64]:
    """Return a column of one value. # shape: (rows, 1). Made once for each size."""
    column = np.full((rows, 1), value)
    column.flags.writeable = False
    return column


def through(places: NDArray[np.int64], rows: int, width: int) -> NDArray[np.int64]:
    """Turn places within rows into places in all of a table, read in one dimension."""
    return places if rows == 1 else places + starts(rows, width)


def pick(array: Array, places: NDArray[np.int64]) -> Array:
    """Return some entries of each row; what np.take_along_axis does, in a fifth of its time."""
    picked: NDArray[Any] = array.ravel()[through(places, *array.shape)]
    return cast(Array, picked)

"""Types of arrays, and small tools for ragged lists, sets of bits and indices into rows."""

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
"""Fills the unused entries of ``ask`` and ``ban``; its score is minus infinity."""

Bits = tuple[NDArray[np.uint64], ...]
"""Sets of up to 64 · len members, one flat array for each 64 of them.

They are kept apart, not as one array of two dimensions: nearly every batch needs a single array,
and then no operation has an axis to reduce.
"""

SparseBits = tuple[tuple[int, NDArray[np.uint64]], ...]
"""Those arrays of some sets of bits that have any, each with its number."""

_64_BITS = (1 << 64) - 1

_FEW_ROWS = 32
"""Up to this number it is quicker to fill rows up one by one."""

Array = TypeVar("Array", bound=NDArray[Any])


def pack_rows(rows: Sequence[Sequence[int]], fill: int) -> NDArray[np.int64]:
    """Return the rows as one array, short ones filled up. # shape: (rows, longest row)."""
    if len(rows) <= _FEW_ROWS:
        longest = max(map(len, rows), default=0)
        filled = [[*row, *[fill] * (longest - len(row))] for row in rows]
        return np.array(filled, dtype=np.int64).reshape(len(rows), longest)
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    width = int(lengths.max(initial=0))
    packed = np.full((len(rows), width), fill, dtype=np.int64)
    packed[np.arange(width) < lengths[:, None]] = list(chain.from_iterable(rows))
    return packed


def pack_bits(sets: Sequence[int], arrays: int) -> Bits:
    """Return sets, given as Python integers, as so many arrays. # shape of each: (sets,)."""
    if arrays == 1:
        return (np.array([bits & _64_BITS for bits in sets], dtype=np.uint64),)
    inside = (1 << 64 * arrays) - 1
    packed = b"".join([(bits & inside).to_bytes(8 * arrays, "little") for bits in sets])
    rows = np.frombuffer(packed, "<u8").reshape(len(sets), arrays)
    return tuple(np.ascontiguousarray(rows.T, np.uint64))


def pack_rows_of_bits(rows: Sequence[Sequence[int]], arrays: int) -> Bits:
    """Return rows of sets, short ones filled up with empty ones.

    # shape of each: (rows, longest row).
    """
    longest = max(map(len, rows), default=0)
    filled = [bits for row in rows for bits in (*row, *[0] * (longest - len(row)))]
    return tuple(bits.reshape(len(rows), longest) for bits in pack_bits(filled, arrays))


def leave_out_empty(bits: Bits) -> SparseBits:
    """Return the arrays that have any bits, one at least."""
    return tuple((n, a) for n, a in enumerate(bits) if a.any()) or tuple(enumerate(bits[:1]))


def side_by_side(bits: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return sets of bits as the compiled kernel reads them.

    # shape: (…, arrays), or (…) if there is one array.
    """
    return bits[0] if len(bits) == 1 else np.stack(bits, axis=-1)


def fill_in_empty(bits: SparseBits, arrays: int, shape: tuple[int, ...]) -> Bits:
    """Return all arrays of sets that were left without the empty ones; each has this shape."""
    known = dict(bits)
    return tuple(
        known[number] if number in known else np.zeros(shape, np.uint64) for number in range(arrays)
    )


def unpack_bits(bits: Bits, index: int) -> int:
    """Return one of the sets as a Python integer."""
    return sum(int(array[index]) << (64 * number) for number, array in enumerate(bits))


def intersects(
    table: SparseBits, rows: NDArray[np.int64], others: Sequence[NDArray[np.uint64]]
) -> NDArray[np.bool_]:
    """Return a mask of the sets, taken from rows of a table, that share a member with others."""
    first, array = table[0]
    common: NDArray[np.uint64] = array[rows] & others[first]
    for number, array in table[1:]:
        common |= array[rows] & others[number]
    shared: NDArray[np.bool_] = common != 0
    return shared


class BitSets:
    """Some sets of bits, each of which is compared with many others.

    A set that has bits in several arrays is put together from what it has in each, and sets that
    are alike in an array are compared there once.
    """

    def __init__(self, sets: Sequence[int], arrays: int) -> None:
        self._number = len(sets)
        numbers: dict[tuple[int, int], int] = {}
        pieces_of_sets: list[list[int]] = []
        for bits in sets:
            pieces = [(number, bits >> (64 * number) & _64_BITS) for number in range(arrays)]
            used = [piece for piece in pieces if piece[1]] or pieces[:1]
            pieces_of_sets.append([numbers.setdefault(piece, len(numbers)) for piece in used])
        # The sets themselves, if they have one array. # shape: (sets,)
        self._in_one = np.array(sets, np.uint64) if arrays == 1 else None
        # shape of both: (pieces, 1) and (pieces,)
        self._pieces = np.array([[piece] for _, piece in numbers], np.uint64)
        self._arrays = np.array([number for number, _ in numbers], np.int64)
        # The first piece of each set; which sets have a second, a third and so on, and these.
        self._first = np.array([pieces[0] for pieces in pieces_of_sets], np.int64)
        self._more: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for rank in range(1, max(map(len, pieces_of_sets), default=0)):
            longer = [i for i, pieces in enumerate(pieces_of_sets) if len(pieces) > rank]
            further = [pieces_of_sets[i][rank] for i in longer]
            self._more.append((np.array(longer, np.int64), np.array(further, np.int64)))

    def share(self, others: Bits) -> NDArray[np.bool_]:
        """Return a mask of the sets that share a member with each of some others.

        # shape: (…, sets), where the others have shape (…).
        """
        if self._in_one is not None:
            found: NDArray[np.bool_] = (others[0][..., None] & self._in_one) != 0
            return found
        shape = others[0].shape
        if not self._number:
            return np.zeros((*shape, 0), np.bool_)
        flat = np.array(others).reshape(len(others), -1)
        hit = (flat[self._arrays] & self._pieces) != 0
        found = hit[self._first]
        for sets, pieces in self._more:
            found[sets] |= hit[pieces]
        return np.ascontiguousarray(found.T).reshape(*shape, self._number)


@lru_cache(maxsize=256)
def row_starts(rows: int, width: int) -> NDArray[np.int64]:
    """Return the flat index of the first entry of each row of a table.

    # shape: (rows, 1). It is made once per size: every step of a search needs a few of them.
    """
    column = (np.arange(rows) * width)[:, None]
    column.flags.writeable = False
    return column


@lru_cache(maxsize=256)
def constant_column(rows: int, value: int) -> NDArray[np.int64]:
    """Return a column of one value. # shape: (rows, 1). It is made once per size."""
    column = np.full((rows, 1), value)
    column.flags.writeable = False
    return column


def flat_indices(indices: NDArray[np.int64], rows: int, width: int) -> NDArray[np.int64]:
    """Turn indices within each row of a table into indices of the table in one dimension."""
    return indices if rows == 1 else indices + row_starts(rows, width)


def pick(array: Array, indices: NDArray[np.int64]) -> Array:
    """Return some entries of each row: np.take_along_axis in a fifth of its time."""
    picked: NDArray[Any] = array.ravel()[flat_indices(indices, *array.shape)]
    return cast(Array, picked)


def number_rows(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return a number for each row of a table, equal for equal rows and rising with them.

    # shape: (rows,). np.unique of whole rows does the same in ten times the time.
    """
    numbers = np.zeros(columns[0].size, np.int64)
    for column in columns:
        values, each = np.unique(column.ravel(), return_inverse=True)
        if len(values) > 1:
            numbers = np.unique(numbers * len(values) + each, return_inverse=True)[1]
    return numbers

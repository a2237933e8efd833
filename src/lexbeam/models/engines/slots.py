"""Arrange the rows of a batch in the slots of their sentences."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lexbeam.search.arrays import IntArray


def arrange(sentences: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Give every row a slot of its sentence.

    Returns the row of each slot (row 0 where a slot is empty), and the slot of each row.
    # shape: (sentences, slots), (rows,)
    """
    if size == 1:
        return _arrange_one_sentence(len(sentences))
    rows = np.arange(len(sentences))
    counts = np.bincount(sentences, minlength=size)
    first = np.cumsum(counts) - counts
    width = int(counts.max())
    slot_of_row = sentences * width + rows - first[sentences]
    row_of_slot = np.zeros(size * width, np.int64)
    row_of_slot[slot_of_row] = rows
    return row_of_slot.reshape(size, width), slot_of_row


@lru_cache(maxsize=256)
def _arrange_one_sentence(rows: int) -> tuple[IntArray, IntArray]:
    slots = np.arange(rows)
    return slots[None], slots

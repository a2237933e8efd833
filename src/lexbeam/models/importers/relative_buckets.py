"""T5's biases of attention: a table in which distances share rows, as one row per distance."""

from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.weights import Float32
from lexbeam.search.arrays import IntArray


def by_distance(learned: Float32, farthest: int, *, both_directions: bool) -> Float32:
    """Return a table with one row per distance from one in which distances share rows.

    ``farthest`` is the distance from which on all share the last row.
    """
    away = np.arange(farthest + 1)
    if not both_directions:
        return learned[_shared_row(away, len(learned), farthest)]
    rows = _shared_row(away, len(learned) // 2, farthest)
    before, behind = learned[rows], learned[rows + len(learned) // 2]
    return np.concatenate([before[:0:-1], before[:1], behind[1:]])


def _shared_row(distances: IntArray, count: int, farthest: int) -> IntArray:
    """Return the row of each distance: half of the rows have one distance, the others a range."""
    exact = count // 2
    ratio = np.log(np.maximum(distances, 1).astype(np.float32) / np.float32(exact))
    growth = ratio / np.float32(np.log(farthest / exact)) * np.float32(count - exact)
    shared = np.minimum(exact + growth.astype(np.int64), count - 1)
    return np.where(distances < exact, distances, shared)

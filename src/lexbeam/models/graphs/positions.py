"""Embeddings of absolute positions, made once for all steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.models.graphs.weights import Float32


class SinusoidalPositions:
    """Marian's sinusoids: a table that grows when later positions are asked for.

    Several threads may ask at once: each reads the table that it has made or found.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._table = sinusoids(256, dim)

    def between(self, start: int, end: int) -> Float32:
        """Return the embeddings of a range of positions. # shape: (end - start, dim)."""
        table = self._table
        if end > len(table):
            self._table = table = sinusoids(2 * end, self._dim)
        return table[start:end]


class TabledPositions:
    """Embeddings that come with the network, for a limited number of positions.

    Positions past the end share the last embedding: the network has not learned them, but a
    very long output must still reach its length limit.
    """

    def __init__(self, table: Float32) -> None:
        self._table = table  # shape: (positions, dim)

    def between(self, start: int, end: int) -> Float32:
        """Return the embeddings of a range of positions. # shape: (end - start, dim)."""
        if end <= len(self._table):
            return self._table[start:end]
        return self._table[np.minimum(np.arange(start, end), len(self._table) - 1)]


def sinusoids(count: int, dim: int) -> Float32:
    """Return Marian's embeddings of the first positions. # shape: (count, dim)."""
    half = dim // 2
    frequencies = 10000.0 ** (-np.arange(half) / max(half - 1, 1))
    return sines_and_cosines(np.arange(count), frequencies)


def sines_and_cosines(positions: NDArray[Any], frequencies: NDArray[Any]) -> Float32:
    """Return the sines of all angles, then their cosines. # shape: (positions, 2 · frequencies)."""
    angles = positions[:, None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)

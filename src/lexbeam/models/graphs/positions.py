"""Codes of positions, made once for all steps instead of anew in each."""

from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.weights import Float32


class Positions:
    """Sinusoidal codes: a table that grows as far as it is asked for."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._codes = sinusoids(256, dim)

    def between(self, start: int, end: int) -> Float32:
        """Return the codes of some positions. # shape: (end - start, dim)."""
        if end > len(self._codes):
            self._codes = sinusoids(2 * end, self._dim)
        return self._codes[start:end]


class TabledPositions:
    """Codes that a network has learned, or was trained with, for so many positions.

    Nothing is known of places past the end, and nothing good is to be expected there: they
    share the last code, so that an output which runs away still comes to its limit.
    """

    def __init__(self, table: Float32) -> None:
        self._table = table  # shape: (positions, dim)

    def between(self, start: int, end: int) -> Float32:
        """Return the codes of some positions. # shape: (end - start, dim)."""
        if end <= len(self._table):
            return self._table[start:end]
        return self._table[np.minimum(np.arange(start, end), len(self._table) - 1)]


def sinusoids(count: int, dim: int) -> Float32:
    """Return the codes of the first positions: sines in the first half, cosines in the second."""
    half = dim // 2
    frequencies = 10000.0 ** (-np.arange(half) / max(half - 1, 1))
    angles = np.arange(count)[:, None] * frequencies  # shape: (count, half)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)

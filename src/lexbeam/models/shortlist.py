"""Lexical shortlists: the few target tokens that a source sentence can be expected to need.

Scoring a thousand tokens instead of the whole vocabulary makes small models fast. Each sentence has
its own list: the union over a batch of sixteen sentences would be seven times as long.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import LARGEST_VOCABULARY, read_unpacked
from lexbeam.search.arrays import IntArray

_MAGIC = 0xF11A48D5013417F5
_HEADER = struct.Struct("<6Q")


class Shortlist:
    """Candidates for each source token, and the most frequent tokens for all."""

    def __init__(
        self, offsets: NDArray[np.int64], entries: NDArray[np.int64], first: int, vocabulary: int
    ) -> None:
        self._offsets = offsets  # shape: (source vocabulary + 1,)
        self._entries = entries  # shape: (number of entries,)
        self._first = first
        self._vocabulary = vocabulary

    def candidates(self, source: Sequence[int], wanted: Sequence[int]) -> IntArray:
        """Return the sorted target ids for one sentence, those wanted in any case included."""
        chosen = np.zeros(self._vocabulary, bool)
        chosen[: self._first] = True
        chosen[np.asarray(wanted, np.int64)] = True
        tokens = np.asarray(source, np.int64)
        starts = self._offsets[tokens]
        counts = self._offsets[tokens + 1] - starts
        # The indices of the entries of all tokens, one token after another.
        before = np.cumsum(counts) - counts
        chosen[self._entries[np.repeat(starts - before, counts) + np.arange(counts.sum())]] = True
        return np.flatnonzero(chosen)


def read(path: Path, source_vocabulary: int, target_vocabulary: int) -> Shortlist:
    """Read Marian's binary shortlist and check it against the vocabularies."""
    data = read_unpacked(path, LARGEST_VOCABULARY)
    if len(data) < _HEADER.size:
        raise ModelError(f"{path}: the file is cut short")
    magic, _, first, _, offset_count, entry_count = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise ModelError(f"{path}: not a binary shortlist of Marian")
    if len(data) != _HEADER.size + 8 * offset_count + 4 * entry_count:
        raise ModelError(f"{path}: {len(data)} bytes, but its header promises another size")
    offsets = np.frombuffer(data, "<u8", offset_count, _HEADER.size).astype(np.int64)
    entries = np.frombuffer(data, "<u4", entry_count, _HEADER.size + 8 * offset_count)
    if offset_count != source_vocabulary + 1:
        raise ModelError(
            f"{path}: made for {offset_count - 1} source tokens, the model has {source_vocabulary}"
        )
    if (
        first > target_vocabulary
        or offsets[0] != 0
        or offsets[-1] != entry_count
        or (np.diff(offsets) < 0).any()
        or (entry_count and entries.max() >= target_vocabulary)
    ):
        raise ModelError(f"{path}: damaged: entries outside the vocabulary or out of order")
    return Shortlist(offsets, entries.astype(np.int64), int(first), target_vocabulary)

"""Lexical shortlists: the few target tokens that a source sentence can be expected to need.

Scoring some hundred tokens instead of the whole vocabulary makes small models fast. Each sentence
has its own list: the union over a batch of sixteen sentences would be seven times as long.

What a list leaves out has a share of the probability, too. Firefox's models are used as if it had
none: their scores are shares of the list. In a model that was trained with label smoothing that
share is large, and larger where the model is unsure, so the scores of such a list would prefer
outputs that it is unsure of. There a sample of the vocabulary, the same for all sentences, is
scored with each list and stands for all that is not on it.
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
    """Candidates for each source token, and the most frequent tokens for all.

    ``sample`` names the tokens that stand for those that are not listed; without any, scores are
    shares of the list. Of the entries of a sentence at most ``longest`` are taken, the first of
    each source token before the second of any, unless it is 0. Those of its last token, which are
    for every sentence, come on top.
    """

    def __init__(
        self,
        offsets: NDArray[np.int64],
        entries: NDArray[np.int64],
        first: int,
        vocabulary: int,
        sample: Sequence[int] | IntArray = (),
        longest: int = 0,
    ) -> None:
        self._longest = longest
        self.sample = np.asarray(sample, np.int64)
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
        entries = self._entries[np.repeat(starts - before, counts) + np.arange(counts.sum())]
        if self._longest and len(entries):
            last = len(entries) - counts[-1]
            chosen[entries[last:]] = True
            ranks = np.arange(last) - np.repeat(before[:-1], counts[:-1])
            entries = _first_distinct(entries[:last][ranks.argsort(kind="stable")], self._longest)
        chosen[entries] = True
        return np.flatnonzero(chosen)


def _first_distinct(ids: IntArray, most: int) -> IntArray:
    """Return the first so many ids, each counted once."""
    _, first = np.unique(ids, return_index=True)
    return ids[np.sort(first)[:most]]


def choose_sample(vocabulary: int, size: int) -> IntArray:
    """Return so many ids, evenly over a vocabulary; all of it, if it has no more.

    Ids are in order of frequency in most vocabularies, so frequent tokens and rare ones are in the
    sample as they are in the vocabulary.
    """
    size = min(size, vocabulary)
    return (2 * np.arange(size) + 1) * vocabulary // max(2 * size, 1)


def pack(lists: Sequence[IntArray], for_all: IntArray, always: int) -> bytes:
    """Return the content of Marian's binary shortlist, without a checksum.

    ``lists`` has the target ids of each source token, the best first. The ids ``for_all`` sentences
    are listed with the source token that every sentence has ``always``, at its end: the format
    itself can only name the first ids of the vocabulary.
    """
    rows = [_first_distinct(ids, len(ids)) for ids in lists]
    rows[always] = np.union1d(rows[always], for_all)
    entries = np.concatenate(rows)
    offsets = np.cumsum([0, *map(len, rows)])
    header = _HEADER.pack(_MAGIC, 0, 0, max(map(len, rows)), len(offsets), len(entries))
    return header + offsets.astype("<u8").tobytes() + entries.astype("<u4").tobytes()


def read(
    path: Path,
    source_vocabulary: int,
    target_vocabulary: int,
    sample: int = 0,
    longest: int = 0,
) -> Shortlist:
    """Read Marian's binary shortlist and check it against the vocabularies.

    So many tokens become the ``sample`` that stands for what is not listed; 0: none do. For
    ``longest`` see `Shortlist`.
    """
    data = read_unpacked(path, LARGEST_VOCABULARY)
    return parse(data, path, source_vocabulary, target_vocabulary, sample, longest)


def parse(
    data: bytes,
    path: Path,
    source_vocabulary: int,
    target_vocabulary: int,
    sample: int = 0,
    longest: int = 0,
) -> Shortlist:
    """Read the content of a shortlist, as `read` does; errors name the path."""
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
    ids = choose_sample(target_vocabulary, sample)
    return Shortlist(offsets, entries.astype(np.int64), int(first), target_vocabulary, ids, longest)

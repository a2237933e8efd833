"""Batches of like length, in an order that depends on the seed and the pass alone.

A step of training takes several micro-batches, drawn from all over the lengths: padding is
saved within each, and a step still sees short and long sentences together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.train.guide import Guide
from lexbeam.train.vocabulary import EOS

Ids = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """Encoded sentences, padded with the end of sentence; the lengths tell what is padding."""

    source: NDArray[np.int64]  # shape: (sentences, source_length)
    source_lengths: NDArray[np.int64]  # shape: (sentences,)
    target: NDArray[np.int64]  # shape: (sentences, target_length)
    target_lengths: NDArray[np.int64]  # shape: (sentences,)
    guide: NDArray[np.float32] | None = None  # shape: (sentences, target_length, source_length)
    """How much each target piece is to look at each source piece, where that is known."""

    @property
    def target_tokens(self) -> int:
        """Number of target tokens, ends of sentence included and padding not."""
        return int(self.target_lengths.sum())


class EncodedPairs:
    """All examples of a pass as two flat arrays: a Python list per sentence would take gigabytes.

    Each sequence ends with the end of sentence.
    """

    def __init__(
        self,
        sources: Ids,
        targets: Ids,
        max_tokens: int,
        guide: Guide | None = None,
        parts: Sequence[Sequence[int]] = (),
    ) -> None:
        """Take examples that fit; ``parts`` says which of the guide's pairs each consists of."""
        both = zip(sources, targets, strict=True)
        fits = [i for i, (s, t) in enumerate(both) if max(len(s), len(t)) < max_tokens]
        self._sources = _Ragged([sources[i] for i in fits])
        self._targets = _Ragged([targets[i] for i in fits])
        self._guide = guide
        if guide:
            self._parts = [parts[i] for i in fits]
            self._source_words = guide.word_numbers(self._sources.ids, self._sources.starts)
            self._target_words = guide.word_numbers(self._targets.ids, self._targets.starts)

    def __len__(self) -> int:
        return len(self._sources.lengths)

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lengths of the sources and of the targets."""
        return self._sources.lengths, self._targets.lengths

    def batch(self, indices: NDArray[np.int64]) -> Batch:
        """Pad the examples ``indices`` to one batch."""
        source = self._sources.pad(self._sources.ids, indices, EOS)
        target = self._targets.pad(self._targets.ids, indices, EOS)
        lengths = self._sources.lengths[indices], self._targets.lengths[indices]
        return Batch(source, lengths[0], target, lengths[1], self._matrices(indices))

    def _matrices(self, indices: NDArray[np.int64]) -> NDArray[np.float32] | None:
        if self._guide is None:
            return None
        return self._guide.matrices(
            [self._parts[i] for i in indices],
            self._sources.pad(self._source_words, indices, -1),
            self._targets.pad(self._target_words, indices, -1),
        )


class _Ragged:
    """Sequences of different lengths, end to end."""

    def __init__(self, sequences: Ids) -> None:
        self.lengths = np.array([len(ids) + 1 for ids in sequences], dtype=np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.ids = np.full(int(self.lengths.sum()), EOS, dtype=np.int32)
        for start, ids in zip(self.starts, sequences, strict=True):
            self.ids[start : start + len(ids)] = ids

    def pad(
        self, values: NDArray[Any], indices: NDArray[np.int64], padding: int
    ) -> NDArray[np.int64]:
        """Return the values of some sequences, padded; shape: (sequences, longest)."""
        lengths = self.lengths[indices]
        columns = np.arange(lengths.max())
        inside = columns[None, :] < lengths[:, None]  # shape: (sentences, length)
        places = np.where(inside, self.starts[indices][:, None] + columns[None, :], 0)
        return np.where(inside, values[places], padding).astype(np.int64)


def plan_batches(
    pairs: EncodedPairs, batch_tokens: int, accumulate: int, seed: Sequence[int]
) -> list[list[NDArray[np.int64]]]:
    """Plan the steps of a pass: for each step, the indices of each of its micro-batches.

    Without ``seed`` (validation) the order is that of the lengths.
    """
    sources, targets = pairs.lengths
    rng = np.random.default_rng(list(seed)) if seed else None
    noise = rng.permutation(len(pairs)) if rng else np.arange(len(pairs))
    order = np.lexsort((noise, targets, sources))
    longest = np.maximum(sources, targets)[order]
    micro, start, width = [], 0, 0
    for end, length in enumerate(longest):
        width = max(width, int(length))
        if width * (end + 1 - start) > batch_tokens:
            micro.append(order[start:end])
            start, width = end, int(length)
    micro.append(order[start:])
    if rng:
        micro = [micro[i] for i in rng.permutation(len(micro))]
    return [micro[i : i + accumulate] for i in range(0, len(micro), accumulate)]

"""Batches of like length, in an order that depends on the seed and the pass alone.

A step of training takes several micro-batches, drawn from all over the lengths: padding is
saved within each, and a step still sees short and long sentences together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexbeam.train.vocabulary import EOS

Ids = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Batch:
    """Encoded sentences, padded with the end of sentence; the lengths tell what is padding."""

    source: NDArray[np.int64]  # shape: (sentences, source_length)
    source_lengths: NDArray[np.int64]  # shape: (sentences,)
    target: NDArray[np.int64]  # shape: (sentences, target_length)
    target_lengths: NDArray[np.int64]  # shape: (sentences,)

    @property
    def target_tokens(self) -> int:
        """Number of target tokens, ends of sentence included and padding not."""
        return int(self.target_lengths.sum())


class EncodedPairs:
    """All examples of a pass as two flat arrays: a Python list per sentence would take gigabytes.

    Each sequence ends with the end of sentence.
    """

    def __init__(self, sources: Ids, targets: Ids, max_tokens: int) -> None:
        both = zip(sources, targets, strict=True)
        fits = [i for i, (s, t) in enumerate(both) if max(len(s), len(t)) < max_tokens]
        self._sources = _Ragged([sources[i] for i in fits])
        self._targets = _Ragged([targets[i] for i in fits])

    def __len__(self) -> int:
        return len(self._sources.lengths)

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Lengths of the sources and of the targets."""
        return self._sources.lengths, self._targets.lengths

    def batch(self, indices: NDArray[np.int64]) -> Batch:
        """Pad the examples ``indices`` to one batch."""
        source, source_lengths = self._sources.pad(indices)
        target, target_lengths = self._targets.pad(indices)
        return Batch(source, source_lengths, target, target_lengths)


class _Ragged:
    """Sequences of different lengths, end to end."""

    def __init__(self, sequences: Ids) -> None:
        self.lengths = np.array([len(ids) + 1 for ids in sequences], dtype=np.int64)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._ids = np.full(int(self.lengths.sum()), EOS, dtype=np.int32)
        for start, ids in zip(self._starts, sequences, strict=True):
            self._ids[start : start + len(ids)] = ids

    def pad(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lengths = self.lengths[indices]
        columns = np.arange(lengths.max())
        inside = columns[None, :] < lengths[:, None]  # shape: (sentences, length)
        places = np.where(inside, self._starts[indices][:, None] + columns[None, :], 0)
        return np.where(inside, self._ids[places], EOS).astype(np.int64), lengths


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

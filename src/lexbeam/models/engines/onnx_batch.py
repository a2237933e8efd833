"""What stays the same during the steps of a batch on ONNX Runtime, and how tokens map to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import IntArray

_COMPACT_AT = 4  # drop the memory of finished sentences when there is one per this many others
_WIDTH_MULTIPLE = 16  # candidates fill whole vectors of the runtime's kernels


class Batch(NamedTuple):
    """What stays the same during the steps of a batch."""

    size: int
    memory: dict[str, NDArray[Any]]  # first axis: sentences
    ids: IntArray | None  # shape: (sentences, width), the id of each candidate
    index_of_id: IntArray | None  # shape: (sentences, vocabulary + 1), the candidate of each id
    single: bool  # one sentence from the start, and a decoder made for that
    for_draft: Mapping[str, NDArray[Any]] = {}  # what its steps don't need, but its draft does


def tabulate(
    lists: Sequence[IntArray], vocabulary: int, never: tuple[int, ...]
) -> tuple[IntArray, IntArray]:
    """Return the candidates of each sentence as a table, and the index of each id in it.

    The end of sentence, the first of ``never``, comes first. The last candidate is always an id
    of no token (the vocabulary's size), whose score is minus infinity; the index of every token
    that is not listed points there.
    """
    width = -(-(max(map(len, lists)) + 2) // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE
    ids = np.full((len(lists), width), vocabulary, np.int64)
    index = np.full((len(lists), vocabulary + 1), -1, np.int64)
    listed = np.ones(vocabulary + 1, np.bool_)
    listed[list(never)] = False
    for row, index_of, candidates in zip(ids, index, lists, strict=True):
        others = candidates[listed[candidates]]
        row[0] = never[0]
        row[1 : len(others) + 1] = others
        index_of[row[: len(others) + 1]] = np.arange(len(others) + 1)
    return ids, index


def unlisted_weights(index: IntArray, sample: IntArray) -> NDArray[np.float32]:
    """Return how many tokens each one of a sample stands for, as logarithms.

    Those of the sample that are not on a sentence's list stand for all tokens that are not, in
    equal parts; those on it for none. ``index`` is the table that `tabulate` returns.

    # shape: (sentences, sample)
    """
    unlisted = index[:, sample] < 0
    in_sample = unlisted.sum(axis=1)
    in_all = (index[:, :-1] < 0).sum(axis=1)
    each = np.log(np.maximum(in_all, 1) / np.maximum(in_sample, 1))
    return np.where(unlisted, each[:, None], -np.inf).astype(np.float32)


def indices(batch: Batch, sentences: IntArray, tokens: IntArray) -> IntArray:
    """Return the candidates that tokens are; PAD and what is not listed is -1, the last one."""
    if batch.index_of_id is None or not tokens.size:
        return tokens
    if batch.size == 1:
        found: IntArray = batch.index_of_id[0].take(tokens)
        return found
    return batch.index_of_id[sentences[:, None], tokens]


def without_finished(batch: Batch, sentences: IntArray) -> tuple[Batch, IntArray]:
    """Drop the memory of sentences that have no rows any more, when it is worth a copy."""
    if batch.size == 1:
        return batch, sentences
    alive = np.zeros(batch.size, bool)
    alive[sentences] = True
    kept = np.flatnonzero(alive)
    if (batch.size - len(kept)) * _COMPACT_AT < len(kept):
        return batch, sentences
    smaller = Batch(
        len(kept),
        {name: value[kept] for name, value in batch.memory.items()},
        None if batch.ids is None else batch.ids[kept],
        None if batch.index_of_id is None else batch.index_of_id[kept],
        single=False,  # what is left may be padded
    )
    return smaller, (np.cumsum(alive) - 1)[sentences]


@lru_cache(maxsize=256)
def _always_excluded(rows: int, indices: tuple[int, ...]) -> tuple[IntArray, NDArray[np.float32]]:
    row = np.repeat(np.arange(rows), len(indices))
    excluded = np.stack([row, np.tile(indices, rows)], axis=1)
    return excluded, np.full(len(excluded), -np.inf, np.float32)


def exclude(
    batch: Batch,
    sentences: IntArray,
    ban: IntArray,
    hold: NDArray[np.bool_] | None,
    never: tuple[int, ...],
    word_starts: NDArray[np.bool_] | None,
) -> tuple[IntArray, NDArray[np.float32]]:
    """Return what may not be among the best: end of sentence, banned tokens, word starts.

    ``never`` are tokens that may not be among them whatever the row; the candidates of a batch
    have only the first of them, the end of sentence.
    # shape: (excluded, 2), row and index of each; (excluded,), minus infinity for each
    """
    rows = len(sentences)
    excluded, scores = _always_excluded(rows, never if batch.ids is None else (0,))
    if not ban.size and hold is None:
        return excluded, scores
    parts = [excluded]
    if ban.size:
        row = np.repeat(np.arange(rows), ban.shape[1])
        parts.append(np.stack([row, indices(batch, sentences, ban).ravel()], axis=1))
    if hold is not None and word_starts is not None:
        held = np.flatnonzero(hold)
        starts = (
            np.broadcast_to(word_starts, (len(held), len(word_starts)))
            if batch.ids is None
            else word_starts[batch.ids[sentences[held]]]
        )
        row, index = np.nonzero(starts)
        parts.append(np.stack([held[row], index], axis=1))
    excluded = np.concatenate(parts)
    return excluded, np.full(len(excluded), -np.inf, np.float32)

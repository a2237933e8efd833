"""The tokens that each sentence may say, as tables: its shortlist, and what is not on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import IntArray

_WIDTH_MULTIPLE = 16  # candidates fill whole vectors of the runtime's kernels


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
    may_be_said = np.ones(vocabulary, bool)
    may_be_said[list(never)] = False
    for row, index_of, candidates in zip(ids, index, lists, strict=True):
        others = candidates[may_be_said[candidates]]
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

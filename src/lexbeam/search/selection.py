"""Ranking candidates and filling the slots of banks, for whole batches.

A bank's slots are filled with its best candidates (paper, section 3.2). What is selected must
not be left to chance: of equal candidates the first is taken, so that a batch gives what its
sentences give one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.arrays import IntArray, ScoreArray, flat_indices, pick

NO_CANDIDATE = -np.inf
"""The score of an entry that holds no candidate."""

_SMALL = 4096
"""Up to so many scores, sorting all of them is quicker than finding the best first."""


class Selection(NamedTuple):
    """The candidates that fill the beam: by bank from the top, within a bank the best first."""

    indices: IntArray  # shape: (sentences, beam)
    taken: NDArray[np.bool_]  # shape: (sentences, beam), False where candidates ran out


def select_best(score: ScoreArray, k: int) -> Selection:
    """Select the k best candidates of each sentence, whatever their bank."""
    return take(k_best(score, k), score)


def take(indices: IntArray, score: ScoreArray) -> Selection:
    """Select given candidates, as far as there is a candidate at the index."""
    return Selection(indices, pick(score, indices) > NO_CANDIDATE)


def select_by_slots(bank: IntArray, score: ScoreArray, slots: IntArray, k: int) -> Selection:
    """Select by the slots of each bank before adjustment, k in all, in the compiled kernel."""
    return _select_compiled(bank, score, slots, k, 0.0)


def _select_compiled(
    bank: IntArray, score: ScoreArray, slots: IntArray | None, k: int, handicap: float
) -> Selection:
    assert kernel.compiled is not None
    sentences, room = len(bank), k * len(bank)
    indices, taken = np.empty(room, np.int64), np.empty(room, np.bool_)
    given = bank, score, slots, sentences, k, handicap, indices, taken
    width = kernel.call(kernel.compiled.select, *given)
    size, shape = sentences * width, (sentences, width)
    return Selection(indices[:size].reshape(shape), taken[:size].reshape(shape))


def select_by_price(bank: IntArray, score: ScoreArray, k: int, handicap: float) -> Selection:
    """Select the k best of each sentence, after each was set back by its rank in its bank."""
    if kernel.compiled is not None:
        return _select_compiled(bank, score, None, k, handicap)
    ranked = rank_by_bank(bank, score, bank.shape[1])
    set_back = pick(score, ranked) - handicap * ranks_in_bank(pick(bank, ranked))
    best = k_best(set_back, k)
    best.sort(axis=1)
    return take(pick(ranked, best), score)


def count(bank: IntArray, score: ScoreArray, banks: int) -> IntArray:
    """Return how many candidates each bank has. # shape: (sentences, banks)."""
    flat = flat_indices(bank, len(bank), banks)[score > NO_CANDIDATE]
    return np.bincount(flat, minlength=len(bank) * banks).reshape(-1, banks)


def fill(
    bank: IntArray, score: ScoreArray, counts: IntArray, slots: IntArray, beam: int
) -> Selection:
    """Fill the slots of each bank with its best candidates."""
    ranked = rank_by_bank(bank, score, bank.shape[1])
    ranks = np.arange(ranked.shape[1])
    # What is closed comes last and may have any bank, as of a constraint of another sentence.
    banks = np.minimum(pick(bank, ranked), counts.shape[1] - 1)
    chosen = ranks < pick(count_above(counts) + slots, banks)
    filled = slots.sum(axis=1)
    if (filled == beam).all():
        return Selection(ranked[chosen].reshape(-1, beam), np.ones((len(bank), beam), np.bool_))
    chosen_first = (~chosen).argsort(axis=1, kind="stable")[:, :beam]
    return Selection(pick(ranked, chosen_first), ranks[:beam] < filled[:, None])


def k_best(scores: ScoreArray, k: int) -> IntArray:
    """Return the indices of the k highest scores of each row, best first, of equals the first.

    # shape: (rows, k), or fewer columns where there are fewer scores.
    """
    n = scores.shape[1]
    if scores.size <= _SMALL or k >= n:
        return (-scores).argsort(axis=1, kind="stable")[:, :k]
    kth = np.partition(scores, n - k, axis=1)[:, n - k, None]
    above, level = scores > kth, scores == kth
    missing = k - np.count_nonzero(above, axis=1)
    chosen = above | (level & (level.cumsum(axis=1) <= missing[:, None]))
    indices = chosen.nonzero()[1].reshape(-1, k)
    order = (-pick(scores, indices)).argsort(axis=1, kind="stable")
    return pick(indices, order)


def rank_by_bank(bank: IntArray, score: ScoreArray, k: int) -> IntArray:
    """Return the first k candidates of each sentence by bank from the top, then by score."""
    real = score > NO_CANDIDATE
    if score.size <= _SMALL or k >= score.shape[1]:
        return np.lexsort((-score, np.where(real, -bank, 1)))[:, :k]
    lowest = np.where(real, score, 0.0).min()
    span = max(score.max(), 0.0) - lowest + 1.0
    return k_best(score + bank * span, k)


def ranks_in_bank(banks: IntArray) -> IntArray:
    """Return the rank of each candidate in its bank. # shape: as banks.

    The candidates of a bank have to stand side by side, as `rank_by_bank` puts them.
    """
    indices = np.arange(banks.shape[1])
    first = np.zeros(banks.shape, np.int64)
    np.multiply(indices[1:], banks[:, 1:] != banks[:, :-1], out=first[:, 1:])
    ranks: IntArray = indices - np.maximum.accumulate(first, axis=1)
    return ranks


def count_above(counts: IntArray) -> IntArray:
    """Return how many candidates are in the banks above each bank. # shape: as counts."""
    above: IntArray = counts[:, ::-1].cumsum(axis=1)[:, ::-1] - counts
    return above

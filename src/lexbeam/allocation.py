"""How the beam is divided among the banks (paper, section 3.2).

A bank holds the hypotheses that have met the same number of constraint tokens. Candidates are
grouped into banks, each bank is given some slots of the beam, and its best candidates fill
them. What sets the algorithms apart is only how many slots a bank gets:

- dynamic beam allocation (`Dba`): a fixed beam, equal slots a bank, the remainder to the top
  bank; slots that a bank can't use go to the nearest banks that can;
- grid beam search (`Gbs`): a beam of its own for each bank, so that it grows with C;
- constrained beam search (`Cbs`): a beam of its own for each *set* of constraints met, so
  that it grows with 2^C;
- plain beam search (`Plain`): one bank.

All of it works on whole batches: arrays are (sentences, banks) or (sentences, candidates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexbeam.scorer import FloatArray, IntArray
from lexbeam.tables import pick, starts

NO_CANDIDATE = -np.inf
"""The score of a place in the candidates that holds none."""

_SMALL = 4096


class Selection(NamedTuple):
    """The candidates that fill the beam, those with more constraints met and better ones first."""

    places: IntArray  # shape: (sentences, beam)
    taken: NDArray[np.bool_]  # shape: (sentences, beam), False where candidates ran out


class Policy(Protocol):
    """A way to divide the beam; see the module for the four there are."""

    @property
    def base(self) -> int:
        """The beam size that the user named."""
        ...

    @property
    def by_set(self) -> bool:
        """Whether banks are told apart by which constraints are met, not by how many tokens."""
        ...

    def beam_sizes(self, sizes: IntArray, sets: IntArray) -> IntArray:
        """Return the beam of sentences with so many constraint tokens and possible sets."""
        ...

    def select(self, bank: IntArray, score: FloatArray, sizes: IntArray, beam: int) -> Selection:
        """Choose the new beam of each sentence from its candidates.

        ``bank`` and ``score`` have # shape: (sentences, candidates); ``sizes``, the number
        of constraint tokens C, # shape: (sentences,). ``beam`` is the largest of the batch.
        """
        ...


@dataclass(frozen=True)
class Plain:
    """Plain beam search: all candidates are in one bank."""

    base: int
    by_set: bool = False

    def beam_sizes(self, sizes: IntArray, sets: IntArray) -> IntArray:  # noqa: ARG002
        """Return the same beam for every sentence."""
        return np.full_like(sizes, self.base)

    def select(
        self,
        bank: IntArray,  # noqa: ARG002
        score: FloatArray,
        sizes: IntArray,  # noqa: ARG002
        beam: int,
    ) -> Selection:
        """Take the best candidates, whatever they have met."""
        return _take_best(k_best(score, beam), score)


@dataclass(frozen=True)
class Dba:
    """Dynamic beam allocation: k slots, divided anew at every step."""

    base: int
    by_set: bool = False

    def beam_sizes(self, sizes: IntArray, sets: IntArray) -> IntArray:  # noqa: ARG002
        """Return the same beam for every sentence: that is what the paper is about."""
        return np.full_like(sizes, self.base)

    def select(self, bank: IntArray, score: FloatArray, sizes: IntArray, beam: int) -> Selection:
        """Allocate, adjust, fill."""
        # With as many constraint tokens as slots or more, a bank's equal share is none: all
        # slots begin in the top bank and move down, so the beam is filled from the top.
        shared = (sizes > 0) & (sizes < beam)
        if not shared.any():
            return _take_best(_by_bank(bank, score, beam), score)
        counts = count(bank, score, int(sizes.max()) + 1)
        slots = from_top(beam, counts)
        banks = int(sizes[shared].max()) + 1
        slots[shared, :banks] = adjust(allocate(beam, sizes[shared]), counts[shared, :banks])
        return fill(bank, score, counts, slots, beam)


@dataclass(frozen=True)
class Gbs:
    """Grid beam search: ``base`` slots for each bank, used or not."""

    base: int
    by_set: bool = False

    def beam_sizes(self, sizes: IntArray, sets: IntArray) -> IntArray:  # noqa: ARG002
        """Return b(C + 1): the beam grows with the constraints."""
        return self.base * (sizes + 1)

    def select(self, bank: IntArray, score: FloatArray, sizes: IntArray, beam: int) -> Selection:
        """Fill each bank by itself."""
        counts = count(bank, score, int(sizes.max()) + 1)
        return fill(bank, score, counts, np.minimum(counts, self.base), beam)


@dataclass(frozen=True)
class Cbs:
    """Constrained beam search: ``base`` slots for each set of met constraints."""

    base: int
    by_set: bool = True

    def beam_sizes(self, sizes: IntArray, sets: IntArray) -> IntArray:  # noqa: ARG002
        """Return b for each set: the beam grows exponentially."""
        return self.base * sets

    def select(
        self,
        bank: IntArray,
        score: FloatArray,
        sizes: IntArray,  # noqa: ARG002
        beam: int,
    ) -> Selection:
        """Fill each bank by itself; the banks' numbers stand for sets here."""
        counts = count(bank, score, int(bank.max()) + 1)
        return fill(bank, score, counts, np.minimum(counts, self.base), beam)


POLICIES: dict[str, Callable[[int], Policy]] = {"dba": Dba, "gbs": Gbs, "cbs": Cbs, "beam": Plain}


def allocate(beam: int, sizes: IntArray) -> IntArray:
    """Give every bank the same slots, the remainder to the top bank.

    # shape: (sentences, banks). A sentence with C constraint tokens has C + 1 banks (the
    paper's text divides by C; its figure and its authors' code by the number of banks).
    """
    equal = beam // (sizes + 1)
    slots = np.where(np.arange(sizes.max() + 1) <= sizes[:, None], equal[:, None], 0)
    slots[np.arange(len(sizes)), sizes] += beam - equal * (sizes + 1)
    return slots


def adjust(slots: IntArray, counts: IntArray) -> IntArray:
    """Move slots that a bank can't use to the nearest banks that can (bank adjustment).

    Banks look one step away first, then two, and so on, moving outward; of two equally near
    banks the one with more constraints met is served first.
    """
    spare = np.maximum(slots - counts, 0)  # shape: (sentences, banks)
    lacking = np.maximum(counts - slots, 0)
    slots = np.minimum(slots, counts)
    for distance in range(1, slots.shape[1]):
        if not (spare.any(axis=1) & lacking.any(axis=1)).any():
            break
        lower, upper = np.s_[:, :-distance], np.s_[:, distance:]
        for giver, taker in ((lower, upper), (upper, lower)):
            moved = np.minimum(spare[giver], lacking[taker])
            spare[giver] -= moved
            lacking[taker] -= moved
            slots[taker] += moved
    return slots


def from_top(beam: int, counts: IntArray) -> IntArray:
    """Give all slots to the top bank, what it can't use to the next, and so on down."""
    above = _above(counts)
    slots: IntArray = np.minimum(above + counts, beam) - np.minimum(above, beam)
    return slots


def _above(counts: IntArray) -> IntArray:
    """Return how many candidates are in the banks above each. # shape: as counts."""
    above: IntArray = counts[:, ::-1].cumsum(axis=1)[:, ::-1] - counts
    return above


def count(bank: IntArray, score: FloatArray, banks: int) -> IntArray:
    """Return how many candidates each bank has. # shape: (sentences, banks)."""
    sentences = len(bank)
    where = bank + starts(sentences, banks)[:, None]
    real = score > NO_CANDIDATE
    return np.bincount(where[real], minlength=sentences * banks).reshape(sentences, banks)


def fill(
    bank: IntArray, score: FloatArray, counts: IntArray, slots: IntArray, beam: int
) -> Selection:
    """Fill the slots of each bank with its best candidates."""
    ranked = _by_bank(bank, score, bank.shape[1])
    bank_of_ranked = pick(bank, ranked)
    rank_in_bank = np.arange(bank.shape[1]) - pick(_above(counts), bank_of_ranked)
    chosen = rank_in_bank < pick(slots, bank_of_ranked)
    chosen &= pick(score, ranked) > NO_CANDIDATE
    chosen_first = (~chosen).argsort(axis=1, kind="stable")[:, :beam]
    return Selection(pick(ranked, chosen_first), pick(chosen, chosen_first))


def k_best(keys: FloatArray, k: int) -> IntArray:
    """Return the places of the k largest keys of each row, best first, of equals the first.

    # shape: (rows, k), or fewer columns where there are fewer keys. Equals must not be left
    to chance: a batch has to give what its sentences give one by one.
    """
    n = keys.shape[1]
    if keys.size <= _SMALL or k >= n:
        return (-keys).argsort(axis=1, kind="stable")[:, :k]
    kth = np.partition(keys, n - k, axis=1)[:, n - k, None]
    above, level = keys > kth, keys == kth
    missing = k - np.count_nonzero(above, axis=1)
    chosen = above | (level & (level.cumsum(axis=1) <= missing[:, None]))
    places = chosen.nonzero()[1].reshape(-1, k)
    order = (-pick(keys, places)).argsort(axis=1, kind="stable")
    return pick(places, order)


def _take_best(places: IntArray, score: FloatArray) -> Selection:
    return Selection(places, pick(score, places) > NO_CANDIDATE)


def _by_bank(bank: IntArray, score: FloatArray, k: int) -> IntArray:
    """Return the first k candidates of each sentence by bank, then score. # shape: (…, k)."""
    real = score > NO_CANDIDATE
    if score.size <= _SMALL:
        return np.lexsort((-score, np.where(real, -bank, 1)))[:, :k]
    lowest = score.min(where=real, initial=np.inf)
    span = score.max(initial=lowest) - lowest + 1.0
    return k_best(bank * span + score if np.isfinite(span) else score, k)

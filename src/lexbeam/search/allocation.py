"""How the beam is divided among the banks (paper, section 3.2).

A bank holds the hypotheses that have met the same number of constraint tokens. Candidates are
grouped into banks, each bank is given some slots of the beam, and its best candidates fill
them. What sets the algorithms apart is only how many slots a bank gets:

- dynamic beam allocation (`Dba`): a fixed beam, equal slots a bank, the remainder to the top
  bank; slots that a bank can't use go to the nearest banks that can;
- looking ahead (`Lookahead`): a fixed beam for the best by score and expected price of what is
  unmet, with a preference for banks that have little yet; not in the paper;
- grid beam search (`Gbs`): a beam of its own for each bank, so that it grows with C;
- constrained beam search (`Cbs`): a beam of its own for each *set* of constraints met, so
  that it grows with 2^C;
- plain beam search (`Plain`): one bank.

All of it works on whole batches: arrays are (sentences, banks) or (sentences, candidates).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import IntArray, ScoreArray, pick, through

NO_CANDIDATE = -np.inf
"""The score of a place in the candidates that holds none."""

HANDICAP = 0.5
"""How much better a bank's next candidate must be, in mean prices of a constraint."""

_SMALL = 4096


class Selection(NamedTuple):
    """The candidates that fill the beam: by bank from the top, in a bank the best first."""

    places: IntArray  # shape: (sentences, beam)
    taken: NDArray[np.bool_]  # shape: (sentences, beam), False where candidates ran out


class Policy(Protocol):
    """A way to divide the beams of a batch; see the module for those there are.

    It is made anew when sentences leave, from their numbers of constraint tokens.
    """

    @property
    def beam(self) -> int:
        """The largest beam of the batch."""
        ...

    @property
    def beam_sizes(self) -> IntArray | None:
        """The beam of each sentence, # shape: (sentences,); None: all are of one size."""
        ...

    @property
    def by_set(self) -> bool:
        """Whether a bank is a set of constraint tokens, not a number of them."""
        ...

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Choose the new beam of each sentence among its candidates.

        # shape of both: (sentences, candidates).
        """
        ...


class Plain:
    """Plain beam search: all candidates are in one bank."""

    by_set = False
    beam_sizes = None

    def __init__(self, base: int, sizes: IntArray, sets: IntArray) -> None:  # noqa: ARG002
        self.beam = base

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:  # noqa: ARG002
        """Take the best candidates, whatever they have met."""
        return _take(k_best(score, self.beam), score)


class Dba:
    """Dynamic beam allocation: the slots of a fixed beam are divided anew at every step."""

    by_set = False
    beam_sizes = None

    def __init__(self, base: int, sizes: IntArray, sets: IntArray) -> None:  # noqa: ARG002
        self.beam = base
        self._banks = int(sizes.max(initial=0)) + 1
        self._slots = allocate(base, sizes)
        # With as many constraint tokens as slots or more, a bank's equal share is none: all
        # slots begin in the top bank and move down, so the beam is filled from the top.
        topped = ((sizes == 0) | (sizes >= base))[:, None]
        self._all_from_top = bool(topped.all())
        self._from_top = topped if topped.any() else None  # shape: (sentences, 1)

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Allocate, adjust, fill (paper, section 3.2)."""
        if self._all_from_top:
            return _take(_by_bank(bank, score, self.beam), score)
        counts = count(bank, score, self._banks)
        if len(bank) == 1:
            return self._select_one(_by_bank(bank, score, bank.shape[1]), counts[0].tolist())
        if self._from_top is None:
            return fill(bank, score, counts, adjust(self._slots, counts), self.beam)
        slots = adjust(self._slots, np.where(self._from_top, 0, counts))
        slots += np.where(self._from_top, from_top(self.beam, counts), 0)
        return fill(bank, score, counts, slots, self.beam)

    def _select_one(self, ranked: IntArray, counts: list[int]) -> Selection:
        """Select for a single sentence: for so few banks arrays would be too slow."""
        slots = _adjust_one(self._slots[0].tolist(), counts)
        ranks: list[int] = []
        first = 0
        for inside, allowed in zip(reversed(counts), reversed(slots), strict=True):
            ranks.extend(range(first, first + allowed))
            first += inside
        return Selection(ranked[:, ranks], np.ones((1, len(ranks)), np.bool_))


class Lookahead:
    """A fixed beam for the candidates with the best prospects, whatever their bank.

    Scores are those of `search.future_cost`, which can be compared across banks. They are estimates
    all the same: so each bank's best candidate goes in as it is, and every further one of a bank
    has to be better by `HANDICAP`.
    """

    by_set = False
    beam_sizes = None

    def __init__(self, base: int, sizes: IntArray, sets: IntArray) -> None:  # noqa: ARG002
        self.beam = base

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Take the best, after each has been set back by its rank in its bank."""
        ranked = _by_bank(bank, score, bank.shape[1])
        handicapped = pick(score, ranked) - HANDICAP * _ranks(pick(bank, ranked))
        best = k_best(handicapped, self.beam)
        best.sort(axis=1)
        return _take(pick(ranked, best), score)


class Gbs:
    """Grid beam search: ``base`` slots for each bank, used or not; the beam grows with C."""

    by_set = False

    def __init__(self, base: int, sizes: IntArray, sets: IntArray) -> None:  # noqa: ARG002
        self._base = base
        self._banks = int(sizes.max(initial=0)) + 1
        self.beam = base * self._banks
        self.beam_sizes = base * (sizes + 1)

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Fill each bank by itself."""
        counts = count(bank, score, self._banks)
        return fill(bank, score, counts, np.minimum(counts, self._base), self.beam)


class Cbs:
    """Constrained beam search: ``base`` slots for each set; the beam grows with 2^C."""

    by_set = True

    def __init__(self, base: int, sizes: IntArray, sets: IntArray) -> None:  # noqa: ARG002
        self._base = base
        self.beam_sizes = base * sets
        self.beam = base * int(sets.max(initial=0))

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Fill each bank by itself; the banks' numbers stand for sets here."""
        counts = count(bank, score, int(bank.max(initial=0)) + 1)
        return fill(bank, score, counts, np.minimum(counts, self._base), self.beam)


POLICIES: dict[str, Callable[[int, IntArray, IntArray], Policy]] = {
    "dba": Dba,
    "lookahead": Lookahead,
    "gbs": Gbs,
    "cbs": Cbs,
    "beam": Plain,
}


def allocate(beam: int, sizes: IntArray) -> IntArray:
    """Give every bank the same slots, the remainder to the top bank.

    # shape: (sentences, banks). A sentence with C constraint tokens has C + 1 banks (the
    paper's text divides by C; its figure and its authors' code by the number of banks).
    """
    equal = beam // (sizes + 1)
    banks = np.arange(sizes.max(initial=0) + 1)
    slots = np.where(banks <= sizes[:, None], equal[:, None], 0)
    slots[np.arange(len(sizes)), sizes] += beam - equal * (sizes + 1)
    return slots


def adjust(slots: IntArray, counts: IntArray) -> IntArray:
    """Move slots that a bank can't use to the nearest banks that can (bank adjustment).

    ``counts`` are the candidates of each bank. # shape of both: (sentences, banks). Banks look
    one step away first, then two, and so on, moving outward; of two equally near banks the one
    with more constraints met is served first.
    """
    spare = np.maximum(slots - counts, 0)
    lacking = np.maximum(counts - slots, 0)
    slots = np.minimum(slots, counts)
    to_move = int(np.minimum(spare.sum(axis=1), lacking.sum(axis=1)).sum())
    distance = 0
    while to_move:
        distance += 1
        lower, upper = np.s_[:, :-distance], np.s_[:, distance:]
        for giver, taker in ((lower, upper), (upper, lower)):
            moved = np.minimum(spare[giver], lacking[taker])
            spare[giver] -= moved
            lacking[taker] -= moved
            slots[taker] += moved
            to_move -= int(moved.sum())
    return slots


def _adjust_one(slots: list[int], counts: list[int]) -> list[int]:
    """Adjust the banks of a single sentence, as `adjust` does those of many."""
    banks = range(len(slots))
    spare = [max(slots[bank] - counts[bank], 0) for bank in banks]
    lacking = [max(counts[bank] - slots[bank], 0) for bank in banks]
    slots = [min(slots[bank], counts[bank]) for bank in banks]
    to_move = min(sum(spare), sum(lacking))
    distance = 0
    while to_move:
        distance += 1
        for outward in (distance, -distance):
            for giver in banks:
                taker = giver + outward
                if spare[giver] and taker in banks and lacking[taker]:
                    moved = min(spare[giver], lacking[taker])
                    spare[giver] -= moved
                    lacking[taker] -= moved
                    slots[taker] += moved
                    to_move -= moved
    return slots


def from_top(beam: int, counts: IntArray) -> IntArray:
    """Give all slots to the top bank, what it can't use to the next, and so on down."""
    above = _above(counts)
    slots: IntArray = np.minimum(above + counts, beam) - np.minimum(above, beam)
    return slots


def count(bank: IntArray, score: ScoreArray, banks: int) -> IntArray:
    """Return how many candidates each bank has. # shape: (sentences, banks)."""
    where = through(bank, len(bank), banks)[score > NO_CANDIDATE]
    return np.bincount(where, minlength=len(bank) * banks).reshape(-1, banks)


def fill(
    bank: IntArray, score: ScoreArray, counts: IntArray, slots: IntArray, beam: int
) -> Selection:
    """Fill the slots of each bank with its best candidates."""
    ranked = _by_bank(bank, score, bank.shape[1])
    ranks = np.arange(ranked.shape[1])
    chosen = ranks < pick(_above(counts) + slots, pick(bank, ranked))
    filled = slots.sum(axis=1)
    if (filled == beam).all():
        return Selection(ranked[chosen].reshape(-1, beam), np.ones((len(bank), beam), np.bool_))
    chosen_first = (~chosen).argsort(axis=1, kind="stable")[:, :beam]
    return Selection(pick(ranked, chosen_first), ranks[:beam] < filled[:, None])


def k_best(keys: ScoreArray, k: int) -> IntArray:
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


def _take(places: IntArray, score: ScoreArray) -> Selection:
    return Selection(places, pick(score, places) > NO_CANDIDATE)


def _ranks(banks: IntArray) -> IntArray:
    """Return the rank of each in its bank, where a bank's stand side by side. # shape: as banks."""
    places = np.arange(banks.shape[1])
    first = np.zeros(banks.shape, np.int64)
    np.multiply(places[1:], banks[:, 1:] != banks[:, :-1], out=first[:, 1:])
    ranks: IntArray = places - np.maximum.accumulate(first, axis=1)
    return ranks


def _above(counts: IntArray) -> IntArray:
    """Return how many candidates are in the banks above each. # shape: as counts."""
    above: IntArray = counts[:, ::-1].cumsum(axis=1)[:, ::-1] - counts
    return above


def _by_bank(bank: IntArray, score: ScoreArray, k: int) -> IntArray:
    """Return the first k candidates of each sentence by bank from the top, then by score."""
    real = score > NO_CANDIDATE
    if score.size <= _SMALL or k >= score.shape[1]:
        return np.lexsort((-score, np.where(real, -bank, 1)))[:, :k]
    lowest = np.where(real, score, 0.0).min()
    span = max(score.max(), 0.0) - lowest + 1.0
    return k_best(score + bank * span, k)

"""How the beam is divided among the banks (paper, section 3.2).

A bank holds the hypotheses that have met the same number of constraint tokens. Candidates are
grouped into banks, each bank is given some slots of the beam, and its best candidates fill them.
The algorithms differ only in how many slots a bank gets. Each is one class, registered under the
name that users choose it by:

- ``dba``, dynamic beam allocation (`Dba`): a beam of fixed size, equal slots per bank, the
  remainder to the top bank; slots that a bank can't use go to the nearest banks that can;
- ``lookahead`` (`Lookahead`): a beam of fixed size for the best by score and expected cost of
  what is unmet, with a preference for banks that have few slots yet; not in the paper;
- ``gbs``, grid beam search (`Gbs`): a beam per bank, so that it grows with C;
- ``cbs``, constrained beam search (`Cbs`): a beam per *set* of constraints met, so that it grows
  with 2^C;
- ``beam``, plain beam search (`Plain`): a single bank.

To add one, write a class here (or anywhere that is imported) and register it: search, command
line, studies and traces read from the class all that they need to know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from lexbeam.search import kernel
from lexbeam.search.adjustment import Move, adjust, adjust_one, find_moves
from lexbeam.search.arrays import BoolArray, IntArray, ScoreArray
from lexbeam.search.selection import (
    Selection,
    count,
    count_above,
    fill,
    rank_by_bank,
    select_best,
    select_by_price,
    select_by_slots,
    take,
)

HANDICAP = 0.5
"""How much better the next candidate of a bank must be, in mean costs of a constraint token."""

TOKENS_PER_WORD = 1.4
"""About how many tokens a demanded word has."""


class Explanation(NamedTuple):
    """How the slots of one sentence came to its banks at one step, for a reader."""

    given: list[int] | None
    """The slots of each bank before adjustment; None: banks have no slots of their own."""
    moves: list[Move]
    """The slots that adjustment moved between banks."""


class Policy(ABC):
    """A way to divide the beams of a batch among banks.

    A policy is made anew when sentences leave the batch, from the constraint tokens of those that
    are left (``sizes``) and, if it needs sets, the number of sets that each can meet (``sets``).
    """

    needs_sets: ClassVar[bool] = False
    """Whether a bank is a set of constraint tokens, not a number of them."""
    needs_future_cost: ClassVar[bool] = False
    """Whether scores have to include the expected cost of unmet constraints (`future_cost`)."""
    has_banks: ClassVar[bool] = True
    """Whether the beam is divided at all."""
    beam_per_bank: ClassVar[bool] = False
    """Whether the beam size is that of each bank, so that the beam grows with the constraints."""

    beam: int
    """The largest beam of the batch."""
    beam_sizes: IntArray | None = None
    """The beam of each sentence, # shape: (sentences,); None: all have one size."""

    def __init__(self, beam_size: int, sizes: IntArray, sets: IntArray) -> None:  # noqa: ARG002
        self.beam = beam_size

    @abstractmethod
    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Choose the new beam of each sentence among its candidates.

        # shape of both: (sentences, candidates).
        """

    def explain(self, counts: Sequence[int]) -> Explanation:  # noqa: ARG002
        """Say how the slots of the only sentence were divided, given its candidates by bank."""
        return Explanation(None, [])

    @classmethod
    def usual_banks(cls, words: int) -> float:  # noqa: ARG003
        """Return about how many beams there are side by side when so many words are demanded."""
        return 1.0


POLICIES: dict[str, type[Policy]] = {}
"""All policies by name."""

_Class = TypeVar("_Class", bound=type[Policy])


def register(name: str) -> Callable[[_Class], _Class]:
    """Make a policy known by a name."""

    def add(policy: _Class) -> _Class:
        POLICIES[name] = policy
        return policy

    return add


@register("dba")
class Dba(Policy):
    """Dynamic beam allocation: the slots of a fixed beam are divided anew at every step."""

    def __init__(self, beam_size: int, sizes: IntArray, sets: IntArray) -> None:
        super().__init__(beam_size, sizes, sets)
        self._banks = int(sizes.max(initial=0)) + 1
        self.slots = allocate(beam_size, sizes)
        """The slots of each bank before adjustment. # shape: (sentences, banks)"""
        # With as many constraint tokens as slots or more, a bank's equal share is none: all
        # slots begin in the top bank and move down, so the beam is filled from the top.
        top_only = ((sizes == 0) | (sizes >= beam_size))[:, None]
        self._all_from_top = bool(top_only.all())
        self._from_top = top_only if top_only.any() else None  # shape: (sentences, 1)

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Allocate, adjust, fill (paper, section 3.2)."""
        if kernel.compiled is not None:
            return select_by_slots(bank, score, self.slots, self.beam)
        if self._all_from_top:
            return take(rank_by_bank(bank, score, self.beam), score)
        counts = count(bank, score, self._banks)
        if len(bank) == 1:
            return self._select_one(rank_by_bank(bank, score, bank.shape[1]), counts[0].tolist())
        if self._from_top is None:
            return fill(bank, score, counts, adjust(self.slots, counts), self.beam)
        slots = adjust(self.slots, np.where(self._from_top, 0, counts))
        slots += np.where(self._from_top, fill_from_top(self.beam, counts), 0)
        return fill(bank, score, counts, slots, self.beam)

    def _select_one(self, ranked: IntArray, counts: list[int]) -> Selection:
        """Select for a single sentence: for so few banks arrays would be too slow."""
        slots = adjust_one(self.slots[0].tolist(), counts)
        ranks: list[int] = []
        first = 0
        for inside, allowed in zip(reversed(counts), reversed(slots), strict=True):
            ranks.extend(range(first, first + allowed))
            first += inside
        return Selection(ranked[:, ranks], np.ones((1, len(ranks)), np.bool_))

    def explain(self, counts: Sequence[int]) -> Explanation:
        """Return the equal shares and what adjustment moves."""
        given = allocate(self.beam, np.array([len(counts) - 1]))[0].tolist()
        return Explanation(given, find_moves(given, counts))


@register("lookahead")
class Lookahead(Policy):
    """A fixed beam for the candidates with the best prospects, whatever their bank.

    Scores are those of `search.future_cost`, which can be compared across banks. They are
    estimates all the same: so each bank's best candidate goes in as it is, and every further one
    of a bank has to be better by `HANDICAP`.
    """

    needs_future_cost = True

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Take the best, after each has been set back by its rank in its bank."""
        return select_by_price(bank, score, self.beam, HANDICAP)


class _BeamPerBank(Policy):
    """A beam for each bank, used or not."""

    beam_per_bank = True

    def __init__(self, beam_size: int, sizes: IntArray, sets: IntArray) -> None:
        super().__init__(beam_size, sizes, sets)
        self._beam_size = beam_size
        self.beam_sizes = beam_size * self._count_banks(sizes, sets)
        self.beam = int(self.beam_sizes.max(initial=0))

    @abstractmethod
    def _count_banks(self, sizes: IntArray, sets: IntArray) -> IntArray:
        """Return how many banks each sentence has. # shape: (sentences,)."""

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Fill each bank by itself."""
        counts = count(bank, score, int(bank.max(initial=0)) + 1)
        return fill(bank, score, counts, np.minimum(counts, self._beam_size), self.beam)

    def explain(self, counts: Sequence[int]) -> Explanation:
        """Return as many slots for every bank."""
        return Explanation([self._beam_size] * len(counts), [])


@register("gbs")
class Gbs(_BeamPerBank):
    """Grid beam search: a beam per bank; the beam grows with C."""

    def _count_banks(self, sizes: IntArray, sets: IntArray) -> IntArray:  # noqa: ARG002
        return sizes + 1

    @classmethod
    def usual_banks(cls, words: int) -> float:
        """Return a bank for each number of tokens."""
        return 1.0 + TOKENS_PER_WORD * words


@register("cbs")
class Cbs(_BeamPerBank):
    """Constrained beam search: a beam per set of constraint tokens; it grows with 2^C."""

    needs_sets = True

    def _count_banks(self, sizes: IntArray, sets: IntArray) -> IntArray:  # noqa: ARG002
        return sets

    @classmethod
    def usual_banks(cls, words: int) -> float:
        """Return a bank for each set of words, and some for words that have begun."""
        return 1.5 * 2.0**words


@register("beam")
class Plain(Policy):
    """Plain beam search: all candidates are in one bank."""

    has_banks = False

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:  # noqa: ARG002
        """Take the best candidates, whatever they have met."""
        return select_best(score, self.beam)


class TwoWidths(Policy):
    """Beams that are wide for some sentences of a batch and narrow for the others.

    ``make`` is the policy by which both are divided; ``wide`` marks the sentences with wide beams.
    # shape of it, ``sizes`` and ``sets``: (sentences,)
    """

    def __init__(
        self,
        make: type[Policy],
        widths: tuple[int, int],
        wide: BoolArray,
        sizes: IntArray,
        sets: IntArray,
    ) -> None:
        narrow, self.beam = widths
        self.beam_sizes = np.where(wide, self.beam, narrow)
        self._parts = [
            (rows, make(width, sizes[rows], sets[rows]))
            for rows, width in ((np.flatnonzero(~wide), narrow), (np.flatnonzero(wide), self.beam))
            if len(rows)
        ]

    def select(self, bank: IntArray, score: ScoreArray) -> Selection:
        """Let each policy choose for its own sentences."""
        found = [(rows, policy.select(bank[rows], score[rows])) for rows, policy in self._parts]
        width = max(selection.indices.shape[1] for _, selection in found)
        indices = np.zeros((len(bank), width), np.int64)
        taken = np.zeros((len(bank), width), np.bool_)
        for rows, selection in found:
            indices[rows, : selection.indices.shape[1]] = selection.indices
            taken[rows, : selection.taken.shape[1]] = selection.taken
        return Selection(indices, taken)


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


def fill_from_top(beam: int, counts: IntArray) -> IntArray:
    """Give all slots to the top bank, what it can't use to the next, and so on down."""
    above = count_above(counts)
    slots: IntArray = np.minimum(above + counts, beam) - np.minimum(above, beam)
    return slots

"""How far hypotheses are with each constraint by itself.

The search only needs their bank, which counts all constraints together. A reader wants to see
which of them have been begun, met and unwound. So every constraint walks through an automaton
of its own, as if it were alone; they lie in one set of tables, like the sentences of a batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import TokenConstraint
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.whole_words import WordBoundaries


class Progress:
    """The constraints of one sentence; one that is given n times is counted once, n times.

    A prefix that the search forces is no constraint here, but is walked through all the same.
    """

    def __init__(
        self,
        demanded: Sequence[TokenConstraint],
        vocabulary_size: int,
        words: WordBoundaries | None,
        eos: int,
    ) -> None:
        self.times: dict[TokenConstraint, int] = dict(Counter(demanded))
        each = [[demand] * times for demand, times in self.times.items()]
        self._automaton = Automaton(each, [[] for _ in each], vocabulary_size, words, eos=eos)
        self.sizes: list[int] = self._automaton.sizes.tolist()
        self._states = self._automaton.start()  # by constraint, then by slot
        self._slots = 1

    @property
    def now(self) -> IntArray:
        """Constraint tokens met by what is on the beam. # shape: (constraints, slots)."""
        return self._states.bank.reshape(len(self.sizes), self._slots)

    def after(self, parents: IntArray, tokens: IntArray) -> IntArray:
        """Return the tokens met by continuations of the beam. # shape: (constraints, tokens)."""
        return self._advance(parents, tokens).bank.reshape(len(self.sizes), len(tokens))

    def move(self, parents: IntArray, tokens: IntArray) -> None:
        """Put other hypotheses on the beam."""
        self._states = self._advance(parents, tokens)
        self._slots = len(tokens)

    def _advance(self, parents: IntArray, tokens: IntArray) -> States:
        first = np.arange(len(self.sizes))[:, None] * self._slots
        states = self._states.take((first + parents).ravel())
        return self._automaton.advance(states, np.tile(tokens, len(self.sizes)))

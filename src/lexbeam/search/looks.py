"""When it is looked at what hypotheses need, where that is long work.

Where plans have to be followed (`automaton.plans`), it takes longer to know what a hypothesis needs
than to extend it. So that is looked at in every step only when room is scarce. In between a
hypothesis may get where no plan leads on; if that becomes of all, the sentence is searched again,
and looked at in every step.
"""

from __future__ import annotations

import numpy as np

from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.states import States

_MOST_LEFT_OUT = 24
"""So many steps are left out at most between two looks."""

_ROOM_FOR_EACH = 4
"""The tokens to spare that allow for each of these steps."""


class Looks:
    """When the sentences of a batch are looked at next."""

    def __init__(
        self, remaining: RemainingTokens | None, sentences: int, leaves_out: bool = True
    ) -> None:
        """Look at some steps only, or, unless anything may be left out, at every one."""
        self._remaining = remaining
        self._leaves_out = leaves_out
        self.sentences = np.arange(sentences)
        """The numbers of those that are left. # shape: (sentences,)"""
        self._next = np.zeros(sentences, np.int64)

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self.sentences = self.sentences[sentences]
        self._next = self._next[sentences]

    def may_have_lost(self, sentence: int) -> bool:
        """Return whether an output of a sentence of the batch may be lost for lack of a look."""
        return self._leaves_out and self._is_guess(sentence)

    def first_steps(self, limits: IntArray) -> IntArray:
        """Return the steps from which on sentences have to be looked at. # shape: (sentences,)."""
        if self._remaining is None:
            return np.full(len(limits), NEVER)
        tight_from = self._remaining.tight_from(limits, self.sentences)
        if not self._leaves_out:
            guessed = [self._is_guess(each) for each in self.sentences.tolist()]
            tight_from = np.where(guessed, 0, tight_from)
        first: IntArray = np.maximum(tight_from, self._next)
        return first

    def look_now(self, sentences: IntArray, step: int) -> None:
        """Look at some sentences from a step on, whatever was to be left out."""
        self._next[sentences] = np.minimum(self._next[sentences], step)

    def look_at_hypotheses(self, here: States, sentence: IntArray, left: IntArray) -> IntArray:
        """Return how much room hypotheses seem to have at least beyond what they need.

        ``here`` are their states, ``sentence`` says whose they are, ``left`` how many tokens each
        may still take. `NEVER` where it is not known. # shape: (sentences,)
        """
        spare = np.full(len(self.sentences), NEVER)
        for row in set(sentence.tolist()):
            number, rows = int(self.sentences[row]), np.flatnonzero(sentence == row)
            if self._leaves_out and self._remaining and self._remaining.follows_plans(number):
                guessed = self._remaining.guess_spare(number, here.take(rows), left[rows])
                spare[row] = guessed.min()
        return spare

    def leave_out(self, spare: IntArray, first: int, is_guess: bool = False) -> bool:
        """Leave out steps from the ``first`` on; return whether there are any to leave out.

        ``spare`` is how much room each sentence has at least; `NEVER`: nobody knows. Unless it is
        a guess, plans were followed for it, and there has to be time to follow others.
        """
        steps = np.clip(spare // _ROOM_FOR_EACH, 0, _MOST_LEFT_OUT)
        steps[spare == NEVER] = 0
        for row in np.flatnonzero(steps).tolist():
            steps[row] *= is_guess or self._has_time(row)
        self._next = np.where(steps > 0, first + steps, self._next)
        return bool(steps.any())

    def _has_time(self, row: int) -> bool:
        """Return whether plans of a sentence are followed, and may be again, given its row."""
        if self._remaining is None or not self._leaves_out:
            return False
        return self._remaining.may_look_away(int(self.sentences[row]))

    def _is_guess(self, sentence: int) -> bool:
        """Return whether more may be needed than is known before anything is looked at."""
        return self._remaining is not None and self._remaining.is_guess(sentence)

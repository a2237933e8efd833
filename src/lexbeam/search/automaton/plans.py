"""Plans: how the output of a state can be ended, one token after the other.

Where a sentence has too many states to work out the need of each, a plan takes its place. The next
token of a plan depends on nothing but the state, so a state's plan is one token longer than that
of the state it leads to: whoever has room for its plan always has a token after which there still
is room. Plans are not the shortest outputs, but they are outputs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lexbeam.search.arrays import IntArray, number_rows
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.beginnings import Beginnings
from lexbeam.search.automaton.followed_plans import MOST_TO_GO_ON, FollowedPlans
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.states import States

_MANY = 1024
"""Of more states than this, equal ones are looked at once."""


class Plans(FollowedPlans):
    """The plans of one sentence.

    ``proven`` says that `SideBySide` is the length of a plan for each state behind a strict
    beginning, so that plans need not be followed to know it.
    """

    def __init__(self, automaton: Automaton, sentence: int, tokens: IntArray, proven: bool) -> None:
        super().__init__(automaton, sentence, tokens)
        self._proven = proven

    def needs(self, states: States, left: int) -> IntArray:
        """Return the length of each state's plan, or, where it is at most ``left``, a bound.

        With ``left`` less than 0 all plans are followed, however long it takes. # shape: (states,)
        """
        if len(states.node) > _MANY:
            shown_by, numbers = _distinct(states)
            if len(shown_by) < len(numbers) // 2:
                return self.needs(states.take(shown_by), left)[numbers]
        if self._proven:
            need = self._needs_of_proven(states, left)
            if not self._known or (need <= left).all():
                return need
            late = np.flatnonzero(need > left)
            keys = self._moves.keys(states.take(late))
            need[late] = np.minimum(need[late], [self._known.get(key, NEVER) for key in keys])
            return need
        return self.follow_all(states, left)

    def may_be_late(self, states: States, left: IntArray) -> bool:
        """Return whether a token might leave more to do than there is room for after it."""
        if not self._proven or self._automaton.hold(states) is not None:
            return True
        strict = self._automaton.strict(states)
        if strict is not None and strict.any():
            return True
        return bool((self._enough.most_after(states) > left).any())

    @cached_property
    def beginnings(self) -> Beginnings:
        """The needs of states within a strict beginning, where all else is proven."""

        def need_behind(states: States) -> IntArray:
            return self._needs_behind(states, NEVER)

        return Beginnings(self._automaton, self._sentence, need_behind, NEVER)

    def _needs_of_proven(self, states: States, left: int) -> IntArray:
        """Return the needs of states, where plans need not be followed. # shape: (states,)."""
        strict = self._automaton.strict(states)
        if strict is None or not strict.any():
            return self._needs_behind(states, left)
        need = np.empty(len(states.node), np.int64)
        need[strict] = self.beginnings.needs(states.node[strict])
        behind = np.flatnonzero(~strict)
        if len(behind):
            need[behind] = self._needs_behind(states.take(behind), left)
        return need

    def _needs_behind(self, states: States, left: int) -> IntArray:
        """Return the needs of states that are in no strict beginning, where these are proven."""
        need = self._enough.needs(states)
        hold = self._automaton.hold(states)
        if hold is not None and hold.any():
            need[hold] = self._need_of_held(states.take(np.flatnonzero(hold)), left)
        return need

    def _need_of_held(self, states: States, left: int) -> IntArray:
        """Return the need of states whose word has to go on first, where all else is proven."""
        best = self._go_on(states, MOST_TO_GO_ON)
        stuck = np.flatnonzero(best >= NEVER)
        if len(stuck):  # The word has to go on for more tokens, and with none of a constraint.
            best[stuck] = self.follow_all(states.take(stuck), left)
        return best

    def _go_on(self, states: States, most: int) -> IntArray:
        """Return the need of states whose word has to go on, for so many tokens at most.

        Where it has to go on after one token, too, that is of use only if the token goes on with a
        constraint: "file" and "files" may be avoided before "filesystem". # shape: (states,)
        """
        after, forbidden = self._moves.look_ahead(states, self._moves.ask_all(states))
        enough = np.where(forbidden.ravel(), NEVER, self._enough.needs(after))
        hold = self._automaton.hold(after)
        need = enough if hold is None else np.where(hold, NEVER, enough)
        best: IntArray = need.reshape(forbidden.shape).min(axis=1, initial=NEVER)
        rows = np.arange(len(best)).repeat(forbidden.shape[1])
        again = np.flatnonzero((need >= NEVER) & (enough < best[rows]))  # those that are held
        if len(again) and most > 1:
            shown_by, numbers = _distinct(after.take(again))
            later = self._go_on(after.take(again[shown_by]), most - 1)
            np.minimum.at(best, rows[again], later[numbers])
        all_needs: IntArray = np.minimum(best + 1, NEVER)
        return all_needs


def _distinct(states: States) -> tuple[IntArray, IntArray]:
    """Return the indices of different states, and to which of them each state is equal."""
    columns = [states.node, *(bits.view(np.int64) for bits in states.met)]
    numbers = number_rows(columns)
    shown_by = np.empty(int(numbers.max()) + 1, np.int64)
    shown_by[numbers] = np.arange(len(numbers))
    return shown_by, numbers

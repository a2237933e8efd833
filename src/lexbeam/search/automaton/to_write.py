"""What an output still has to write of its own, where phrases may not be said too often.

Where nothing is counted exactly, all that is unmet can be written side by side. A phrase with an
exact count has to share: if *Datei* may be said once, and *die Datei öffnen* has to be said,
*Datei* comes with that and is not written besides. Plans are guided by what is left then
(`followed_plans`). It is a guess: that a plan ends is found out by following it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import BitSets, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.completions import is_allowed
from lexbeam.search.automaton.shared_things import SharedThings, Thing, list_things
from lexbeam.search.automaton.states import States

_TOO_OFTEN = 8
"""So many tokens are as bad as something that may be said once less than it will have to be."""


class _Option(NamedTuple):
    """With what an output may go on, for each state."""

    saved: IntArray
    """The tokens that it has of that. # shape: (states,)"""
    said: IntArray
    """What these have in them, which does not come again. # shape: (states, shared things)"""


class _Left(NamedTuple):
    """What is left to be written. # shape of all but the first: (states,)."""

    own: IntArray
    """How often each thing is written of its own. # shape: (states, things)"""
    tokens: IntArray
    """Of what may stand before the end of the output."""
    of_end: IntArray
    """Of what has to be that end."""
    too_often: IntArray
    """How many times something occurs then that may not."""


class ToWrite:
    """What the states of one sentence leave to be written."""

    def __init__(self, automaton: Automaton, sentence: int, things: Sequence[Thing]) -> None:
        self._automaton = automaton
        self._root = int(automaton.roots[sentence])
        arrays = automaton.bit_arrays
        shared = SharedThings(things, automaton, sentence)
        self._shared = shared
        all_things = [*shared.things, *(each for each in things if each not in shared.things)]
        owner = [i for i, thing in enumerate(all_things) for _ in thing.copies]
        self._copies = BitSets([bits for thing in all_things for bits in thing.copies], arrays)
        # shape: (copies, things)
        self._owner = np.array(owner)[:, None] == np.arange(len(all_things))
        self._size = np.array([thing.size for thing in all_things], np.int64)
        self._is_last = np.array([thing.is_last for thing in all_things], np.bool_)
        self._size_before_end = np.where(self._is_last, 0, self._size)
        self._wanted = BitSets([thing.wanted for thing in all_things], arrays)
        # What is lost if a thing does not come now, and what that has in it.
        lost = [thing.lost_with(things) for thing in all_things]
        self._before = np.array([sum(t.size for t in each) for each in lost], np.int64)
        self._said_before = np.array([shared.inside_all(each) for each in lost], np.int64)
        self._in_time = BitSets([thing.in_time for thing in all_things], arrays)

    @classmethod
    def of(cls, automaton: Automaton, sentence: int) -> ToWrite | None:
        """Return what a sentence has to write; None if nothing is counted in anything else."""
        if not any(goal.exact for goal in automaton.layouts[sentence].goals):
            return None
        given = cls(automaton, sentence, list_things(automaton.layouts[sentence]))
        return given if given._shared.any_inside else None

    def missing(self, states: States) -> IntArray:
        """Return how many tokens are missing, more where something will be there too often.

        # shape: (states,)
        """
        tokens, too_often = self._best(states)
        return tokens + _TOO_OFTEN * too_often

    def says_too_much(self, states: States) -> BoolArray:
        """Return a mask of those after which something will be there too often, as far as seen."""
        return self._best(states)[1] > 0

    def _best(self, states: States) -> tuple[IntArray, IntArray]:
        """Return the tokens of the best way to go on, and what will be there too often then.

        # shape of both: (states,)
        """
        unmet = ~self._copies.share(states.seen)
        left: IntArray = unmet.astype(np.int64) @ self._owner
        fresh = self._write(states, left, np.zeros((len(left), len(self._shared.things)), np.int64))
        of_end = int(self._size[self._is_last].sum())
        # The end of the output comes last: its beginning is of no use before that.
        best = fresh.tokens + np.where(fresh.tokens > 0, of_end, fresh.of_end), fresh.too_often
        for is_last in (False, True) if self._is_last.any() else (False,):
            # What comes with something else is not gone on with.
            option = self._go_on(states, (fresh.own > 0) & (self._is_last == is_last))
            going = self._write(states, left, option.said)
            possible = option.saved > 0
            if is_last:
                tokens = going.of_end - option.saved
                possible &= going.tokens == 0
            else:
                tokens = going.tokens - option.saved + of_end
            worse = _TOO_OFTEN * (going.too_often - best[1])
            better = possible & (tokens + worse < best[0])
            best = (
                np.where(better, tokens, best[0]),
                np.where(better, going.too_often, best[1]),
            )
        return best

    def _write(self, states: States, left: IntArray, said: IntArray) -> _Left:
        """Return what is left if the things in the ``left`` numbers have to be there.

        What others have in them is not written besides; ``said`` of it does not come again.
        """
        shared, number = self._shared, len(self._shared.things)
        own, comes = left[:, :number].copy(), -said
        for row in (*shared.holders, *shared.held):
            own[:, row] = np.maximum(own[:, row] - self._that_counts(states, comes, row), 0)
            comes = comes + own[:, row, None] * shared.inside[row]
            for place in shared.along.get(row, ()):
                own[own[:, row] > 0, place] = 0
        counted = shared.counted
        over = np.maximum(comes[:, counted] - left[:, :number][:, counted], 0).sum(axis=1)
        own = np.concatenate((own, left[:, number:]), axis=1)
        tokens: IntArray = own @ self._size_before_end
        return _Left(own, tokens, own @ self._size - tokens, over)

    def _that_counts(self, states: States, comes: IntArray, row: int) -> IntArray:
        """Return how often something comes with others where it counts. # shape: (states,)."""
        there = np.maximum(comes[:, row], 0)
        enabled = self._shared.things[row].enabled
        if not enabled:
            return there
        return there * self._shared.enabled[row].share(states.seen)[:, 0]

    def _go_on(self, states: States, of_use: BoolArray) -> _Option:
        """Return of the things that are of use the one of which most has been written."""
        node, bits = states.node, states.seen
        saved = np.zeros_like(node)
        said = np.zeros((len(node), len(self._shared.things)), np.int64)

        def better(tokens: IntArray, thing: IntArray, before: IntArray | None) -> None:
            more = tokens > saved
            saved[more] = tokens[more]
            said[more] = self._said_before[thing[more]]
            if before is not None:
                said[more] += self._shared.said_at[before[more]]

        for layer in self._automaton.progress:
            arrays = [np.zeros_like(array) for array in bits]
            for number, begun in layer.begun:
                arrays[number] = begun[node]
            there = self._wanted.share(tuple(arrays)) & of_use
            there &= is_allowed(layer.needs, node, bits)[:, None]
            before = (there * self._before).argmax(axis=1)
            thing = np.where(there[np.arange(len(node)), before], before, there.argmax(axis=1))
            tokens = (layer.gain[node] + self._before[thing]) * there.any(axis=1)
            better(tokens, thing, layer.node[node] - self._root)
        if self._before.any():
            ready = self._in_time.share(bits) & of_use
            waiting = ready * self._before
            better(waiting.max(axis=1), waiting.argmax(axis=1), None)
        return _Option(saved, said)

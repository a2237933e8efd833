"""What an output still has to write of its own, where phrases may not be said too often.

Where nothing is counted exactly, all that is unmet can be written side by side. A phrase with an
exact count has to share: if *Datei* may be said once, and *die Datei öffnen* has to be said,
*Datei* comes with that and is not written besides. Plans are guided by what is left then
(`followed_plans`). It is a guess: that a plan ends is found out by following it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import BitSets, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.completions import is_allowed
from lexbeam.search.automaton.shared_things import SharedThings, Thing, list_things
from lexbeam.search.automaton.states import States

Numbers = NDArray[np.float32]
_NUMBER = np.float32
_TOO_OFTEN = 8
"""So many tokens are as bad as something that may be said once less than it will have to be."""


class _Option(NamedTuple):
    """With what an output may go on, for each state."""

    saved: IntArray
    """The tokens that it has of that. # shape: (states,)"""
    said: Numbers
    """What these have in them, which does not come again. # shape: (shared things, states)"""


class _Left(NamedTuple):
    """What is left to be written. # shape of all but the first: (states,)."""

    own: Numbers
    """How often each thing is written of its own. # shape: (things, states)"""
    tokens: Numbers
    """Of what may stand before the end of the output."""
    of_end: Numbers
    """Of what has to be that end."""
    too_often: Numbers
    """How many times something occurs then that may not."""


class ToWrite:
    """What the states of one sentence leave to be written.

    Numbers of things are small, and kept as floats: these are summed up faster.
    """

    def __init__(
        self, automaton: Automaton, sentence: int, things: Sequence[Thing], hopeful: bool = False
    ) -> None:
        self._automaton = automaton
        self._root = int(automaton.roots[sentence])
        arrays = automaton.bit_arrays
        shared = SharedThings(things, automaton, sentence, hopeful)
        self._shared = shared
        all_things = [*shared.things, *(each for each in things if each not in shared.things)]
        self._copies = BitSets([bits for thing in all_things for bits in thing.copies], arrays)
        numbers = [len(thing.copies) for thing in all_things]
        self._first_copies = np.cumsum([0, *numbers[:-1]])  # shape: (things,)
        self._size = np.array([thing.size for thing in all_things], _NUMBER)
        self._is_last = np.array([thing.is_last for thing in all_things], np.bool_)
        self._size_before_end = np.where(self._is_last, _NUMBER(0), self._size)
        self._wanted = BitSets([thing.wanted for thing in all_things], arrays)
        # What is lost if a thing does not come now, and what that has in it.
        lost = [[] if hopeful else thing.lost_with(things) for thing in all_things]
        self._before = np.array([sum(t.size for t in each) for each in lost], np.int64)
        self._said_before = np.array([shared.inside_all(each) for each in lost], np.int64)
        self._in_time = BitSets([thing.in_time for thing in all_things], arrays)
        inside = [(row, shared.inside[row].nonzero()[0]) for row in shared.holders]
        # For each thing that has others inside, these, and how often it has them.
        self._inside = {
            row: (held, shared.inside[row, held, None].astype(_NUMBER)) for row, held in inside
        }

    @classmethod
    def of(cls, automaton: Automaton, sentence: int, hopeful: bool = False) -> ToWrite | None:
        """Return what a sentence has to write; None if nothing is counted in anything else.

        ``hopeful`` hopes that what has to stand near something will, also in something else.
        """
        if not any(goal.exact for goal in automaton.layouts[sentence].goals):
            return None
        things = list_things(automaton.layouts[sentence], hopeful)
        given = cls(automaton, sentence, things, hopeful)
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
        left: Numbers = np.add.reduceat(unmet.T.astype(_NUMBER), self._first_copies, axis=0)
        counts = self._where_they_count(states)
        nothing_said = np.zeros((len(self._shared.things), len(unmet)), _NUMBER)
        fresh = self._write(counts, left, nothing_said)
        of_end = self._size[self._is_last].sum()
        # The end of the output comes last: its beginning is of no use before that.
        best = fresh.tokens + np.where(fresh.tokens > 0, of_end, fresh.of_end), fresh.too_often
        for is_last in (False, True) if self._is_last.any() else (False,):
            # What comes with something else is not gone on with.
            option = self._go_on(states, (fresh.own > 0).T & (self._is_last == is_last))
            going = self._write(counts, left, option.said)
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
        return best[0].astype(np.int64), best[1].astype(np.int64)

    def _write(self, counts: Mapping[int, BoolArray], left: Numbers, said: Numbers) -> _Left:
        """Return what is left if the things in the ``left`` numbers have to be there.

        What others have in them is not written besides; ``said`` of it does not come again.
        ``counts`` are the states in which some things count.
        """
        shared, number = self._shared, len(self._shared.things)
        own, comes = left.copy(), -said
        for row in (*shared.holders, *shared.held):
            there = np.maximum(comes[row], 0)
            own[row] = np.maximum(own[row] - (there * counts[row] if row in counts else there), 0)
            if row in self._inside:
                held, times = self._inside[row]
                comes[held] += times * own[row]
            for place in shared.along.get(row, ()):
                own[place, own[row] > 0] = 0
        counted = shared.counted
        over = np.maximum(comes[counted] - left[:number][counted], 0).sum(axis=0)
        tokens, all_tokens = _sum(self._size_before_end, own), _sum(self._size, own)
        return _Left(own, tokens, all_tokens - tokens, over)

    def _where_they_count(self, states: States) -> dict[int, BoolArray]:
        """Return the states in which things count that do not always. # shape: (states,)."""
        return {
            row: self._shared.enabled[row].share(states.seen)[:, 0]
            for row, thing in enumerate(self._shared.things)
            if thing.enabled
        }

    def _go_on(self, states: States, of_use: BoolArray) -> _Option:
        """Return of the things that are of use the one of which most has been written.

        # shape of ``of_use``: (states, things)
        """
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
        return _Option(saved, said.T.astype(_NUMBER))


def _sum(sizes: Numbers, own: Numbers) -> Numbers:
    """Return the tokens of some things in all, without the threads of a matrix product."""
    total: Numbers = np.einsum("t,ts->s", sizes, own)
    return total

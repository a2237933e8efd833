"""Where an output has to begin with one of some strings: what each of their tokens leaves to do.

While an output is in such a beginning, nothing else is in it, so that its state follows from the
node of the trie. So there are no more states than nodes, and the need of each can be worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States


class _Level(NamedTuple):
    """States that have taken the same number of tokens."""

    nodes: IntArray
    need: IntArray
    """What is known of each; that of a state within a beginning is filled in later."""
    parents: IntArray
    """The states of the level before that they follow."""


class Beginnings:
    """The need of each state of a sentence within a strict beginning."""

    def __init__(
        self,
        automaton: Automaton,
        sentence: int,
        need_behind: Callable[[States], IntArray],
        never: int,
    ) -> None:
        """``need_behind`` returns the needs of states behind a beginning, ``never`` that of none.

        Tokens are followed through all beginnings, those of the same length side by side.
        """
        self._root = int(automaton.roots[sentence])
        self._need = np.full(len(automaton.tries[sentence].nodes), never)  # shape: (nodes,)
        self.most = 0
        """The largest need within a beginning."""
        self.longest = 0
        """The most tokens that a beginning has."""
        states = automaton.start().take(np.array([sentence]))
        levels, parents = [], np.zeros(1, np.int64)
        while len(parents):
            within = _within(automaton, states)
            need = np.full(len(parents), never)
            behind = np.flatnonzero(~within)
            if len(behind):
                need[behind] = need_behind(states.take(behind))
            levels.append(_Level(states.node, need, parents))
            rows = np.flatnonzero(within)
            states, parents = _go_on(automaton, states, rows)
        self.longest = len(levels) - 1
        self._work_out(levels, never)

    def needs(self, nodes: IntArray) -> IntArray:
        """Return the needs of states at nodes within a beginning. # shape: as the nodes."""
        need: IntArray = self._need[nodes - self._root]
        return need

    def _work_out(self, levels: list[_Level], never: int) -> None:
        """Find the needs from the longest beginnings on: one token more than the best next one."""
        for level, after in zip(levels[-2::-1], levels[:0:-1], strict=True):
            best = np.full(len(level.nodes), never)
            np.minimum.at(best, after.parents, np.minimum(after.need + 1, never))
            has_next = np.zeros(len(best), np.bool_)
            has_next[after.parents] = True
            level.need[has_next] = best[has_next]
        for level in levels:
            self._need[level.nodes - self._root] = level.need
            self.most = max(self.most, int(level.need.max()))


def _within(automaton: Automaton, states: States) -> BoolArray:
    """Return a mask of the states within a strict beginning."""
    strict = automaton.strict(states)
    return np.zeros(len(states.node), np.bool_) if strict is None else strict


def _go_on(automaton: Automaton, states: States, rows: IntArray) -> tuple[States, IntArray]:
    """Return the states that follow some rows within a beginning, and the row of each."""
    states = states.take(rows)
    tokens, targets = automaton.ask(states)
    after = automaton.advance(states.column(), tokens, targets)
    row, column = (~automaton.forbids(states, tokens, after.node) & (tokens != PAD)).nonzero()
    width = tokens.shape[1]
    return after.flat().take(row * width + column), rows[row]

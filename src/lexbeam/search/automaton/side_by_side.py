"""How many tokens are enough if all that is unmet is written side by side.

The output may go on with one thing that has begun; everything else is written from its beginning,
one after the other. So what counts as met is only what nothing that follows can undo: a part with
a limit to the distance of the next one is lost when something else is written first.
`docs/search.md` has the proof that the next token of this plan always lowers the number by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import Bits, BitSets, IntArray, pack_bits
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.completions import is_allowed
from lexbeam.search.automaton.obstacles import BlockedNodes
from lexbeam.search.automaton.occurrences_in import ends_in
from lexbeam.search.automaton.stages import Stage
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import Goal
from lexbeam.search.automaton.whole_words import WordBoundaries

NOT_NOW = 1 << 40
"""More tokens than any plan has: something has to come first."""


class _Chained(NamedTuple):
    """Stages of which some would be lost. # shape of all: (stages,)."""

    wanted: BitSets
    in_time: BitSets
    before: IntArray

    @classmethod
    def of(cls, stages: Sequence[Stage], bit_arrays: int) -> _Chained:
        return cls(
            BitSets([stage.wanted for stage in stages], bit_arrays),
            BitSets([stage.in_time for stage in stages], bit_arrays),
            np.array([stage.before for stage in stages], np.int64),
        )

    def most_saved(self, unmet: Bits, bits: Bits) -> IntArray:
        """Return the tokens that need not be written again if the next stage comes now."""
        if not len(self.before):
            return np.zeros(len(unmet[0]) if unmet else 0, np.int64)
        ready = self.wanted.share(unmet) & self.in_time.share(bits)
        most: IntArray = (self.before * ready).max(axis=1)
        return most


class SideBySide:
    """The tokens of one sentence that are enough, for each of its states."""

    def __init__(self, automaton: Automaton, sentence: int) -> None:
        self._automaton = automaton
        layout, arrays = automaton.layouts[sentence], automaton.bit_arrays
        stages = [stage for stage in layout.stages if stage.hard]
        reached = {stage.reached for stage in stages}
        parts = [(size, bits) for size, bits in layout.hard_tokens if bits not in reached]
        parts += [(stage.size, stage.safe) for stage in stages if not stage.at_end]
        self._sizes = np.array([size for size, _ in parts], np.int64)  # shape: (parts,)
        self._safe = BitSets([bits for _, bits in parts], arrays)
        last = [stage for stage in stages if stage.at_end]
        self._last_sizes = np.array([stage.size for stage in last], np.int64)
        self._at_end = BitSets([stage.reached & layout.at_end for stage in last], arrays)
        is_last = sum(stage.wanted for stage in last)
        self._wanted = pack_bits([layout.hard_wanted & ~is_last], arrays)
        self._wanted_last = pack_bits([is_last], arrays)
        limited = [stage for stage in stages if stage.before]
        self._stages = _Chained.of([stage for stage in limited if not stage.at_end], arrays)
        self._last_stages = _Chained.of([stage for stage in limited if stage.at_end], arrays)
        obstacles = automaton.obstacles.of(sentence)
        self._blocked: BlockedNodes | None = None
        self._root = int(automaton.roots[sentence])
        if obstacles:
            self._blocked = BlockedNodes(automaton.tries[sentence], obstacles)

    def needs(self, states: States) -> IntArray:
        """Return how many tokens are enough. # shape: (states,)."""
        if not states.met:
            return np.zeros_like(states.node)
        if self._blocked is not None:
            return self._needs_behind_obstacles(states, self._blocked)
        if self._automaton.whole_words is None:
            return self._count(states.node, states.seen, begun=True)
        # What has begun may go on with the word, and so undo what has only been seen.
        by_words = self._count(states.node, states.seen, begun=False)
        return np.minimum(by_words, self._count(states.node, states.met, begun=True))

    def _needs_behind_obstacles(self, states: States, blocked: BlockedNodes) -> IntArray:
        """Return how many tokens are enough where something may be in the way.

        One more than for all from its beginning always are.
        """
        node, local = states.node, states.node - self._root
        bits = states.seen if self._automaton.whole_words is None else states.met
        new, begun = (self._count(node, bits, begun=begun) for begun in (False, True))
        goes_on = (begun < new) & ~blocked.begun[local]
        by_words = self._count(node, states.seen, begun=False)
        need = np.where(blocked.new[local] & (by_words > 0), NOT_NOW, by_words)
        need = np.minimum(need, np.where(goes_on, begun, NOT_NOW))
        return np.minimum(need, self._from_beginning(states.seen) + 1)

    def most_after(self, states: States) -> IntArray:
        """Return how many tokens are enough after any one token. # shape: (states,).

        What is safe stays met, and all else is written from its beginning.
        """
        return self._from_beginning(states.met) + (self._blocked is not None)

    def _from_beginning(self, bits: Bits) -> IntArray:
        """Return the tokens of all that is not safe, written from its beginning."""
        most: IntArray = ~self._safe.share(bits) @ self._sizes + self._last_sizes.sum()
        return most

    def _count(self, node: IntArray, bits: Bits, begun: bool) -> IntArray:
        """Return the tokens that are enough, if the output goes on with what has begun, or not."""
        unmet = self._of_use(node, bits)
        rest: IntArray = ~self._safe.share(bits) @ self._sizes
        last: IntArray = ~self._at_end.share(bits) @ self._last_sizes
        wanted = tuple(a & b for a, b in zip(unmet, self._wanted, strict=True))
        saved = self._stages.most_saved(wanted, bits)
        if begun:
            saved = np.maximum(saved, self._most_begun(node, wanted, bits, self._stages))
        need: IntArray = rest - saved
        if not len(self._last_sizes):
            return need
        # The end of the output comes last: its beginning is of no use before that.
        wanted = tuple(a & b for a, b in zip(unmet, self._wanted_last, strict=True))
        saved_last = self._last_stages.most_saved(wanted, bits)
        if begun:
            more = self._most_begun(node, wanted, bits, self._last_stages)
            saved_last = np.maximum(saved_last, more)
        all_last = int(self._last_sizes.sum())
        return np.where(rest > 0, need + all_last, np.maximum(last - saved_last, 0))

    def _of_use(self, node: IntArray, bits: Bits) -> Bits:
        """Return what would still be of use to hypotheses that have these bits."""
        unseen = tuple(~array for array in bits)
        if self._automaton.multipart is None:
            return unseen
        stages = self._automaton.multipart.count(node, bits)[1]
        return tuple(a & b for a, b in zip(unseen, stages, strict=True))

    def _most_begun(self, node: IntArray, wanted: Bits, bits: Bits, stages: _Chained) -> IntArray:
        """Return the most tokens that something in progress has, with the stages before it."""
        most = np.zeros_like(node)
        for layer in self._automaton.progress:
            useful = [np.zeros_like(array) for array in wanted]
            for number, begun in layer.begun:
                useful[number] = begun[node] & wanted[number]
            there = np.logical_or.reduce([useful[number] != 0 for number, _ in layer.begun])
            there &= is_allowed(layer.needs, node, bits)
            saved = gain = layer.gain[node]
            if len(stages.before):
                begun_now = stages.wanted.share(tuple(useful))
                saved = gain + (begun_now * stages.before).max(axis=1)
            most = np.maximum(most, saved * there)
        return most


def always_works(automaton: Automaton, sentence: int, has_filler: bool) -> bool:
    """Return whether writing what is unmet side by side works from every state of a sentence.

    That is, from every state behind a strict beginning, if there is one. It takes a look at all
    tokens of all phrases. ``has_filler`` says whether there is a token that is in no phrase and
    begins a word: it can take obstacles out of the way.
    """
    layout, words = automaton.layouts[sentence], automaton.whole_words
    anywhere = [goal for goal in layout.goals if goal.tokens[0] >= 0]
    obstacles = automaton.obstacles.of(sentence)
    return (
        is_placeable(layout)
        and (layout.at_end & layout.hard).bit_count() <= 1
        and obstacles is not None
        and (has_filler or not obstacles)
        and exact_stays_exact(layout, words, automaton.can_hold)
        and (words is None or all(words.ends(goal.tokens[0]) for goal in anywhere))
    )


def is_placeable(layout: BitLayout) -> bool:
    """Return whether all but a strict beginning has a form that can stand behind anything else."""
    bits = layout.hard_wanted
    for goal in layout.goals:
        if goal.tokens[0] >= 0 or goal.strict:
            bits &= ~goal.wanted
    return not bits


def exact_stays_exact(layout: BitLayout, words: WordBoundaries | None, can_hold: bool) -> bool:
    """Return whether nothing occurs too often just because goals are written side by side.

    Everything that must be written has a shortest form without what is counted exactly. (Other
    forms must be single tokens: nobody is in the middle of them.) And what is counted can't begin
    before a goal and end in it. ``can_hold`` says whether a word can be told to go on.
    """
    counted = [goal for goal in layout.goals if goal.exact]
    if not counted:
        return True
    # Else what has been said may be a word too many, and the first part of a compound counts, too.
    waits = can_hold and not any(goal.exact for goal in layout.joined)
    placed = [goal for goal in layout.goals if goal.tokens[0] >= 0]
    first = {goal.tokens[0] for goal in placed}
    usable = 0
    known = _by_first(counted)
    for other in placed:
        near = (goal for token in dict.fromkeys(other.tokens) for goal in known.get(token, ()))
        has = any(_has_counted(other, goal, words, waits) for goal in near)
        if not has and len(other.tokens) <= other.size:
            usable |= other.wanted
        elif has and (other.exact or len(other.tokens) > 1):
            return False
    if any(_ends_in_any(goal, placed, first) for goal in counted):
        return False
    needed = reduce(or_, (goal.wanted for goal in placed if goal.wanted & layout.hard_wanted), 0)
    return needed & ~usable == 0


def _by_first(goals: Sequence[Goal]) -> dict[int, list[Goal]]:
    """Return goals by their first tokens: what has none of these has no goal in it."""
    found: dict[int, list[Goal]] = {}
    for goal in goals:
        found.setdefault(next(token for token in goal.tokens if token >= 0), []).append(goal)
    return found


def _has_counted(other: Goal, counted: Goal, words: WordBoundaries | None, waits: bool) -> bool:
    """Return whether a goal has what is counted in it, more than a form of the same thing has.

    ``waits`` says whether a word counts only where it does not go on.
    """
    counted = counted if waits else replace(counted, waits=False)
    last = len(other.tokens) if other.exact == counted.exact else -1  # An own form may end with it.
    return any(end != last for end in ends_in(counted, other.tokens, words))


def _ends_in_any(counted: Goal, placed: Sequence[Goal], first: Collection[int]) -> bool:
    """Return whether what is counted may begin before one of the goals and end in it.

    A form of the same thing may be the end of another, as a word is without the space before it:
    both are one occurrence. ``first`` are the first tokens of the goals.
    """
    tokens = tuple(token for token in counted.tokens if token >= 0)
    ends = [tokens[i:] for i in range(1, len(tokens)) if tokens[i] in first]
    return any(
        goal.tokens[: len(end)] == end and (goal.tokens != end or goal.exact != counted.exact)
        for end in ends
        for goal in placed
    )

"""What must be written of a sentence, and which of it may come with something else.

A thing is a phrase with its copies, or a part of a pattern of several parts. Things are shared
where one of them may not be said more often than it is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from lexbeam.search.arrays import BitSets, IntArray, Tokens
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.occurrences_in import ends_in, fewest_in
from lexbeam.search.automaton.stages import Stage
from lexbeam.search.automaton.trie import BEGIN, Goal, Trie
from lexbeam.search.automaton.whole_words import WordBoundaries

_MOST_FORMS = 8
"""Of things with more forms it is not looked for which patterns they meet."""


@dataclass(frozen=True, eq=False)
class Thing:
    """A phrase with its copies, or a part of a pattern of several parts."""

    wanted: int
    """The bits that stand for it."""
    size: int
    copies: tuple[int, ...]
    """For each copy, bits of which one is set when nothing that follows can undo it."""
    goals: tuple[Goal, ...]
    stage: Stage | None

    @property
    def is_counted(self) -> bool:
        """Whether it may not be said more often."""
        return any(goal.exact for goal in self.goals)

    @property
    def is_last(self) -> bool:
        """Whether it has to be the end of the output."""
        return self.stage is not None and self.stage.at_end

    @property
    def enabled(self) -> int:
        """Bits of which one must be set before it counts; none: it always does."""
        return 0 if self.stage is None else self.stage.enabled

    @property
    def in_time(self) -> int:
        """Bits of which one is set as long as what stands before it is not lost."""
        return 0 if self.stage is None else self.stage.in_time

    @property
    def may_come_along(self) -> bool:
        """Whether it can be part of something else, however that is placed.

        What has to stand near something can't, nor the end of the output.
        """
        return self.stage is None or not (self.stage.at_end or self.is_limited)

    @property
    def is_limited(self) -> bool:
        """Whether it, or what follows it in its pattern, has to come soon."""
        return self.stage is not None and self.stage.safe != self.stage.reached

    @property
    def final(self) -> int:
        """The bit that is set by the last part of its pattern."""
        reached = 0 if self.stage is None else self.stage.reached
        return 1 << max(reached.bit_length() - 1, 0)

    @cached_property
    def forms(self) -> tuple[Tokens, ...]:
        """What may be written for it in the middle of an output, if anything may."""
        anywhere = [goal.tokens for goal in self.goals if goal.tokens[0] != BEGIN]
        return tuple(dict.fromkeys(anywhere or (goal.tokens for goal in self.goals)))

    @cached_property
    def beginnings(self) -> frozenset[int]:
        """The first tokens of all that may be written for it."""
        return frozenset(next(t for t in goal.tokens if t >= 0) for goal in self.goals)

    def lost_with(self, things: Sequence[Thing]) -> list[Thing]:
        """Return the parts before it that have to be written again if it does not come in time."""
        if self.stage is None or not self.stage.before:
            return []
        own = (each for each in things if each.stage is not None and each.final == self.final)
        near = (each for each in own if each.stage and each.stage.safe == self.stage.safe)
        return [each for each in near if each.wanted < self.wanted]


def list_things(layout: BitLayout, hopeful: bool = False) -> list[Thing]:
    """Return what must be written, the longest first: what holds others comes before them.

    ``hopeful`` takes for met what may be lost again, if what follows does not come soon.
    """
    stages = {stage.reached: stage for stage in layout.stages if stage.hard}
    goals: dict[int, list[Goal]] = {}
    for goal in layout.goals:
        if goal.wanted & layout.hard_wanted:
            goals.setdefault(goal.wanted, []).append(goal)
    owner = {
        1 << i: wanted for wanted in goals for i in range(wanted.bit_length()) if wanted >> i & 1
    }
    copies: dict[int, list[int]] = {}
    known: dict[int, tuple[int, Stage | None]] = {}
    for size, bits in layout.hard_tokens:
        stage = stages.get(bits)
        wanted = owner[bits if stage is None else stage.wanted]
        safe = bits if stage is None or hopeful else stage.safe
        if stage is not None and stage.at_end:
            safe = stage.reached & layout.at_end
        copies.setdefault(wanted, []).append(safe)
        known[wanted] = size, stage
    things = [
        Thing(wanted, known[wanted][0], tuple(each), tuple(goals[wanted]), known[wanted][1])
        for wanted, each in copies.items()
    ]
    return sorted(things, key=lambda thing: (-thing.size, thing.is_counted))


class SharedThings:
    """The things that are counted, those that have any of them inside, and what comes with these.

    A thing has its place in `things`, the longest first. ``hopeful`` lets the last parts of
    patterns come with what has them in their order: what comes before them will stand near enough.
    """

    def __init__(
        self, things: Sequence[Thing], automaton: Automaton, sentence: int, hopeful: bool = False
    ) -> None:
        words = automaton.whole_words
        counted = [thing for thing in things if thing.is_counted]
        inside = things if hopeful else counted
        holders = [t for t in things if any(_times_in(each, t, words) for each in inside)]
        if hopeful:
            along = {holder: _ends_of_patterns_in(holder, things, words) for holder in holders}
        else:
            along = {each: _patterns_in(each, things, automaton, sentence) for each in holders}
        shared = {*inside, *holders, *chain.from_iterable(along.values())}
        self.things = [thing for thing in things if thing in shared]
        number = len(self.things)
        self.inside = np.zeros((number, number), np.int64)
        """How often a thing (a row) certainly has each of those behind it inside."""
        for row, holder in enumerate(self.things):
            for column in range(row + 1, number):
                self.inside[row, column] = _times_in(self.things[column], holder, words)
        self.any_inside = bool(holders)
        self.counted = [i for i, thing in enumerate(self.things) if thing.is_counted]
        has = self.inside.any(axis=1)
        self.holders = np.flatnonzero(has).tolist()
        """The things that have others inside, rising."""
        self.held = np.flatnonzero(~has & self.inside.any(axis=0)).tolist()
        """Those that have none, and are inside of others."""
        places = {thing: place for place, thing in enumerate(self.things)}
        self.along = {
            places[holder]: sorted(places[each] for each in found)
            for holder, found in along.items()
            if found
        }
        """The parts of patterns that are met as a whole by what is written for a thing."""
        self.enabled = [BitSets([thing.enabled], automaton.bit_arrays) for thing in self.things]
        trie, nodes = automaton.tries[sentence], len(automaton.tries[sentence].nodes)
        self.said_at = np.zeros((nodes, number), np.int64)
        """How often the string of each node has each thing in it. # shape: (nodes, things)"""
        if self.any_inside:
            self._count_at_nodes(trie, words)

    def inside_all(self, things: Sequence[Thing]) -> IntArray:
        """Return how often some things have each of the shared ones inside. # shape: (things,)."""
        rows = [self.things.index(each) for each in things if each in self.things]
        total: IntArray = self.inside[rows].sum(axis=0)
        return total

    def _count_at_nodes(self, trie: Trie, words: WordBoundaries | None) -> None:
        columns = {thing.wanted: i for i, thing in enumerate(self.things)}
        for number, node in enumerate(trie.nodes):
            waiting = _ending(node.ends, columns, only_waiting=True)
            for token, child in node.children.items():
                said = self.said_at[number].copy()
                if words is not None and token >= 0 and not words.ends(token):
                    said[waiting] -= 1  # The word goes on, so that it was another one.
                said[_ending(trie.nodes[child].ends, columns)] += 1
                self.said_at[child] = said


def _patterns_in(
    holder: Thing, things: Sequence[Thing], automaton: Automaton, sentence: int
) -> list[Thing]:
    """Return the parts of the patterns that are met when a thing has been written.

    Whatever is written for it; of many forms it is not found out.
    """
    parts = [thing for thing in things if thing.stage is not None and not thing.stage.at_end]
    if not parts or holder in parts or len(holder.forms) > _MOST_FORMS:
        return []
    reached = BitSets([part.copies[0] for part in parts], automaton.bit_arrays)
    met = np.ones(len(parts), np.bool_)
    for form in holder.forms:
        states = automaton.start().take(np.array([sentence]))
        for token in form:
            if token >= 0:
                states = automaton.advance(states, np.array([token]))
        met &= reached.share(states.seen)[0]
    unmet = {part.final for part, is_met in zip(parts, met.tolist(), strict=True) if not is_met}
    return [part for part in parts if part.final not in unmet]


def _ends_of_patterns_in(
    holder: Thing, things: Sequence[Thing], words: WordBoundaries | None
) -> list[Thing]:
    """Return the parts of patterns that stand in a thing in their order, with all behind them."""
    patterns: dict[int, list[Thing]] = {}
    for thing in things:
        if thing.stage is not None and not thing.stage.at_end:
            patterns.setdefault(thing.final, []).append(thing)
    found: list[Thing] = []
    for final, parts in patterns.items():
        if holder.stage is not None and holder.final == final:
            continue
        parts.sort(key=lambda part: part.wanted)
        fits = (at for at in range(len(parts)) if _in_order(parts[at:], holder.forms[0], words))
        found += parts[next(fits, len(parts)) :]
    return found


def _in_order(parts: Sequence[Thing], form: Tokens, words: WordBoundaries | None) -> bool:
    """Return whether parts stand in some tokens, each behind the one before it."""
    behind = 0
    for part in parts:
        ends = [
            end
            for goal in part.goals
            for end in ends_in(goal, form, words)
            if end - sum(token >= 0 for token in goal.tokens) >= behind
        ]
        if not ends:
            return False
        behind = min(ends)
    return True


def _ending(
    goals: Sequence[Goal], columns: dict[int, int], only_waiting: bool = False
) -> list[int]:
    """Return the things of which a goal ends at a node."""
    found = (goal for goal in goals if goal.wanted in columns)
    return sorted({columns[goal.wanted] for goal in found if goal.waits or not only_waiting})


def _times_in(counted: Thing, holder: Thing, words: WordBoundaries | None) -> int:
    """Return how often a thing comes with another, whatever is written for that."""
    if counted is holder or not counted.may_come_along:
        return 0
    if counted.beginnings.isdisjoint(holder.forms[0]):
        return 0
    return fewest_in(counted.goals, holder.forms, words)

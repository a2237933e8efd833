"""The phrases of one sentence as an Aho–Corasick trie.

A hypothesis must never forget progress that is really there: after ``a a`` the phrase ``a b``
has one token of progress. Failure links give that: every node knows the longest proper suffix
of its string that is again the beginning of a phrase. Everything here is done once per sentence,
in plain Python; `lexbeam.search.automaton.automaton` packs the result into arrays for the search.

What counts only at the beginning of an output begins with the token `BEGIN`, which no output
has: it stands before the first token of all of them. What counts only where no word goes on
before it begins with `APART`, which stands for the beginning and for every token that ends a
word whatever follows.

What counts only inside a compound begins with `INSIDE`, which stands for every token that ends
with enough letters of a word. Where any token of some class may stand, a goal has `SHORT`, `LONG`
or `ONLY_SHORT` (`SHORT`, but not `LONG`) in its place. Tokens that are in no phrase of the trie
are alike if they are of the same classes; so the trie has one symbol for each combination of
classes (`class_symbol`), and takes the tokens of its phrases one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton import whole_words
from lexbeam.search.automaton.whole_words import WordBoundaries

ROOT = 0
BEGIN = -1
APART = -2
INSIDE = -3
SHORT = -4
LONG = -5
ONLY_SHORT = -6
ANCHORS = frozenset({BEGIN, APART, INSIDE})
"""What a goal may begin with that is no token of the output."""

_SHORT_OR_LONG = whole_words.SHORT | whole_words.LONG
_FIRST_CLASS = -16
CLOSING = 8
"""The class of tokens after which a word has ended, beside those of `whole_words`."""
MOST_JOINED = 1_000
"""So many strings that are parts of compounds a trie has at most: each takes time and memory."""


def class_symbol(flags: int) -> int:
    """Return the symbol of all tokens of some classes that are in no phrase."""
    return _FIRST_CLASS - flags


def flags_of(symbol: int) -> int:
    """Return the classes that a symbol stands for; less than 0: it stands for none."""
    return _FIRST_CLASS - symbol


@dataclass(frozen=True)
class Goal:
    """A string of tokens that meets a constraint, or a part of it (`automaton.bit_layout`)."""

    tokens: Tokens
    sets: int
    """The bit that is set."""
    wanted: int
    """Bits that stand for the constraint or part."""
    size: int
    """Constraint tokens of the constraint or part."""
    weight: int = 0
    """Those that are counted for good as soon as the bit is set."""
    repeats: int = 0
    """The bits above, set one by one each time the string ends again."""
    needs: tuple[int, ...] = ()
    """Bits of which one must be set, by how many of the tokens were taken; empty: none must."""
    waits: bool = False
    """It counts only if the next token does not go on with its last word."""
    strict: bool = False
    """The output must begin with this, or another strict one."""
    exact: int = 0
    """The bits that are all set when the string may not end again; 0: it may end any time."""
    led: int = 0
    """So many symbols of the string are what it stands behind; they are no progress."""
    late: int = 0
    """So many symbols at its end only show that the string before them counts."""

    def needed(self, taken: int) -> int:
        """Return the bits of which one must be set after so many nodes of the string."""
        if not self.needs:
            return 0
        return self.needs[taken - (self.tokens[0] in ANCHORS)]


def in_compounds(goal: Goal, inside: bool, goes_on: bool) -> Iterator[Goal]:
    """Yield what meets the same as a goal, as a part of a compound.

    ``inside``: the goal is the last part, and something short may stand before it. ``goes_on``: it
    may also be a part before others, if it is otherwise met only when its word ends. That it is,
    is seen when it has been said: it is no progress.
    """
    ways = [goal]
    if inside:
        needs = goal.needs[:1] + goal.needs
        ways.append(replace(goal, tokens=(INSIDE, SHORT, *goal.tokens[1:]), led=2, needs=needs))
        yield ways[1]
    for way in ways if goes_on and goal.waits else ():
        for behind in (LONG,), (ONLY_SHORT, LONG):
            whole = way.tokens + behind
            yield replace(way, tokens=whole, led=len(whole), late=len(behind), waits=False)


class Progress(NamedTuple):
    """A suffix that has begun some phrases."""

    gain: int
    """Constraint tokens that are in the bank for it."""
    node: int
    """The node of the suffix."""
    wanted: int
    """Bits that stand for what has begun."""
    needs: int
    """Bits of which one must be set for it to count; 0: none must."""


@dataclass(slots=True)
class Node:
    """A beginning of a phrase."""

    depth: int
    children: dict[int, int] = field(default_factory=dict)
    failure: int = ROOT
    moves: dict[int, int] = field(default_factory=dict)
    """The targets of tokens that lead elsewhere from here than from the root."""
    ends: list[Goal] = field(default_factory=list)
    """Goals that end here, as a suffix of what has been read."""
    begun: list[Goal] = field(default_factory=list)
    """Goals of which this node's string is a proper prefix."""
    serves: int = 0
    """Bits of what some suffix of this node's string begins or ends: it asks for the tokens that
    lead here. What these only show to count (`Goal.late`) is not among them."""
    progress: list[Progress] = field(default_factory=list)
    """Suffixes that have begun something, those with most constraint tokens first."""
    avoided: bool = False
    """Whether an avoided phrase ends here."""
    held: bool = False
    """Whether an avoided phrase ends here if the word ends here."""
    strict: bool = False
    """Whether the output must go on to a strict goal from here."""
    leads: bool = False
    """Whether this node is on the path to a strict goal."""


class Trie:
    """The constraints and avoided phrases of one sentence; node 0 is the root.

    ``held`` are the avoided phrases that only count as whole words. ``words`` says which tokens
    begin and end words; it is needed for goals that begin with `APART` or `INSIDE`, and for those
    that are ``joined`` to others in compounds.
    """

    def __init__(
        self,
        goals: Sequence[Goal],
        avoided: Sequence[Tokens] = (),
        held: Sequence[Tokens] = (),
        words: WordBoundaries | None = None,
        joined: Sequence[Goal] = (),
    ) -> None:
        self.nodes = [Node(depth=0)]
        self._words = words
        self._known_flags: dict[int, int] = {}
        for goal in goals:
            self._add(goal, goal.tokens)
        for phrase in avoided:
            self.nodes[self._path(phrase)[-1]].avoided = True
        for phrase in held:
            self.nodes[self._path(phrase)[-1]].held = True
        self._mark_strict(goals)
        self.joins = bool(joined)
        """Whether it matters how tokens join the parts of compounds."""
        for goal, tokens in self._spelled_out(joined):
            self._add(goal, tokens)
        first = self.nodes[ROOT].children
        self.apart = first.get(APART, ROOT)
        """The node after a token that ends a word and is in no phrase; the root if none is."""
        self.inside = first.get(INSIDE, ROOT)
        """The node after a token that ends with enough letters of a word and is in no phrase."""
        self.start = first.get(BEGIN, self.apart)
        """The node of an output that has no tokens yet."""
        self._anchors = {first[token] for token in ANCHORS if token in first}
        self._link()

    def _add(self, goal: Goal, tokens: Tokens) -> None:
        """Add a goal, with tokens in the places of its symbols."""
        path = self._path(tokens)
        for node in path[goal.led + 1 : -1] if goal.led else path[:-1]:
            self.nodes[node].begun.append(goal)
        self.nodes[path[-1]].ends.append(goal)

    def _spelled_out(self, goals: Sequence[Goal]) -> Iterator[tuple[Goal, Tokens]]:
        """Yield goals, each with all that may stand in the place of `SHORT` and `LONG`.

        Those with the fewest ways come first. What is beyond `MOST_JOINED` is left out: such
        compounds are not looked for.
        """
        if not goals or self._words is None:
            return
        alphabet = self._list_alphabet()
        present = np.flatnonzero(np.bincount(class_flags(self._words)))
        others = [class_symbol(flags) for flags in present.tolist()]
        fits = {
            symbol: [each for each in (*alphabet, *others) if self._fits(symbol, each)]
            for symbol in (SHORT, LONG, ONLY_SHORT)
        }
        choices = [[fits.get(symbol, [symbol]) for symbol in goal.tokens] for goal in goals]
        sizes = [prod(map(len, each)) for each in choices]
        left = MOST_JOINED
        for number in sorted(range(len(goals)), key=sizes.__getitem__):
            left -= sizes[number]
            if left < 0:
                return
            for tokens in product(*choices[number]):
                yield goals[number], tokens

    def _fits(self, symbol: int, token: int) -> bool:
        """Return whether a token, or a symbol of some, may stand in the place of a symbol."""
        flags = self._flags(token) & _SHORT_OR_LONG
        if symbol == ONLY_SHORT:
            return flags == whole_words.SHORT
        return bool(flags & (whole_words.SHORT if symbol == SHORT else whole_words.LONG))

    def _flags(self, symbol: int) -> int:
        """Return the classes of a token, or those that a symbol stands for."""
        if symbol < 0 or self._words is None:
            return max(flags_of(symbol), 0) if symbol < 0 else 0
        flags = self._known_flags.get(symbol)
        if flags is None:
            closing = CLOSING if self._words.closing[symbol] else 0
            flags = self._known_flags[symbol] = int(self._words.joining[symbol]) + closing
        return flags

    @property
    def begins(self) -> set[int]:
        """The nodes after which the first token of a phrase may come."""
        short = {n for s, n in self.nodes[self.inside].children.items() if s <= _FIRST_CLASS}
        return {ROOT, self.start, self.apart, self.inside} | (short if self.inside else set())

    def from_root(self, token: int) -> int:
        """Return where a token leads from the root."""
        known = self.nodes[ROOT].children.get(token)
        return self._after_any(token) if known is None else known

    def _after_any(self, token: int) -> int:
        """Return the node of what is known after a token that begins no phrase."""
        if token == BEGIN:
            return self.apart
        if not (self.apart or self.inside):
            return ROOT
        flags = self._flags(token)
        if flags & CLOSING:
            return self.apart
        return self.inside if flags & whole_words.ENDS else ROOT

    @cached_property
    def alphabet(self) -> list[int]:
        """All tokens of all phrases, rising."""
        return self._list_alphabet()

    def _list_alphabet(self) -> list[int]:
        """List the tokens of the phrases that have been added so far."""
        return sorted({token for node in self.nodes for token in node.children if token >= 0})

    def strings(self) -> list[Tokens]:
        """Return the tokens that lead to each node, without what stands for others."""
        strings: list[Tokens] = [()] * len(self.nodes)
        for number, node in enumerate(self.nodes):
            for token, child in node.children.items():
                strings[child] = strings[number] if token < 0 else (*strings[number], token)
        return strings

    def _path(self, phrase: Tokens) -> list[int]:
        """Return the nodes along a phrase, the root first; make those that are missing."""
        nodes, number, path = self.nodes, ROOT, [ROOT]
        root = nodes[ROOT]
        for token in phrase:
            children = nodes[number].children
            known = children.get(token)
            if known is None:
                known = children[token] = len(nodes)
                # Until it is linked to its suffix, a node has the moves and progress of the root.
                nodes.append(Node(len(path), moves=root.moves, progress=root.progress))
            number = known
            path.append(number)
        return path

    def _mark_strict(self, goals: Sequence[Goal]) -> None:
        """Mark the paths to strict goals, each up to the first strict goal that ends on it."""
        for goal in goals:
            if not goal.strict:
                continue
            for number in self._path(goal.tokens)[1:]:
                node = self.nodes[number]
                node.leads = True
                if any(other.strict for other in node.ends):
                    break
                node.strict = True

    def _link(self) -> None:
        """Set the failure links, and let every node inherit what its suffixes end and begin."""
        nodes, first = self.nodes, self.nodes[ROOT].children
        anchors = self.apart, self.inside
        queue = sorted(first.values(), key=lambda number: number not in anchors)
        for token, child in first.items():
            nodes[child].failure = self._after_any(token)
        for number in queue:
            node = nodes[number]
            suffix = nodes[node.failure]
            for token, child in node.children.items():
                known = suffix.moves.get(token)
                nodes[child].failure = self.from_root(token) if known is None else known
                queue.append(child)
            self._inherit(number, suffix)

    def _inherit(self, number: int, suffix: Node) -> None:
        """Add to a node what its longest suffix ends, begins and forbids."""
        node = self.nodes[number]
        serves = suffix.serves
        for goal in () if number in self._anchors else chain(node.ends, node.begun):
            if not goal.late:
                serves |= goal.wanted
        node.serves = serves
        # What adds nothing shares what its suffix has: tables are then made of it once.
        node.moves = {**suffix.moves, **node.children} if node.children else suffix.moves
        node.ends = _once_each(node.ends + suffix.ends) if node.ends else suffix.ends
        node.avoided |= suffix.avoided
        node.held |= suffix.held
        own = self._own_progress(number) if node.begun else []
        node.progress = _most_first([*own, *suffix.progress]) if own else suffix.progress

    def _own_progress(self, number: int) -> list[Progress]:
        """Return what this node itself has begun, grouped by constraint tokens."""
        node = self.nodes[number]
        if number in (self.apart, self.inside):
            return []  # It has begun nothing yet.
        wanted: dict[tuple[int, int], int] = {}
        depth = node.depth
        for goal in node.begun:
            gain = goal.size - len(goal.tokens) + depth
            if gain > 0:
                key = gain, goal.needed(depth) if goal.needs else 0
                wanted[key] = wanted.get(key, 0) | goal.wanted
        return [Progress(gain, number, bits, needs) for (gain, needs), bits in wanted.items()]

    def is_anchor(self, number: int) -> bool:
        """Return whether a node stands for an anchor alone."""
        return number in self._anchors


def _once_each(goals: list[Goal]) -> list[Goal]:
    """Leave out goals that say the same as another: one occurrence counts once.

    Those that end at different places, one seen later than the other, are two occurrences.
    """
    if len(goals) == 1:
        return goals
    kept: list[Goal] = []
    seen: set[tuple[int, int]] = set()
    for goal in goals:
        if not goal.repeats or (goal.repeats, goal.late) not in seen:
            kept.append(goal)
        seen.add((goal.repeats, goal.late))
    return kept


def _most_first(progress: list[Progress]) -> list[Progress]:
    """Sort by constraint tokens; leave out what never counts for more than something else."""
    if len(progress) == 1:
        return progress
    kept: list[Progress] = []
    covered = 0
    for one in sorted(progress, key=lambda one: -one.gain):
        if one.wanted & ~covered:
            kept.append(one)
            if not one.needs:
                covered |= one.wanted
    return kept


def class_flags(words: WordBoundaries) -> NDArray[np.uint8]:
    """Return the classes of all tokens, as one number for each. # shape: (vocabulary,)."""
    flags: NDArray[np.uint8] = words.joining + np.uint8(CLOSING) * words.closing
    return flags

"""The phrases of one sentence as an Aho–Corasick trie.

A hypothesis must never forget progress that is really there: after ``a a`` the phrase ``a b``
has one token of progress. Failure links give that: every node knows the longest proper suffix
of its string that is again the beginning of a phrase. Everything here is done once a sentence,
in plain Python; `lexbeam.search.automaton.automaton` packs the result into arrays for the search.

What counts only at the beginning of an output begins with the token `BEGIN`, which no output
has: it stands before the first token of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lexbeam.search.arrays import Tokens

ROOT = 0
BEGIN = -1


@dataclass(frozen=True)
class Goal:
    """A string of tokens that does something for a demand when it ends (`automaton.bit_layout`)."""

    tokens: Tokens
    sets: int
    """The bit that is set."""
    wanted: int
    """Bits of what it is good for."""
    size: int
    """Tokens that the demand, or this part of it, counts for."""
    weight: int = 0
    """Those that are counted as soon as the bit is set, for good."""
    repeats: int = 0
    """The bits above, set one by one each time it ends again."""
    needs: tuple[int, ...] = ()
    """Bits of which one must be set, by how many of the tokens were taken; none: nothing must."""
    waits: bool = False
    """It counts only if the token after it allows it: a word must not go on."""
    strict: bool = False
    """The output must begin with this, or another strict one."""

    def needed(self, taken: int) -> int:
        """Return the bits of which one must be set once so many nodes were passed."""
        if not self.needs:
            return 0
        return self.needs[taken - (self.tokens[0] == BEGIN)]


class Progress(NamedTuple):
    """A suffix that has begun something."""

    gain: int
    """Constraint tokens that are in the bank on its account."""
    node: int
    wanted: int
    needs: int
    """Bits of which one must be set for it to count; none: nothing must."""


@dataclass
class Node:
    """A beginning of a phrase."""

    depth: int
    children: dict[int, int] = field(default_factory=dict)
    failure: int = ROOT
    moves: dict[int, int] = field(default_factory=dict)
    """Where a token leads from here, other than where it leads from the root."""
    ends: list[Goal] = field(default_factory=list)
    """What ends here, as a suffix of what has been read."""
    begun: list[Goal] = field(default_factory=list)
    """What has this node's string as a proper beginning."""
    serves: int = 0
    """Bits of what some suffix of this node's string begins or ends."""
    progress: list[Progress] = field(default_factory=list)
    """Suffixes that have begun something, those that count for most first."""
    avoided: bool = False
    """Does an avoided phrase end here?"""
    held: bool = False
    """Does an avoided phrase end here if the word ends here?"""
    strict: bool = False
    """Must the output go on to a strict goal from here?"""
    leads: bool = False
    """Does this node lie on the way to a strict goal?"""


class Trie:
    """What is demanded and avoided in one sentence; node 0 is the root.

    ``whole_words`` are the avoided phrases that only count as whole words.
    """

    def __init__(
        self,
        goals: Sequence[Goal],
        avoided: Sequence[Tokens] = (),
        whole_words: Sequence[Tokens] = (),
    ) -> None:
        self.nodes = [Node(depth=0)]
        for goal in goals:
            path = self._path(goal.tokens)
            for node in path[:-1]:
                self.nodes[node].begun.append(goal)
            self.nodes[path[-1]].ends.append(goal)
        for phrase in avoided:
            self.nodes[self._path(phrase)[-1]].avoided = True
        for phrase in whole_words:
            self.nodes[self._path(phrase)[-1]].held = True
        self._mark_strict(goals)
        self._link()

    @property
    def start(self) -> int:
        """The node of an output that has no tokens yet."""
        return self.nodes[ROOT].children.get(BEGIN, ROOT)

    @property
    def alphabet(self) -> list[int]:
        """All tokens of all phrases, rising."""
        return sorted({token for node in self.nodes for token in node.children} - {BEGIN})

    def _path(self, phrase: Tokens) -> list[int]:
        """Return the nodes along a phrase, the root first; make those that are missing."""
        path = [ROOT]
        for token in phrase:
            here = self.nodes[path[-1]]
            if token not in here.children:
                here.children[token] = len(self.nodes)
                self.nodes.append(Node(depth=here.depth + 1))
            path.append(here.children[token])
        return path

    def _mark_strict(self, goals: Sequence[Goal]) -> None:
        """Mark the ways to strict goals, up to the first that ends on each."""
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
        """Set the failure links, and hand down along them what suffixes know."""
        queue = list(self.nodes[ROOT].children.values())
        for number in queue:
            node = self.nodes[number]
            suffix = self.nodes[node.failure]
            for token, child in node.children.items():
                self.nodes[child].failure = suffix.moves.get(
                    token, self.nodes[ROOT].children.get(token, ROOT)
                )
                queue.append(child)
            self._inherit(number, suffix)

    def _inherit(self, number: int, suffix: Node) -> None:
        node = self.nodes[number]
        node.serves = suffix.serves
        for goal in (*node.ends, *node.begun):
            node.serves |= goal.wanted
        node.moves = {**suffix.moves, **node.children}
        node.ends = node.ends + suffix.ends
        node.avoided |= suffix.avoided
        node.held |= suffix.held
        node.progress = _most_first([*self._own_progress(number), *suffix.progress])

    def _own_progress(self, number: int) -> list[Progress]:
        """Group what this node has begun by what that counts for."""
        node = self.nodes[number]
        wanted: dict[tuple[int, int], int] = {}
        for goal in node.begun:
            gain = goal.size - (len(goal.tokens) - node.depth)
            if gain > 0:
                key = gain, goal.needed(node.depth)
                wanted[key] = wanted.get(key, 0) | goal.wanted
        return [Progress(gain, number, bits, needs) for (gain, needs), bits in wanted.items()]


def _most_first(progress: Sequence[Progress]) -> list[Progress]:
    """Leave out what never counts for more than something else that has begun."""
    kept: list[Progress] = []
    covered = 0
    for one in sorted(progress, key=lambda one: -one.gain):
        if one.wanted & ~covered:
            kept.append(one)
            if not one.needs:
                covered |= one.wanted
    return kept

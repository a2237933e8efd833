"""The phrases of one sentence as an Aho–Corasick trie.

A hypothesis must never forget progress that is really there: after ``a a`` the phrase ``a b``
has one token of progress. Failure links give that: every node knows the longest proper suffix
of its string that is again the beginning of a phrase. Everything here is done once per sentence,
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

    def needed(self, taken: int) -> int:
        """Return the bits of which one must be set after so many nodes of the string."""
        if not self.needs:
            return 0
        return self.needs[taken - (self.tokens[0] == BEGIN)]


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


@dataclass
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
    """Bits of what some suffix of this node's string begins or ends."""
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
        """Add to a node what its longest suffix ends, begins and forbids."""
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
        """Return what this node itself has begun, grouped by constraint tokens."""
        node = self.nodes[number]
        wanted: dict[tuple[int, int], int] = {}
        for goal in node.begun:
            gain = goal.size - (len(goal.tokens) - node.depth)
            if gain > 0:
                key = gain, goal.needed(node.depth)
                wanted[key] = wanted.get(key, 0) | goal.wanted
        return [Progress(gain, number, bits, needs) for (gain, needs), bits in wanted.items()]


def _most_first(progress: Sequence[Progress]) -> list[Progress]:
    """Sort by constraint tokens; leave out what never counts for more than something else."""
    kept: list[Progress] = []
    covered = 0
    for one in sorted(progress, key=lambda one: -one.gain):
        if one.wanted & ~covered:
            kept.append(one)
            if not one.needs:
                covered |= one.wanted
    return kept

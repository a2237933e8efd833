"""The phrases of one sentence as an Aho–Corasick trie.

A hypothesis must never forget progress that is really there: after ``a a`` the phrase ``a b``
has one token of progress. Failure links give that: every node knows the longest proper suffix
of its string that is again the beginning of a phrase. Everything here is done once a sentence,
in plain Python; `lexbeam.automaton` packs the result into arrays for the search.

Met phrases are kept as bits. A phrase that is demanded n times owns a field of n neighbouring
bits, filled from the lowest, so that "met twice of three times" is ``0b011``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Tokens = tuple[int, ...]

ROOT = 0


@dataclass(frozen=True)
class Demand:
    """A phrase that must occur ``times`` times; its bits start at ``bit``."""

    tokens: Tokens
    bit: int
    times: int

    @property
    def lowest(self) -> int:
        """The bit of the first occurrence."""
        return 1 << self.bit

    @property
    def field(self) -> int:
        """The bits of all occurrences."""
        return ((1 << self.times) - 1) << self.bit


@dataclass
class Node:
    """A beginning of a phrase."""

    depth: int
    children: dict[int, int] = field(default_factory=dict)
    failure: int = ROOT
    moves: dict[int, int] = field(default_factory=dict)
    """Where a token leads from here, other than where it leads from the root."""
    completes: list[Demand] = field(default_factory=list)
    """Demanded phrases that end here, as a suffix of what has been read."""
    ahead: int = 0
    """Bits of the phrases that have this node's string as a proper beginning."""
    serves: int = 0
    """Bits of the phrases that some suffix of this node's string begins or completes."""
    progress: list[tuple[int, int, int]] = field(default_factory=list)
    """(depth, node, bits): suffixes, longest first, each with the phrases that it has begun."""
    avoided: bool = False
    """Does an avoided phrase end here?"""
    held: bool = False
    """Does an avoided phrase end here if the word ends here?"""


class Trie:
    """Demanded and avoided phrases of one sentence; node 0 is the root.

    ``whole_words`` are the avoided phrases that only count as whole words.
    """

    def __init__(
        self,
        demanded: Sequence[Tokens],
        avoided: Sequence[Tokens] = (),
        whole_words: Sequence[Tokens] = (),
    ) -> None:
        self.nodes = [Node(depth=0)]
        self.demands: list[Demand] = []
        self.bit_of_phrase: list[int] = []
        self._number_bits(demanded)
        for demand in self.demands:
            self._insert_demand(demand)
        for phrase in avoided:
            self.nodes[self._path(phrase)[-1]].avoided = True
        for phrase in whole_words:
            self.nodes[self._path(phrase)[-1]].held = True
        self._link()

    @property
    def size(self) -> int:
        """The number of constraint tokens, C in the paper."""
        return sum(len(demand.tokens) * demand.times for demand in self.demands)

    @property
    def alphabet(self) -> list[int]:
        """All tokens of all phrases, rising."""
        return sorted({token for node in self.nodes for token in node.children})

    def _number_bits(self, demanded: Sequence[Tokens]) -> None:
        times: dict[Tokens, int] = {}
        copies = []
        for phrase in demanded:
            copies.append(times.get(phrase, 0))
            times[phrase] = copies[-1] + 1
        first_bit = {}
        bit = 0
        for phrase, count in times.items():
            first_bit[phrase] = bit
            self.demands.append(Demand(phrase, bit, count))
            bit += count
        self.bit_of_phrase = [
            first_bit[phrase] + copy for phrase, copy in zip(demanded, copies, strict=True)
        ]

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

    def _insert_demand(self, demand: Demand) -> None:
        path = self._path(demand.tokens)
        for node in path[:-1]:
            self.nodes[node].ahead |= demand.field
        self.nodes[path[-1]].completes.append(demand)

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
        own = node.ahead
        for demand in node.completes:
            own |= demand.field
        node.serves = own | suffix.serves
        node.moves = {**suffix.moves, **node.children}
        node.completes = node.completes + suffix.completes
        node.avoided |= suffix.avoided
        node.held |= suffix.held
        if node.ahead:
            node.progress.append((node.depth, number, node.ahead))
        covered = node.ahead
        for shorter in suffix.progress:
            bits = shorter[-1]
            if bits & ~covered:
                node.progress.append(shorter)
                covered |= bits

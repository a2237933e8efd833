"""Phrases that may not occur more often than they are given.

Such a phrase is avoided from the moment it has occurred often enough. So what is banned depends
on the bits of a hypothesis, not only on its node: a token that would complete the phrase once
more, and the end of a word that would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import (
    PAD,
    Bits,
    BoolArray,
    IntArray,
    SparseBits,
    leave_out_empty,
    pack_bits,
    pack_rows,
    pack_rows_of_bits,
)
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ROOT, Goal, Node, Trie
from lexbeam.search.automaton.whole_words import WordBoundaries


@dataclass(frozen=True)
class ExactCounts:
    """What each node bans once a phrase has occurred often enough."""

    held: list[SparseBits]
    """Bits that are all set if the word may not end here. # shape of each array: (nodes,)"""
    ban_tokens: IntArray  # shape: (nodes, banned)
    ban_bits: SparseBits
    """Bits that are all set if the token is banned. # shape of each array: (nodes, banned)"""
    by_seen: BoolArray
    """Whether what waits for the end of its word counts, because the token ends the word.
    # shape: (nodes, banned)"""
    words: WordBoundaries | None
    _held_last: list[tuple[States, BoolArray]] = field(default_factory=list, compare=False)
    """The states that were asked about last: a step of the search asks several times."""
    _banned_last: list[tuple[States, IntArray]] = field(default_factory=list, compare=False)

    @classmethod
    def compile(
        cls, tries: Sequence[Trie], bit_arrays: int, words: WordBoundaries | None, can_hold: bool
    ) -> ExactCounts | None:
        """Tabulate the nodes of all tries; return None if no phrase has an exact count."""
        nodes = [Node(depth=0), *(node for trie in tries for node in trie.nodes)]
        if not any(goal.exact for node in nodes if node.ends for goal in node.ends):
            return None
        waiting = [
            [goal.exact for goal in node.ends if goal.exact and goal.waits and can_hold]
            for node in nodes
        ]
        layers = max(map(len, waiting))
        rows: list[list[tuple[int, int]]] = [[]]
        for trie in tries:
            known: dict[int, list[tuple[int, int]]] = {}  # Nodes may share their moves.
            for node in trie.nodes:
                if id(node.moves) not in known:
                    known[id(node.moves)] = list(_completing(trie, node, can_hold))
                rows.append(known[id(node.moves)])
        tokens = pack_rows([[token for token, _ in row] for row in rows], fill=PAD)
        ended = np.ones(tokens.shape, np.bool_) if words is None else words.ended(tokens)
        return cls(
            [
                leave_out_empty(
                    pack_bits([row[i] if i < len(row) else 0 for row in waiting], bit_arrays)
                )
                for i in range(layers)
            ],
            tokens,
            leave_out_empty(
                pack_rows_of_bits([[bits for _, bits in row] for row in rows], bit_arrays)
            ),
            ended,
            words,
        )

    def hold(self, states: States) -> BoolArray:
        """Return a mask of those whose word is one too many if it ends here."""
        if not self._held_last or self._held_last[0][0] is not states:
            held = np.zeros(states.node.shape, np.bool_)
            for layer in self.held:
                held |= _are_set(layer, states.node, states.met)
            self._held_last[:] = [(states, held)]
        return self._held_last[0][1]

    def ban(self, states: States) -> IntArray:
        """Return the tokens that would complete a phrase once too often. # shape: (…, banned)."""
        if not self._banned_last or self._banned_last[0][0] is not states:
            node = states.node
            by_seen = self.by_seen[node]
            have = {
                number: np.where(
                    by_seen, states.seen[number][..., None], states.met[number][..., None]
                )
                for number, _ in self.ban_bits
            }
            full = _are_set(self.ban_bits, node, have)
            banned = np.where(full, self.ban_tokens[node], PAD)
            self._banned_last[:] = [(states, banned)]
        return self._banned_last[0][1]

    def exceeds(self, states: States, tokens: IntArray) -> BoolArray:
        """Return a mask of the tokens after which a phrase has occurred once too often.

        # shape: (hypotheses, tokens), as that of the tokens.
        """
        found = np.zeros(tokens.shape, np.bool_)
        for banned in self.ban(states).T:  # There are few columns, and may be many states.
            found |= tokens == banned[:, None]
        if self.words is not None:
            found |= self.hold(states)[:, None] & self.words.ended(tokens)
        found &= tokens != PAD
        return found


def _completing(trie: Trie, node: Node, can_hold: bool) -> Iterator[tuple[int, int]]:
    """Yield the tokens that complete a phrase with an exact count after a node, with its bits."""
    for token, target in {**trie.nodes[ROOT].children, **node.moves}.items():
        for goal in trie.nodes[target].ends if token >= 0 else ():
            if goal.exact and not _is_held(goal, can_hold):
                yield token, goal.exact


def _is_held(goal: Goal, can_hold: bool) -> bool:
    """Return whether a phrase is complete only when its word ends, and that can be prevented."""
    return goal.waits and can_hold


def _are_set(
    table: SparseBits,
    rows: IntArray,
    have: Bits | Mapping[int, NDArray[np.uint64]],
) -> BoolArray:
    """Return a mask of the rows of a table that have bits and of which all are set."""
    some, lacking = np.zeros((2, 1), np.uint64)
    for number, array in table:
        bits = array[rows]
        some = some | bits
        lacking = lacking | (bits & ~have[number])
    are_set: BoolArray = (some != 0) & (lacking == 0)
    return are_set

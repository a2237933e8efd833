"""Phrases that may not occur more often than they are given.

Such a phrase is avoided from the moment it has occurred often enough. So what is banned depends
on the bits of a hypothesis, not only on its node: a token that would complete the phrase once
more, and the end of a word that would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import (
    PAD,
    Bits,
    BoolArray,
    IntArray,
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

    held: list[Bits]
    """Bits that are all set if the word may not end here. # shape of each array: (nodes,)"""
    ban_tokens: IntArray  # shape: (nodes, banned)
    ban_bits: Bits
    """Bits that are all set if the token is banned. # shape of each array: (nodes, banned)"""
    by_seen: BoolArray
    """Whether what waits for the end of its word counts, because the token ends the word.
    # shape: (nodes, banned)"""
    words: WordBoundaries | None

    @classmethod
    def compile(
        cls, tries: Sequence[Trie], bit_arrays: int, words: WordBoundaries | None, can_hold: bool
    ) -> ExactCounts | None:
        """Tabulate the nodes of all tries; return None if no phrase has an exact count."""
        nodes = [Node(depth=0), *(node for trie in tries for node in trie.nodes)]
        if not any(goal.exact for node in nodes for goal in node.ends):
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
                pack_bits([row[i] if i < len(row) else 0 for row in waiting], bit_arrays)
                for i in range(layers)
            ],
            tokens,
            pack_rows_of_bits([[bits for _, bits in row] for row in rows], bit_arrays),
            ended,
            words,
        )

    def hold(self, states: States) -> BoolArray:
        """Return a mask of those whose word is one too many if it ends here."""
        held = np.zeros(states.node.shape, np.bool_)
        for layer in self.held:
            held |= _are_set([bits[states.node] for bits in layer], states.met)
        return held

    def ban(self, states: States) -> IntArray:
        """Return the tokens that would complete a phrase once too often. # shape: (…, banned)."""
        node = states.node
        tokens, by_seen = self.ban_tokens[node], self.by_seen[node]
        have = [
            np.where(by_seen, seen[..., None], met[..., None])
            for seen, met in zip(states.seen, states.met, strict=True)
        ]
        full = _are_set([bits[node] for bits in self.ban_bits], have)
        return np.where(full, tokens, PAD)

    def exceeds(self, states: States, tokens: IntArray) -> BoolArray:
        """Return a mask of the tokens after which a phrase has occurred once too often.

        # shape: (hypotheses, tokens), as that of the tokens.
        """
        found: BoolArray = (tokens[..., None] == self.ban(states)[:, None, :]).any(axis=-1)
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


def _are_set(wanted: Sequence[NDArray[np.uint64]], have: Sequence[NDArray[np.uint64]]) -> BoolArray:
    """Return a mask of where there are wanted bits and all of them are set."""
    some, lacking = wanted[0], wanted[0] & ~have[0]
    for bits, present in zip(wanted[1:], have[1:], strict=True):
        some = some | bits
        lacking = lacking | (bits & ~present)
    are_set: BoolArray = (some != 0) & (lacking == 0)
    return are_set

"""The tokens that a node asks the model for, and those that it bans.

Asked tokens start or continue a phrase; banned tokens would complete an avoided one. Both are
listed per node when the automaton is made, so that a step only looks them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray, pack_rows, row_starts
from lexbeam.search.automaton.trie import ROOT, Node, Trie

WORTH_PACKING = 2048
"""From so many tokens asked of all hypotheses on, it pays to leave out what has been met."""


@dataclass(frozen=True)
class AskedAndBanned:
    """Tokens by node, `PAD` where a node has fewer than others."""

    row_of_node: IntArray
    """Where the tokens are that a node asks for: many ask for the same. # shape: (nodes,)"""
    ask_tokens: IntArray  # shape: (rows, asked)
    ask_targets: IntArray  # shape: (rows, asked), the nodes that they lead to
    ban_here: IntArray  # shape: (nodes, banned)
    ban_always: IntArray
    """Tokens that end an avoided phrase wherever they stand. # shape: (sentences, banned)"""

    @classmethod
    def compile(cls, tries: Sequence[Trie], roots: IntArray) -> AskedAndBanned:
        """List the tokens of all nodes of tries whose roots have the given numbers."""
        rows = [0]
        tokens: list[list[int]] = [[]]
        targets: list[list[int]] = [[]]
        banned: list[list[int]] = [[]]
        always: list[list[int]] = []
        known: dict[int, _Listed] = {}
        for root, trie in zip(roots.tolist(), tries, strict=True):
            if id(trie) not in known:  # Sentences that ask for the same share their trie.
                known[id(trie)] = _list_tokens(trie)
            listed = known[id(trie)]
            numbers: dict[int, int] = {}
            for asked, nodes in zip(listed.tokens, listed.nodes, strict=True):
                if id(asked) not in numbers:
                    numbers[id(asked)] = len(tokens)
                    tokens.append(asked)
                    targets.append([root + node for node in nodes])
                rows.append(numbers[id(asked)])
            banned += listed.banned
            always.append(listed.always)
        return cls(
            np.array(rows, np.int64),
            pack_rows(tokens, fill=PAD),
            pack_rows(targets, fill=0),
            pack_rows(banned, fill=PAD),
            pack_rows(always, fill=PAD),
        )


class _Listed(NamedTuple):
    """What each node of a trie asks for and bans."""

    tokens: list[list[int]]
    nodes: list[list[int]]
    """Where these tokens lead."""
    banned: list[list[int]]
    always: list[int]


def _list_tokens(trie: Trie) -> _Listed:
    nodes, first = trie.nodes, trie.nodes[ROOT].children
    from_root = {t: n for t, n in first.items() if nodes[n].serves and t >= 0}
    always = [t for t, n in first.items() if nodes[n].avoided and t >= 0]
    listed, banned_from_root = _Listed([], [], [], always), set(always)
    known: dict[tuple[int, bool], tuple[list[int], list[int], list[int]]] = {}
    for node in nodes:
        key = id(node.moves), node.strict  # Nodes that differ in nothing else share their moves.
        if key not in known:
            moves = {**from_root, **node.moves} if node.moves else from_root
            useful = [(t, n) for t, n in moves.items() if t >= 0 and _is_useful(node, nodes[n])]
            ends = (token for token, target in node.moves.items() if nodes[target].avoided)
            banned = [t for t in ends if t >= 0 and t not in banned_from_root]
            known[key] = [token for token, _ in useful], [target for _, target in useful], banned
        for rows, row in zip(listed[:3], known[key], strict=True):
            rows.append(row)
    return listed


def _is_useful(node: Node, target: Node) -> bool:
    """Return whether a node asks for the token that leads to another."""
    return target.serves > 0 and not target.avoided and (target.leads or not node.strict)


def pack_useful(
    useful: BoolArray, tokens: IntArray, targets: IntArray
) -> tuple[IntArray, IntArray]:
    """Move what is useful in each row to its front, and cut off the columns left over."""
    counts = np.count_nonzero(useful, axis=1)
    width = int(counts.max())
    first = counts.cumsum() - counts
    old = useful.ravel().nonzero()[0]
    new = np.arange(len(old)) + (row_starts(len(counts), width)[:, 0] - first).repeat(counts)
    packed_tokens = np.full((len(counts), width), PAD)
    packed_targets = np.zeros((len(counts), width), np.int64)
    packed_tokens.ravel()[new] = tokens.ravel()[old]
    packed_targets.ravel()[new] = targets.ravel()[old]
    return packed_tokens, packed_targets

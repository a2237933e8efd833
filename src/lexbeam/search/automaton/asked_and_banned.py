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
from lexbeam.search.automaton.trie import ROOT, Trie

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
        banned: list[list[int]] = [[]]  # one row for each of those, as nodes share both
        always: list[list[int]] = []
        known: dict[int, _Listed] = {}
        for root, trie in zip(roots.tolist(), tries, strict=True):
            if id(trie) not in known:  # Sentences that ask for the same share their trie.
                known[id(trie)] = _list_tokens(trie)
            listed, before = known[id(trie)], len(tokens)
            rows += [before + row for row in listed.row_of_node]
            tokens += listed.tokens
            targets += [[root + node for node in nodes] for nodes in listed.nodes]
            banned += listed.banned
            always.append(listed.always)
        row_of_node = np.array(rows, np.int64)
        return cls(
            row_of_node,
            pack_rows(tokens, fill=PAD),
            pack_rows(targets, fill=0),
            pack_rows(banned, fill=PAD).take(row_of_node, axis=0),
            pack_rows(always, fill=PAD),
        )


class _Listed(NamedTuple):
    """What the nodes of a trie ask for and ban; those that differ in neither share a row."""

    row_of_node: list[int]
    tokens: list[list[int]]
    nodes: list[list[int]]
    """Where these tokens lead."""
    banned: list[list[int]]
    always: list[int]


def _list_tokens(trie: Trie) -> _Listed:
    nodes, first = trie.nodes, trie.nodes[ROOT].children
    from_root = {t: n for t, n in first.items() if nodes[n].serves and t >= 0}
    always = [t for t, n in first.items() if nodes[n].avoided and t >= 0]
    listed, banned_from_root = _Listed([], [], [], [], always), set(always)
    wanted = [node.serves > 0 and not node.avoided for node in nodes]
    leading = [good and node.leads for good, node in zip(wanted, nodes, strict=True)]
    avoided = any(node.avoided for node in nodes)
    known: dict[tuple[int, bool], int] = {}
    for node in nodes:
        key = id(node.moves), node.strict  # Nodes that differ in nothing else share their moves.
        row = known.get(key)
        if row is None:
            row = known[key] = len(listed.tokens)
            moves = {**from_root, **node.moves} if node.moves else from_root
            is_useful = leading if node.strict else wanted
            useful = {t: n for t, n in moves.items() if is_useful[n] and t >= 0}
            ends = [t for t, n in node.moves.items() if nodes[n].avoided] if avoided else []
            listed.tokens.append(list(useful))
            listed.nodes.append(list(useful.values()))
            listed.banned.append([t for t in ends if t >= 0 and t not in banned_from_root])
        listed.row_of_node.append(row)
    return listed


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

"""Where tokens lead in the tries of a batch, as one set of tables.

Nodes are numbered through all tries; node 0 belongs to no sentence, and the padding of tables
points to it. Tokens that are in no phrase all lead to the same node, so tables have a column per
*symbol*: one for each token of a phrase, and one for all others. Where spellings are told apart
by what stands before them (`trie.APART`), the others that end a word have a symbol of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexbeam.search.arrays import BoolArray, IntArray, pack_rows
from lexbeam.search.automaton.trie import APART, BEGIN, ROOT, Trie

_MOST_MOVES = 32
"""Moves of one node that are compared one by one: the beginning of a word may have thousands."""


@dataclass(frozen=True)
class Transitions:
    """The transitions of all tries: dense from the roots, a short list for every other node."""

    symbol: IntArray
    """The symbol of each token. # shape: (vocabulary + 1,)"""
    symbols: int
    from_root: IntArray
    """The target of each symbol from each root. # shape: (sentences · symbols,)"""
    row_of_node: IntArray
    """Where the row of each node's sentence begins in ``from_root``. # shape: (nodes,)"""
    move_symbols: IntArray
    """The symbols that lead elsewhere than from the root. # shape: (nodes, moves)"""
    move_targets: IntArray
    """Where these lead. # shape: (nodes, moves)"""
    listed: tuple[IntArray, IntArray] | None = None
    """The same as sorted keys (node · symbols + symbol) and targets, where a node has many."""

    @classmethod
    def compile(
        cls,
        tries: Sequence[Trie],
        roots: IntArray,
        vocabulary_size: int,
        closing: BoolArray | None = None,
    ) -> Transitions:
        """Tabulate the transitions of tries whose roots have the given numbers.

        ``closing`` marks the tokens after which a word has ended. # shape: (vocabulary,)
        """
        if all(trie.apart == ROOT for trie in tries):
            closing = None
        symbol, count = _number_symbols(tries, vocabulary_size, closing)
        from_root = np.repeat(roots[:, None], count, axis=1)
        symbols: list[list[int]] = [[]]
        targets: list[list[int]] = [[]]
        row_of_node = [0]
        for sentence, (root, trie) in enumerate(zip(roots.tolist(), tries, strict=True)):
            if closing is not None and trie.apart != ROOT:
                from_root[sentence, np.unique(symbol[:-1][closing])] = root + trie.apart
            first = {t: n for t, n in trie.nodes[ROOT].children.items() if t != APART}
            from_root[sentence, symbol[list(first)]] = [root + n for n in first.values()]
            for node in trie.nodes:
                symbols.append(symbol[list(node.moves)].tolist() if node.moves else [])
                targets.append([root + target for target in node.moves.values()])
                row_of_node.append(sentence * count)
        listed = None
        if max(map(len, symbols)) > _MOST_MOVES:
            listed = _list_moves(symbols, targets, count)
            symbols = targets = [[] for _ in symbols]
        return cls(
            symbol,
            count,
            from_root.ravel(),
            np.array(row_of_node, dtype=np.int64),
            pack_rows(symbols, fill=-1),
            pack_rows(targets, fill=0),
            listed,
        )

    def follow(self, node: IntArray, tokens: IntArray) -> IntArray:
        """Return the nodes that tokens lead to."""
        symbol = self.symbol[tokens]
        target: IntArray = self.from_root[self.row_of_node[node] + symbol]
        if self.move_symbols.shape[1]:
            # shape: (…, moves)
            fits = self.move_symbols.take(node, axis=0) == symbol[..., None]
            moved = (self.move_targets.take(node, axis=0) * fits).max(axis=-1)
            target = np.where(moved > 0, moved, target)
        if self.listed is not None:
            keys, targets = self.listed
            sought = node * self.symbols + symbol
            index = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
            target = np.where(keys[index] == sought, targets[index], target)
        return target

    def sentence_of(self, node: IntArray) -> IntArray:
        """Return the sentence that each node belongs to, of node 0 the first."""
        sentence: IntArray = self.row_of_node[node] // self.symbols
        return sentence


def _list_moves(
    symbols: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], count: int
) -> tuple[IntArray, IntArray]:
    """Return moves as sorted keys, and their targets."""
    keys = [node * count + each for node, row in enumerate(symbols) for each in row]
    flat = np.array([target for row in targets for target in row], dtype=np.int64)
    order = np.argsort(keys)
    return np.array(keys, dtype=np.int64)[order], flat[order]


def _number_symbols(
    tries: Sequence[Trie], vocabulary_size: int, closing: BoolArray | None
) -> tuple[IntArray, int]:
    """Give every token of a phrase a symbol, from 1 on; all other tokens are symbol 0.

    Where ``closing`` is given, those of the others that it marks share the last symbol.
    """
    alphabet = sorted({token for trie in tries for token in trie.alphabet})
    # The last entry is that of `BEGIN`, which stands for a token beyond the vocabulary.
    symbol = np.zeros(vocabulary_size + 1, dtype=np.int64)
    if closing is not None:
        symbol[:-1][closing] = len(alphabet) + 2
    symbol[alphabet] = np.arange(1, len(alphabet) + 1)
    symbol[BEGIN] = len(alphabet) + 1
    return symbol, len(alphabet) + 2 + (closing is not None)

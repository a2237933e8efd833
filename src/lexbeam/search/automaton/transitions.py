"""Where tokens lead in the tries of a batch, as one set of tables.

Nodes are numbered through all tries; node 0 belongs to no sentence, and the padding of tables
points to it. Tokens that are in no phrase all lead to the same node, so tables have a column per
*symbol*: one for each token of a phrase, and one for all others. Where spellings are told apart
by what stands beside them, the others have a symbol for each combination of classes
(`trie.class_symbol`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from lexbeam.search.arrays import IntArray, pack_rows
from lexbeam.search.automaton.trie import BEGIN, CLOSING, ROOT, Trie, class_flags, class_symbol
from lexbeam.search.automaton.whole_words import WordBoundaries

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
        words: WordBoundaries | None = None,
    ) -> Transitions:
        """Tabulate the transitions of tries whose roots have the given numbers."""
        alphabet = sorted(set(chain.from_iterable(trie.alphabet for trie in tries)))
        symbol, flags = _number_symbols(alphabet, tries, vocabulary_size, words)
        count, present = len(flags), sorted(set(flags.tolist()) - {0})
        from_root = np.repeat(roots[:, None], count, axis=1)
        # Nodes that share their moves share a row of symbols and targets.
        symbols: list[list[int]] = [[]]
        targets: list[list[int]] = [[]]
        moves_of_node, row_of_node = [0], [0]
        number_of = dict(zip(alphabet, range(1, len(alphabet) + 1), strict=True))
        for sentence, (root, trie) in enumerate(zip(roots.tolist(), tries, strict=True)):
            for each in present:
                from_root[sentence, flags == each] += trie.from_root(class_symbol(each))
            first = {t: n for t, n in trie.nodes[ROOT].children.items() if t >= BEGIN}
            from_root[sentence, symbol[list(first)]] = [root + n for n in first.values()]
            row_of_node += [sentence * count] * len(trie.nodes)
            by_class = _by_class(trie, number_of, flags)
            known: dict[int, int] = {}
            for node in trie.nodes:
                row = known.get(id(node.moves))
                if row is None:
                    row = known[id(node.moves)] = len(symbols)
                    moves = _moves(node.moves, number_of, by_class)
                    symbols.append([each for each, _ in moves])
                    targets.append([root + target for _, target in moves])
                moves_of_node.append(row)
        listed = None
        if max(map(len, symbols)) > _MOST_MOVES:
            symbols_of_nodes = [symbols[row] for row in moves_of_node]
            targets_of_nodes = [targets[row] for row in moves_of_node]
            listed = _list_moves(symbols_of_nodes, targets_of_nodes, count)
            symbols = targets = [[] for _ in symbols]
        return cls(
            symbol,
            count,
            from_root.ravel(),
            np.array(row_of_node, dtype=np.int64),
            pack_rows(symbols, fill=-1).take(moves_of_node, axis=0),
            pack_rows(targets, fill=0).take(moves_of_node, axis=0),
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


def _moves(
    moves: Mapping[int, int],
    number_of: Mapping[int, int],
    by_class: Mapping[int, list[int]] | None,
) -> list[tuple[int, int]]:
    """Return the symbols of moves with their targets; a class is all symbols that it stands for.

    ``number_of`` has the symbols of the tokens of phrases.
    """
    if by_class is None:
        return [(number_of[token], target) for token, target in moves.items()]
    return [
        (each, target)
        for token, target in moves.items()
        for each in ((number_of[token],) if token >= 0 else by_class.get(token, ()))
    ]


def _by_class(
    trie: Trie, number_of: Mapping[int, int], flags: IntArray
) -> dict[int, list[int]] | None:
    """Return the symbols that each class symbol of a trie stands for: not those of its own tokens.

    None if the trie has no classes.
    """
    if not trie.joins:
        return None
    own = {number_of[token] for token in trie.alphabet}
    found: dict[int, list[int]] = {}
    for number, each in enumerate(flags.tolist()):
        if each and number not in own:
            found.setdefault(class_symbol(each), []).append(number)
    return found


def _list_moves(
    symbols: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], count: int
) -> tuple[IntArray, IntArray]:
    """Return moves as sorted keys, and their targets."""
    lengths = np.fromiter(map(len, symbols), np.int64, len(symbols))
    flat_symbols = np.array(list(chain.from_iterable(symbols)), np.int64)
    keys = np.arange(len(symbols)).repeat(lengths) * count + flat_symbols
    flat = np.array(list(chain.from_iterable(targets)), np.int64)
    order = np.argsort(keys)
    return keys[order], flat[order]


def _number_symbols(
    alphabet: Sequence[int],
    tries: Sequence[Trie],
    vocabulary_size: int,
    words: WordBoundaries | None,
) -> tuple[IntArray, IntArray]:
    """Give every token of a phrase a symbol, from 1 on; all other tokens are symbol 0.

    Where it matters of what classes they are, others of the same classes share a symbol behind
    those. Also returns the classes of each symbol.
    """
    # The last entry is that of `BEGIN`, which stands for a token beyond the vocabulary.
    symbol = np.zeros(vocabulary_size + 1, dtype=np.int64)
    symbol_flags = np.zeros(len(alphabet) + 2, np.int64)
    if words is not None and any(trie.apart or trie.joins for trie in tries):
        flags = class_flags(words)
        if not any(trie.joins for trie in tries):
            flags &= np.uint8(CLOSING)
        present = np.flatnonzero(np.bincount(flags))
        present = present[present > 0]
        number_of = np.zeros(2 * CLOSING, np.int64)
        number_of[present] = len(alphabet) + 2 + np.arange(len(present))
        symbol[:-1] = number_of[flags]
        symbol_flags[1:-1] = flags[alphabet]
        symbol_flags = np.concatenate((symbol_flags, present))
    symbol[alphabet] = np.arange(1, len(alphabet) + 1)
    symbol[BEGIN] = len(alphabet) + 1
    return symbol, symbol_flags

"""Constraints of a whole batch as integer tables, and hypotheses that walk through them.

A hypothesis carries its node in the trie of its sentence (`lexbeam.trie`) and the bits of the
phrases it has met. Taking a token is a handful of array operations, however many hypotheses,
phrases and sentences there are: the tries of all sentences lie in one set of tables.

A phrase can be made to count as a whole word only: then it is *seen* when its last token has
been taken, which is enough for its bank, and *met* when the next token is a boundary (or the
end). A token that goes on with the word unwinds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexbeam.scorer import PAD, IntArray
from lexbeam.states import States
from lexbeam.tables import Bits, pack_bits, pack_rows, starts, unpack_bits
from lexbeam.trie import ROOT, Demand, Node, Tokens, Trie
from lexbeam.words import Words

BoolArray = NDArray[np.bool_]

_WORTH_PACKING = 2048
"""Tokens asked of all hypotheses together from which it pays to leave out what has been met."""


@dataclass(frozen=True)
class _Completion:
    """One phrase that ends at each node; a node where several end has several of these."""

    lowest: Bits  # shape of each word: (nodes,)
    field: Bits
    length: IntArray  # shape: (nodes,)
    repeats: bool


@dataclass(frozen=True)
class _Progress:
    """One suffix of each node that has begun a phrase; longer suffixes come first."""

    depth: IntArray  # shape: (nodes,)
    node: IntArray
    begun: Bits


class Automaton:
    """Tables for the phrases of every sentence of a batch.

    With ``words`` phrases count as whole words only, without they are plain token sequences.
    ``can_hold`` says whether the model can be told not to end a word (`lexbeam.scorer`).
    """

    def __init__(
        self,
        demanded: Sequence[Sequence[Tokens]],
        avoided: Sequence[Sequence[Tokens]],
        vocabulary_size: int,
        words: Words | None = None,
        can_hold: bool = True,
    ) -> None:
        self.whole_words = words
        self.tries = []
        for phrases, avoid in zip(demanded, avoided, strict=True):
            held = [phrase for phrase in avoid if can_hold and self._waits(phrase)]
            banned = [phrase for phrase in avoid if not (can_hold and self._waits(phrase))]
            self.tries.append(Trie(phrases, banned, held))
        # Node 0 belongs to no sentence: the padding of the tables points to it.
        first_nodes = [1, *(len(trie.nodes) for trie in self.tries)]
        self.roots = np.cumsum(first_nodes, dtype=np.int64)[:-1]  # shape: (sentences,)
        self.sizes = np.array([trie.size for trie in self.tries], dtype=np.int64)
        bits = max((len(trie.bit_of_phrase) for trie in self.tries), default=0)
        self.words = -(-bits // 64)
        self._index_tokens(vocabulary_size)
        self._tabulate_moves()
        self._tabulate_asked_and_banned()
        self._tabulate_completions_and_progress()

    def _waits(self, phrase: Tokens) -> bool:
        """Say whether the phrase counts only if a boundary follows."""
        return self.whole_words is not None and self.whole_words.waits(phrase)

    # --- compilation, once a batch --------------------------------------------------------

    def _index_tokens(self, vocabulary_size: int) -> None:
        """Give every token of a phrase a symbol, from 1 on; all other tokens are symbol 0."""
        alphabet = sorted({token for trie in self.tries for token in trie.alphabet})
        self._symbol = np.zeros(vocabulary_size, dtype=np.int64)
        self._symbol[alphabet] = np.arange(1, len(alphabet) + 1)
        self._symbols = len(alphabet) + 1

    def _tabulate_moves(self) -> None:
        """Make the transitions: dense from the roots, a short list for every other node."""
        from_root = np.repeat(self.roots[:, None], self._symbols, axis=1)
        symbols: list[list[int]] = [[]]
        targets: list[list[int]] = [[]]
        row_of_node = [0]
        for sentence, (root, trie) in enumerate(zip(self.roots.tolist(), self.tries, strict=True)):
            first = trie.nodes[ROOT].children
            from_root[sentence, self._symbol[list(first)]] = [root + n for n in first.values()]
            for node in trie.nodes:
                symbols.append(self._symbol[list(node.moves)].tolist() if node.moves else [])
                targets.append([root + target for target in node.moves.values()])
                row_of_node.append(sentence * self._symbols)
        self._from_root = from_root.ravel()
        self._row_of_node = np.array(row_of_node, dtype=np.int64)
        self._move_symbols = pack_rows(symbols, fill=-1)  # shape: (nodes, moves)
        self._move_targets = pack_rows(targets, fill=0)

    def _tabulate_asked_and_banned(self) -> None:
        """List for each node the tokens that serve a phrase, and those that end an avoided one.

        Tokens that end an avoided phrase wherever they stand are listed once a sentence.
        """
        tokens: list[list[int]] = [[]]
        targets: list[list[int]] = [[]]
        banned: list[list[int]] = [[]]
        always: list[list[int]] = []
        for root, trie in zip(self.roots.tolist(), self.tries, strict=True):
            nodes, first = trie.nodes, trie.nodes[ROOT].children
            serving = {t: n for t, n in first.items() if nodes[n].serves}
            always.append([t for t, n in first.items() if nodes[n].avoided])
            from_root = set(always[-1])
            for node in nodes:
                ways = {**serving, **node.moves} if node.moves else serving
                useful = [
                    (token, root + target)
                    for token, target in ways.items()
                    if nodes[target].serves and not nodes[target].avoided
                ]
                tokens.append([token for token, _ in useful])
                targets.append([target for _, target in useful])
                ends = (token for token, target in node.moves.items() if nodes[target].avoided)
                banned.append([token for token in ends if token not in from_root])
        self._ask_tokens = pack_rows(tokens, fill=PAD)  # shape: (nodes, asked)
        self._ask_targets = pack_rows(targets, fill=0)
        self._ban_here = pack_rows(banned, fill=PAD)  # shape: (nodes, banned)
        self._ban_always = pack_rows(always, fill=PAD)  # shape: (sentences, banned)

    def _tabulate_completions_and_progress(self) -> None:
        nodes = [Node(depth=0), *(node for trie in self.tries for node in trie.nodes)]
        first = [0, *(r for r, t in zip(self.roots, self.tries, strict=True) for _ in t.nodes)]
        self._serves = pack_bits([node.serves for node in nodes], self.words)
        ends = [[d for d in node.completes if not self._waits(d.tokens)] for node in nodes]
        waiting = [[d for d in node.completes if self._waits(d.tokens)] for node in nodes]
        self._completed_now = self._layer_completions(ends)
        self._completed_later = self._layer_completions(waiting)
        self._progress = []
        for layer in range(max(len(node.progress) for node in nodes)):
            rows = [n.progress[layer] if layer < len(n.progress) else (0, 0, 0) for n in nodes]
            self._progress.append(
                _Progress(
                    np.array([depth for depth, _, _ in rows], dtype=np.int64),
                    np.array(
                        [root + node for root, (_, node, _) in zip(first, rows, strict=True)],
                        dtype=np.int64,
                    ),
                    pack_bits([bits for _, _, bits in rows], self.words),
                )
            )
        self._avoided = np.array([node.avoided for node in nodes], dtype=np.bool_)
        held = np.array([node.held for node in nodes], dtype=np.bool_)
        self._held = held if held.any() else None  # shape: (nodes,)

    def _layer_completions(self, ends: Sequence[Sequence[Demand]]) -> list[_Completion]:
        nothing = Demand((), 0, 0)
        layers = []
        for layer in range(max(map(len, ends))):
            rows = [row[layer] if layer < len(row) else nothing for row in ends]
            layers.append(
                _Completion(
                    pack_bits([d.lowest & d.field for d in rows], self.words),
                    pack_bits([d.field for d in rows], self.words),
                    np.array([len(d.tokens) for d in rows], dtype=np.int64),
                    any(d.times > 1 for d in rows),
                )
            )
        return layers

    # --- walking, every step --------------------------------------------------------------

    def start(self) -> States:
        """Return the state before the first token, one a sentence."""
        nothing = tuple(np.zeros(len(self.tries), np.uint64) for _ in range(self.words))
        zeros = np.zeros(len(self.tries), np.int64)
        return self._arrive(self.roots, nothing, zeros)

    def advance(self, states: States, tokens: IntArray) -> States:
        """Let every hypothesis take a token; arrays are broadcast against each other."""
        nodes = self.follow(states.node, tokens)
        return self._take_token(nodes, tokens, *states[1:5])

    def follow(self, node: IntArray, tokens: IntArray) -> IntArray:
        """Return the nodes that tokens lead to."""
        symbol = self._symbol[tokens]
        target: IntArray = self._from_root[self._row_of_node[node] + symbol]
        if self._move_symbols.shape[1]:
            # shape: (…, moves)
            fits = self._move_symbols.take(node, axis=0) == symbol[..., None]
            moved = (self._move_targets.take(node, axis=0) * fits).max(axis=-1)
            target = np.where(moved > 0, moved, target)
        return target

    def branch(
        self, states: States, parents: IntArray, tokens: IntArray, nodes: IntArray
    ) -> States:
        """Let new hypotheses continue old ones with tokens of which it is known where they lead."""
        met_tokens = states.met_tokens.take(parents)
        met = tuple(word.take(parents) for word in states.met)
        seen, seen_tokens = met, met_tokens
        if states.seen is not states.met:
            seen = tuple(word.take(parents) for word in states.seen)
            seen_tokens = states.seen_tokens.take(parents)
        return self._take_token(nodes, tokens, met, met_tokens, seen, seen_tokens)

    def _take_token(
        self,
        nodes: IntArray,
        tokens: IntArray,
        met: Bits,
        met_tokens: IntArray,
        seen: Bits,
        seen_tokens: IntArray,
    ) -> States:
        """Settle which words have ended, and arrive at the nodes."""
        if self.whole_words is not None:
            ended = self.whole_words.ended(tokens)
            met = tuple(np.where(ended, s, m) for s, m in zip(seen, met, strict=True))
            met_tokens = np.where(ended, seen_tokens, met_tokens)
        return self._arrive(nodes, met, met_tokens)

    def _arrive(self, node: IntArray, met: Bits, met_tokens: IntArray) -> States:
        """Count what ends at a node; the longest suffix that has begun a phrase is progress."""
        met, met_tokens = _complete(self._completed_now, node, met, met_tokens)
        seen, seen_tokens = met, met_tokens
        if self._completed_later:
            seen, seen_tokens = _complete(self._completed_later, node, met, met_tokens)
        bank = seen_tokens
        if self._progress:
            bank = seen_tokens + self._in_progress(node, seen)
        return States(node, met, met_tokens, seen, seen_tokens, bank)

    def _in_progress(self, node: IntArray, seen: Bits) -> IntArray:
        """Return the length of the longest suffix that has begun an unmet phrase."""
        unseen = [~word for word in seen]
        longest: IntArray | None = None
        for layer in self._progress:
            length = layer.depth[node] * _intersects(layer.begun, node, unseen)
            longest = length if longest is None else np.maximum(longest, length)
        return np.zeros_like(node) if longest is None else longest

    def ask(self, states: States) -> tuple[IntArray, IntArray]:
        """Return the tokens that start or continue an unmet phrase, and where they lead.

        # shape of both: (hypotheses, asked); `PAD` where a hypothesis has less to ask.
        """
        targets = self._ask_targets.take(states.node, axis=0)
        if not targets.size:
            return targets, targets
        useful = _intersects(self._serves, targets, [~word[:, None] for word in states.seen])
        tokens = self._ask_tokens.take(states.node, axis=0)
        if self._held is not None and self.whole_words is not None:
            useful &= ~(self._held[states.node][:, None] & self.whole_words.ended(tokens))
        if useful.size < _WORTH_PACKING:
            tokens = np.where(useful, tokens, PAD)
            return (tokens, targets) if useful.any() else (tokens[:, :0], targets[:, :0])
        return _pack(useful, tokens, targets)

    def serves(self, nodes: IntArray, states: States, parents: IntArray) -> BoolArray:
        """Say which nodes would start or continue a phrase that their parents have not met."""
        if not self.words:
            return np.zeros(nodes.shape, np.bool_)
        return _intersects(self._serves, nodes, [~word[parents] for word in states.seen])

    def ban(self, states: States) -> IntArray:
        """Return the tokens that would complete an avoided phrase. # shape: (…, banned)."""
        here = self._ban_here.take(states.node, axis=0)
        if not self._ban_always.size:
            return here
        always = self._ban_always.take(self._row_of_node[states.node] // self._symbols, axis=0)
        return np.concatenate((always, here), axis=1)

    def hold(self, states: States) -> BoolArray | None:
        """Say whose word may not end here, or it would be an avoided one; None: nobody's."""
        return None if self._held is None else self._held[states.node]

    def at(self, node: IntArray, met: Bits) -> States:
        """Return the states of hypotheses at given nodes that have met given phrases.

        Only what the phrases are, not their tokens, is counted: the banks are zero.
        """
        zeros = np.zeros_like(node)
        seen, _ = _complete(self._completed_later, node, met, zeros)
        return States(node, met, zeros, seen, zeros, zeros)

    def breaks(self, states: States) -> BoolArray:
        """Say who has just completed an avoided phrase."""
        return self._avoided[states.node]

    def places(self, states: States) -> IntArray:
        """Return the node of the phrase in progress, 0 where there is none."""
        place = np.zeros_like(states.node)
        unseen = [~word for word in states.seen]
        for layer in reversed(self._progress):
            place = np.where(
                _intersects(layer.begun, states.node, unseen), layer.node[states.node], place
            )
        return place

    def met_phrases(self, sentence: int, states: States, index: int) -> list[bool]:
        """Say phrase by phrase, in the order they were given, what a finished output has met."""
        bits = unpack_bits(states.seen, index)
        return [bool(bits >> bit & 1) for bit in self.tries[sentence].bit_of_phrase]


def _intersects(table: Bits, rows: IntArray, others: Sequence[NDArray[np.uint64]]) -> BoolArray:
    """Say which sets, picked from a table, share a member with the others."""
    common: NDArray[np.uint64] = table[0][rows] & others[0]
    for word, other in zip(table[1:], others[1:], strict=True):
        common |= word[rows] & other
    shared: BoolArray = common != 0
    return shared


def _pack(useful: BoolArray, tokens: IntArray, targets: IntArray) -> tuple[IntArray, IntArray]:
    """Move what is useful in each row to its front, and cut off the columns left over."""
    counts = np.count_nonzero(useful, axis=1)
    width = int(counts.max())
    first = counts.cumsum() - counts
    old = useful.ravel().nonzero()[0]
    new = np.arange(len(old)) + (starts(len(counts), width)[:, 0] - first).repeat(counts)
    packed_tokens = np.full((len(counts), width), PAD)
    packed_targets = np.zeros((len(counts), width), np.int64)
    packed_tokens.ravel()[new] = tokens.ravel()[old]
    packed_targets.ravel()[new] = targets.ravel()[old]
    return packed_tokens, packed_targets


def _complete(
    layers: Sequence[_Completion], node: IntArray, met: Bits, met_tokens: IntArray
) -> tuple[Bits, IntArray]:
    """Mark the phrases that end at the nodes as met, each occurrence once."""
    for layer in layers:
        grown: list[NDArray[np.uint64]] = []
        new_anywhere: NDArray[np.uint64] | None = None
        carry: NDArray[np.uint64] | None = None
        for lowest, field, bits in zip(layer.lowest, layer.field, met, strict=True):
            new = lowest[node]
            if layer.repeats:
                shifted = bits << np.uint64(1)
                new = new | ((shifted if carry is None else shifted | carry) & field[node])
                carry = bits >> np.uint64(63)
            new = new & ~bits
            grown.append(bits | new)
            new_anywhere = new if new_anywhere is None else new_anywhere | new
        if new_anywhere is not None:
            met_tokens = met_tokens + layer.length[node] * (new_anywhere != 0)
        met = tuple(grown)
    return met, met_tokens


@dataclass(frozen=True)
class Trace:
    """What a sequence of tokens did for its phrases."""

    banks: list[int]
    """The bank after each token."""
    met: list[bool]
    """One a phrase, in the order given; of a phrase given n times, as many as occur."""


def trace(
    phrases: Sequence[Sequence[int]], tokens: Sequence[int], words: Words | None = None
) -> Trace:
    """Walk one output through its phrases, for tests, reports and curious readers.

    >>> trace(phrases=[[1, 2]], tokens=[1, 1, 2])
    Trace(banks=[1, 1, 2], met=[True])
    """
    demanded = [tuple(phrase) for phrase in phrases]
    size = max([0, *tokens, *(token for phrase in demanded for token in phrase)]) + 1
    automaton = Automaton([demanded], [[]], size, words)
    states = automaton.start()
    banks = []
    for token in tokens:
        states = automaton.advance(states, np.array([token]))
        banks.append(int(states.bank[0]))
    return Trace(banks, automaton.met_phrases(0, states, 0))

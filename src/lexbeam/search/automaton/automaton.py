"""Constraints of a whole batch as integer tables, and hypotheses that walk through them.

A hypothesis carries its node in the trie of its sentence (`automaton.trie`) and the bits of the
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

from lexbeam.search.arrays import (
    PAD,
    Bits,
    BoolArray,
    IntArray,
    Tokens,
    intersects,
    pack_bits,
    pack_rows,
    starts,
    unpack_bits,
)
from lexbeam.search.automaton.bit_layout import Demand, Demands, number_demands, tokens_of
from lexbeam.search.automaton.completions import complete, counts, pack_goals, pack_progress
from lexbeam.search.automaton.multipart import Chains
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.automaton.soft import Softs
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import BEGIN, ROOT, Node, Trie
from lexbeam.search.automaton.whole_words import Words

_WORTH_PACKING = 2048
"""Tokens asked of all hypotheses together from which it pays to leave out what has been met."""


class Automaton:
    """Tables for the phrases of every sentence of a batch.

    With ``words`` phrases count as whole words only, without they are plain token sequences.
    ``can_hold`` says whether the model can be told not to end a word (`search.scorer`); ``eos``
    is the token with which an output ends.
    """

    def __init__(
        self,
        demanded: Sequence[Sequence[Demand]],
        avoided: Sequence[Sequence[Tokens]],
        vocabulary_size: int,
        words: Words | None = None,
        can_hold: bool = True,
        eos: int | None = None,
    ) -> None:
        self.whole_words = words
        self.demands = [number_demands(phrases, words) for phrases in demanded]
        self.tries = []
        for demands, avoid in zip(self.demands, avoided, strict=True):
            held = [phrase for phrase in avoid if can_hold and self._waits(phrase)]
            banned = [phrase for phrase in avoid if not (can_hold and self._waits(phrase))]
            self.tries.append(Trie(demands.goals, banned, held))
        # Node 0 belongs to no sentence: the padding of the tables points to it.
        first_nodes = [1, *(len(trie.nodes) for trie in self.tries)]
        self.roots = np.cumsum(first_nodes, dtype=np.int64)[:-1]  # shape: (sentences,)
        self.sizes = np.array([demands.size for demands in self.demands], dtype=np.int64)
        self._hard_sizes = np.array([demands.hard_size for demands in self.demands])
        bits = max((demands.wanted for demands in self.demands), default=0)
        self.words = -(-bits // 64)
        self._index_tokens(vocabulary_size)
        self._tabulate_moves()
        self._tabulate_asked_and_banned()
        self._tabulate_completions_and_progress()
        self._tabulate_patterns(eos)
        strict = np.array([False] + [node.strict for trie in self.tries for node in trie.nodes])
        self._strict = strict if strict.any() else None  # shape: (nodes,)

    def _waits(self, phrase: Tokens) -> bool:
        """Say whether the phrase counts only if a boundary follows."""
        return self.whole_words is not None and self.whole_words.waits(phrase)

    # --- compilation, once a batch --------------------------------------------------------

    def _index_tokens(self, vocabulary_size: int) -> None:
        """Give every token of a phrase a symbol, from 1 on; all other tokens are symbol 0."""
        alphabet = sorted({token for trie in self.tries for token in trie.alphabet})
        # The last entry is that of `BEGIN`, which stands for a token beyond the vocabulary.
        self._symbol = np.zeros(vocabulary_size + 1, dtype=np.int64)
        self._symbol[alphabet] = np.arange(1, len(alphabet) + 1)
        self._symbol[BEGIN] = len(alphabet) + 1
        self._symbols = len(alphabet) + 2

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
            serving = {t: n for t, n in first.items() if nodes[n].serves and t != BEGIN}
            always.append([t for t, n in first.items() if nodes[n].avoided])
            from_root = set(always[-1])
            for node in nodes:
                ways = {**serving, **node.moves} if node.moves else serving
                useful = [
                    (token, root + target)
                    for token, target in ways.items()
                    if nodes[target].serves
                    and not nodes[target].avoided
                    and (nodes[target].leads or not node.strict)
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
        ends = [[e for e in node.ends if not e.waits] for node in nodes]
        waiting = [[e for e in node.ends if e.waits] for node in nodes]
        self._completed_now = pack_goals(ends, self.words)
        self._completed_later = pack_goals(waiting, self.words)
        begun = [node.progress for node in nodes]
        self._progress = pack_progress(begun, first, self.words)
        self._avoided = np.array([node.avoided for node in nodes], dtype=np.bool_)
        held = np.array([node.held for node in nodes], dtype=np.bool_)
        self._held = held if held.any() else None  # shape: (nodes,)

    def _tabulate_patterns(self, eos: int | None) -> None:
        """Make the tables of what only some batches have: prices, and patterns of several parts."""
        # Node 0, which belongs to no sentence, has demands of its own, none; they come last.
        everyone, sentences = [*self.demands, Demands()], len(self.tries)
        sizes = [len(trie.nodes) for trie in self.tries]
        owners = np.concatenate(([sentences], np.repeat(np.arange(sentences), sizes)))
        self.softs: Softs | None = None
        if any(demands.softs for demands in self.demands):
            self.softs = Softs(everyone, owners, self.words)
        self._chains: Chains | None = None
        if any(demands.stages for demands in self.demands):
            self._chains = Chains(everyone, owners, self.tries, self.whole_words, self.words, eos)

    # --- walking, every step --------------------------------------------------------------

    def start(self) -> States:
        """Return the state before the first token, one a sentence."""
        nothing = tuple(np.zeros(len(self.tries), np.uint64) for _ in range(self.words))
        zeros = np.zeros(len(self.tries), np.int64)
        first = self.roots + np.array([trie.start for trie in self.tries], dtype=np.int64)
        return self._arrive(first, nothing, zeros)

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
        chains = self._chains
        if chains is not None and chains.any_at_end:
            seen = chains.go_on(nodes, tokens, seen)
        if self.whole_words is not None:
            ended = self.whole_words.ended(tokens)
            met = tuple(np.where(ended, s, m) for s, m in zip(seen, met, strict=True))
            met_tokens = np.where(ended, seen_tokens, met_tokens)
        else:
            met, met_tokens = seen, seen_tokens
        if chains is not None:
            met = chains.shift(nodes, tokens, met)
        return self._arrive(nodes, met, met_tokens)

    def _arrive(self, node: IntArray, met: Bits, met_tokens: IntArray) -> States:
        """Count what ends at a node; the longest suffix that has begun a phrase is progress."""
        met, met_tokens = complete(self._completed_now, node, met, met_tokens)
        seen, seen_tokens = met, met_tokens
        if self._completed_later:
            seen, seen_tokens = complete(self._completed_later, node, met, met_tokens)
        bank, stages = seen_tokens, None
        if self._chains is not None:
            met = self._chains.trim(node, met)
            seen = self._chains.trim(node, seen)
            staged, stages = self._chains.count(node, seen)
            bank = seen_tokens + staged
        states = States(node, met, met_tokens, seen, seen_tokens, bank, stages)
        if self._progress:
            states = states._replace(bank=bank + self._in_progress(states, states.unmet))
        return states

    def hard_need(self, states: States, sentences: IntArray) -> IntArray:
        """Return the constraint tokens still missing of what can't be given up."""
        if self.softs is None:
            return self.sizes[sentences] - states.bank
        wanted = zip(states.unmet, self.softs.hard_wanted, strict=True)
        unmet = tuple(word & hard[states.node] for word, hard in wanted)
        have = self.softs.hard_tokens(states)
        if self._progress:
            have = have + self._in_progress(states, unmet)
        return self._hard_sizes[sentences] - have

    def _in_progress(self, states: States, unmet: Bits) -> IntArray:
        """Return what the suffix that counts for most has begun of something unmet."""
        most: IntArray | None = None
        for layer in self._progress:
            gain = layer.gain[states.node] * counts(layer, states, unmet)
            most = gain if most is None else np.maximum(most, gain)
        assert most is not None
        return most

    def ask(self, states: States) -> tuple[IntArray, IntArray]:
        """Return the tokens that start or continue an unmet phrase, and where they lead.

        # shape of both: (hypotheses, asked); `PAD` where a hypothesis has less to ask.
        """
        targets = self._ask_targets.take(states.node, axis=0)
        if not targets.size:
            return targets, targets
        useful = intersects(self._serves, targets, [word[:, None] for word in states.unmet])
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
        return intersects(self._serves, nodes, [word[parents] for word in states.unmet])

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
        if self._chains is not None:
            met = self._chains.trim(node, met)
        seen, _ = complete(self._completed_later, node, met, zeros)
        return States(node, met, zeros, seen, zeros, zeros)

    def breaks(self, states: States) -> BoolArray:
        """Say who has just completed an avoided phrase."""
        return self._avoided[states.node]

    def strict(self, states: States) -> BoolArray | None:
        """Say who may only take what it asks for: the output must begin so; None: nobody."""
        return None if self._strict is None else self._strict[states.node]

    def places(self, states: States) -> IntArray:
        """Return the node of the phrase in progress, 0 where there is none."""
        place = np.zeros_like(states.node)
        unmet = states.unmet
        for layer in reversed(self._progress):
            place = np.where(counts(layer, states, unmet), layer.node[states.node], place)
        return place

    def settled(self, states: States) -> list[IntArray]:
        """Return what tells sets of met constraint tokens from each other, as several numbers."""
        seen, stages = states.seen, states.stages
        if self._chains is None or stages is None:
            return [self.places(states), *(word.view(np.int64) for word in seen)]
        parts = self._chains.without_ages(states.node, seen, stages)
        return [self.places(states), *(word.view(np.int64) for word in parts)]

    def settle(self, sentence: int, tokens: Sequence[int]) -> tuple[list[bool], float]:
        """Say what a whole output of a sentence has met, and what it paid for the rest."""
        states = self.start().take(np.array([sentence]))
        for token in tokens:
            states = self.advance(states, np.array([token]))
        paid = 0.0 if self.softs is None else float(self.softs.settle(states)[1][0])
        return self.met_phrases(sentence, states, 0), paid

    def met_phrases(self, sentence: int, states: States, index: int) -> list[bool]:
        """Say phrase by phrase, in the order they were given, what a finished output has met."""
        bits = unpack_bits(states.seen, index)
        return [bool(bits & met) for met in self.demands[sentence].met]


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


@dataclass(frozen=True)
class Trace:
    """What a sequence of tokens did for its phrases."""

    banks: list[int]
    """The bank after each token."""
    met: list[bool]
    """One a phrase, in the order given; of a phrase given n times, as many as occur."""


def trace(
    phrases: Sequence[Sequence[int] | Pattern], tokens: Sequence[int], words: Words | None = None
) -> Trace:
    """Walk one output through its phrases, for tests, reports and curious readers.

    >>> trace(phrases=[[1, 2]], tokens=[1, 1, 2])
    Trace(banks=[1, 1, 2], met=[True])
    """
    demanded = [p if isinstance(p, Pattern) else tuple(p) for p in phrases]
    in_phrases = (token for phrase in demanded for token in tokens_of(phrase))
    size = max([0, *tokens, *in_phrases]) + 1
    automaton = Automaton([demanded], [[]], size, words)
    states = automaton.start()
    banks = []
    for token in tokens:
        states = automaton.advance(states, np.array([token]))
        banks.append(int(states.bank[0]))
    return Trace(banks, automaton.met_phrases(0, states, 0))

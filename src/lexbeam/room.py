"""How many tokens a hypothesis still needs before it may end.

The search promises that every constraint is met as long as the length limit leaves room. To
keep it, a hypothesis must be dropped when it can no longer finish in time, and not before. The
constraint tokens that are missing (C minus its bank) are enough if phrases are put side by
side, but phrases may share tokens, and avoided phrases may stand in the way. So for a sentence
with few phrases the exact number is worked out for each state of its automaton, backwards from
the states that may end; with many phrases, where there are too many states, C minus the bank
is used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.automaton import Automaton
from lexbeam.scorer import IntArray
from lexbeam.states import States
from lexbeam.trie import ROOT

NEVER = 1 << 40
"""The need of a state from which the end can't be reached."""

_MOST_BITS = 12
_MOST_STATES = 1 << 15
_MOST_STATES_AT_ONCE = 1 << 11
"""So many are worked out before decoding starts, more only when a limit comes near."""


class Room:
    """The tokens still needed, for every state of every sentence of a batch."""

    def __init__(self, automaton: Automaton, vocabulary_size: int, eos: int) -> None:
        self._automaton = automaton
        self._vocabulary_size = vocabulary_size
        self._eos = eos
        self._bits = np.array([len(trie.bit_of_phrase) for trie in automaton.tries])
        sizes = np.array([len(trie.nodes) for trie in automaton.tries])
        self.exact = (self._bits <= _MOST_BITS) & (
            sizes << np.minimum(self._bits, _MOST_BITS) <= _MOST_STATES
        )
        self._exact_need: list[IntArray | None] = [None] * len(automaton.tries)
        self._table: IntArray | None = None
        self.worst = automaton.sizes.copy()  # shape: (sentences,), the need of any state
        self.alphabet = max((len(trie.alphabet) for trie in automaton.tries), default=0)
        """Tokens that matter to a sentence, at most; all others are alike."""
        at_once = self.exact & (sizes << np.minimum(self._bits, _MOST_BITS) <= _MOST_STATES_AT_ONCE)
        for sentence in np.flatnonzero(at_once & ~self._concatenates()).tolist():
            self.worst[sentence] = self._need_of_sentence(sentence).max()

    def _concatenates(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Say in which sentences phrases can be put side by side in any order."""
        words = self._automaton.whole_words
        free = []
        for trie in self._automaton.tries:
            hindered = any(node.avoided or node.held for node in trie.nodes)
            glued = words and not all(map(words.ends, trie.nodes[ROOT].children))
            free.append(not hindered and not glued)
        return np.array(free, dtype=np.bool_)

    def needs(self, states: States, sentences: IntArray) -> IntArray:
        """Return how many tokens each hypothesis must still take. # shape: (n,)."""
        automaton = self._automaton
        if self._table is None:
            self._lay_out()
        need = automaton.sizes[sentences] - states.bank
        if not self.exact.any() or self._table is None:
            return need
        local = states.node - automaton.roots[sentences]
        index = self._offset[sentences] + (local << self._bits[sentences])
        if states.met:
            index = index + states.met[0].astype(np.int64)
        exact = self.exact[sentences]
        return np.where(exact, self._table[np.where(exact, index, 0)], need)

    def need_of(self, sentence: int, states: States) -> int:
        """Return the need of one hypothesis of one sentence."""
        if not self.exact[sentence]:
            return int(self._automaton.sizes[sentence] - states.bank[0])
        local = int(states.node[0] - self._automaton.roots[sentence])
        met = int(states.met[0][0]) if states.met else 0
        return int(self._need_of_sentence(sentence)[(local << int(self._bits[sentence])) + met])

    def _lay_out(self) -> None:
        """Put the tables of all sentences into one, so that one look-up serves the batch."""
        tables = [
            self._need_of_sentence(s) if exact else np.zeros(1, np.int64)
            for s, exact in enumerate(self.exact)
        ]
        self._offset = np.cumsum([0, *map(len, tables)])[:-1]
        self._table = np.concatenate(tables)

    def _need_of_sentence(self, sentence: int) -> IntArray:
        """Work the need out for each (node, phrases met). # shape: (nodes · 2^phrases,)."""
        known = self._exact_need[sentence]
        if known is None:
            known = self._exact_need[sentence] = self._solve(sentence)
        return known

    def _solve(self, sentence: int) -> IntArray:
        automaton, trie = self._automaton, self._automaton.tries[sentence]
        bits, root = len(trie.bit_of_phrase), int(automaton.roots[sentence])
        subsets = 1 << bits
        nodes = root + np.repeat(np.arange(len(trie.nodes)), subsets)
        met = np.tile(np.arange(subsets, dtype=np.uint64), len(trie.nodes))
        no_bits = np.zeros_like(met)
        words = (met, *[no_bits] * (automaton.words - 1)) if automaton.words else ()
        states = automaton.at(nodes, words)
        tokens = np.array(self._telling_tokens(trie.alphabet), dtype=np.int64)
        after = automaton.advance(states.column(), tokens[None, :])
        following = (after.node - root) << bits  # shape: (states, tokens)
        done = np.ones(len(nodes), dtype=np.bool_)
        if automaton.words:
            following = following + after.met[0].astype(np.int64)
            done = states.seen[0] == subsets - 1
        closed = automaton.breaks(after)
        hold = automaton.hold(states)
        if hold is not None and automaton.whole_words is not None:
            closed |= hold[:, None] & automaton.whole_words.ended(tokens)
            done &= ~hold
        return _shortest(following, closed, done)

    def _telling_tokens(self, alphabet: Sequence[int]) -> list[int]:
        """Return the tokens of the phrases, and one of each kind that is not in any."""
        words = self._automaton.whole_words
        other = np.ones(self._vocabulary_size, dtype=np.bool_)
        other[[*alphabet, self._eos]] = False
        kinds = [other] if words is None else [other & words.boundary, other & ~words.boundary]
        return [*alphabet, *(int(kind.argmax()) for kind in kinds if kind.any())]


def _shortest(
    following: IntArray,
    closed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    done: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> IntArray:
    """Return the fewest steps from each state to one that is done."""
    need = np.where(done, 0, NEVER)
    if not following.size:
        return need
    while True:
        one_more = np.where(closed, NEVER, need[following]).min(axis=1) + 1
        better = np.minimum(need, one_more)
        if (better == need).all():
            return need
        need = better

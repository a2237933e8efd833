"""The exact need of each state of a sentence, as a table, where there are not too many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import Bits, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.shortest_paths import fewest_steps
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ROOT
from lexbeam.search.automaton.useful_ages import AgesInKeys
from lexbeam.search.automaton.whole_words import ENDS, LONG, SHORT

_MOST_MOVES_OF_ALL = 1 << 20
"""Of so many states with so many tokens; more take seconds."""
_MOST_MOVES = 1 << 14
"""Of patterns that count distances; there are too many states to try more."""


class Needs(NamedTuple):
    """The needs of one sentence's states."""

    keys: IntArray | None
    """The keys of the states, rising; None: the key is the index into ``need``."""
    need: IntArray
    """The need of each."""


class NeedTables:
    """Works out the needs of the sentences of a batch, each as a table.

    ``bits`` are those that tell states of a sentence apart, ``chained`` marks the sentences with
    patterns of several parts, of which ``ages`` leaves out those that make no difference.
    """

    def __init__(
        self,
        automaton: Automaton,
        vocabulary_size: int,
        ends: Sequence[int],
        bits: IntArray,
        chained: BoolArray,
        ages: AgesInKeys,
    ) -> None:
        self._automaton = automaton
        self._vocabulary_size = vocabulary_size
        self._ends = ends
        self._bits = bits
        self._bits_of_keys = (
            np.uint64(1) << np.minimum(self._bits, 63).astype(np.uint64)
        ) - np.uint64(1)
        self._chained = chained
        self._ages = ages
        self._tokens: dict[int, tuple[IntArray, IntArray]] = {}

    def solve(self, sentence: int) -> Needs | None:
        """Return the needs of a sentence; None if there are too many states."""
        if self._chained[sentence]:
            return self._solve_reachable(sentence)
        return self._solve_all(sentence)

    def keys(self, states: States, sentences: IntArray) -> IntArray:
        """Return a number for each state: its node and what it has met."""
        return self._keys(states.node, states.met, sentences)

    def _keys(self, nodes: IntArray, met: Bits, sentences: IntArray) -> IntArray:
        local = nodes - self._automaton.roots[sentences]
        keys: IntArray = local << self._bits[sentences]
        if not met:
            return keys
        bits: IntArray = (met[0] & self._bits_of_keys[sentences]).astype(np.int64)
        return keys + bits

    def tokens_of(self, sentence: int) -> tuple[IntArray, IntArray]:
        """Return the tokens that a shortest output may need, and nodes that it does not."""
        if sentence not in self._tokens:
            given = self._automaton, sentence, self._vocabulary_size, self._ends
            self._tokens[sentence] = _relevant_tokens(*given)
        return self._tokens[sentence]

    def _solve_all(self, sentence: int) -> Needs | None:
        """List every combination of a node and phrases met; None if there is too much to try."""
        nodes, tokens = len(self._automaton.tries[sentence].nodes), self.tokens_of(sentence)[0]
        keys = np.arange(nodes << int(self._bits[sentence]))
        if len(keys) * len(tokens) > _MOST_MOVES_OF_ALL:
            return None
        following, closed, done = self._look_ahead(sentence, keys, tokens)
        return Needs(None, fewest_steps(following, closed, done))

    def _solve_reachable(self, sentence: int) -> Needs | None:
        """List the states that an output can reach; most combinations of registers are none."""
        tokens, aside = self.tokens_of(sentence)
        most = _MOST_MOVES // len(tokens)
        bits = int(self._bits[sentence])
        start = self._automaton.start().take(np.array([sentence]))
        known = new = self._ages.leave_out(sentence, self.keys(start, np.array([sentence])))
        moves = []
        while len(new):
            moves.append((new, *self._look_ahead(sentence, new, tokens)))
            _, following, closed, _ = moves[-1]
            found = np.unique(following[~closed])
            at_root = found[: np.searchsorted(found, 1 << bits)]
            if len(aside):
                elsewhere = ((aside << bits)[:, None] + at_root).ravel()
                found = np.unique(np.concatenate((found, elsewhere)))
            places = np.minimum(np.searchsorted(known, found), len(known) - 1)
            new = found[known[places] != found]
            known = np.sort(np.concatenate((known, new)))
            if len(known) > most:
                return None
        keys, following, closed, done = map(np.concatenate, zip(*moves, strict=True))
        order = keys.argsort()
        indices = np.minimum(np.searchsorted(known, following[order]), len(known) - 1)
        return Needs(known, fewest_steps(indices, closed[order], done[order]))

    def _look_ahead(
        self, sentence: int, keys: IntArray, tokens: IntArray
    ) -> tuple[IntArray, BoolArray, BoolArray]:
        """Return where tokens lead from states, which are forbidden, and which states may end.

        # shape: (states, tokens), (states, tokens), (states,).
        """
        automaton, bits = self._automaton, int(self._bits[sentence])
        nodes = automaton.roots[sentence] + (keys >> bits)
        met = (keys & ((1 << bits) - 1)).astype(np.uint64)
        no_bits = np.zeros_like(met)
        bits_met = (met, *[no_bits] * (automaton.bit_arrays - 1)) if automaton.bit_arrays else ()
        states = automaton.at(nodes, bits_met)
        # Where tokens lead is the same for all states at a node, which follow one another.
        is_new = np.ones(len(nodes), np.bool_)
        np.not_equal(nodes[1:], nodes[:-1], out=is_new[1:])
        own, which = nodes[is_new], is_new.cumsum() - 1
        reached = automaton.follow(own[:, None], tokens[None, :])[which]
        met_after = automaton.met_after(states.column(), tokens[None, :], reached)
        closed = automaton.forbids(states, np.broadcast_to(tokens, reached.shape), reached)
        done = np.ones(len(nodes), dtype=np.bool_)
        if automaton.bit_arrays:
            hard = np.uint64(automaton.layouts[sentence].hard)
            done = (states.seen[0] & hard) == hard
        hold = automaton.hold(states)
        if hold is not None and automaton.whole_words is not None:
            done &= ~hold
        following = self._keys(reached, met_after, np.array([sentence]))
        if self._chained[sentence]:
            following = self._ages.leave_out(sentence, following)
        return following, closed, done


def _relevant_tokens(
    automaton: Automaton, sentence: int, vocabulary_size: int, ends: Sequence[int]
) -> tuple[IntArray, IntArray]:
    """Return the tokens that a shortest output may need, and nodes that it does not.

    Of the tokens that are in no phrase, one of each kind is enough. A token that is only in
    avoided phrases is no better than one of its kind: it advances nothing, and forbids some
    tokens after it. So it is left out, and so are the nodes it leads to, each with what may be
    met at the root. What ends an output stands in none.
    """
    trie, words = automaton.tries[sentence], automaton.whole_words
    in_phrases = {t for goal in automaton.layouts[sentence].goals for t in goal.tokens}
    other = np.ones(vocabulary_size, dtype=np.bool_)
    other[[*trie.alphabet, *ends]] = False
    marks = [] if words is None else [words.boundary, words.starting]
    if words is not None and words.silent is not None:
        marks.append(words.silent)
    if words is not None and (trie.apart != ROOT or trie.joins):
        marks.append(words.closing)
    if words is not None and trie.joins:
        marks += [(words.joining & flag) != 0 for flag in (SHORT, LONG, ENDS)]
    kinds = np.zeros(vocabulary_size, np.uint8)  # of two sides of a mark, the marked is first
    for mark in marks:
        kinds = 2 * kinds + ~mark
    others = other.nonzero()[0][::-1]
    first = np.full(1 << len(marks), -1)  # the first token of each kind, -1 if there is none
    first[kinds[others]] = others  # of several that are assigned to a place, the last remains
    left_out = set()
    if not trie.joins:
        may_be = [token for token in trie.alphabet if token not in in_phrases]
        left_out = {t for t in may_be if first[kinds[t]] >= 0}
    tokens = [token for token in trie.alphabet if token not in left_out]
    tokens += first[first >= 0].tolist()
    behind = set()
    if left_out:
        behind = {n for node in trie.nodes for t, n in node.children.items() if t in left_out}
    open_nodes = [number for number in sorted(behind) if not trie.nodes[number].avoided]
    return np.array(tokens, dtype=np.int64), np.array(open_nodes, dtype=np.int64)

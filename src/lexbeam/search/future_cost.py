"""The expected cost of the constraints that a hypothesis has not met yet.

Log-probabilities of hypotheses that have met different numbers of constraint tokens can't be
compared as they stand: one has paid for what the other still has to pay. Banks (paper, section
3.2) avoid the comparison, but then the beam is divided without regard to scores: at the first
token, as many slots are kept for outputs that have met everything as for outputs that have met
nothing. Here the comparison is made, with an estimate of what is still to be paid.

The model itself gives the estimate. At every step it is asked for the log-probability of the
tokens that would advance an unmet constraint, so the mean of its answers is what a constraint
costs at a position that suits it no better than others. At a position that suits it, it costs
much less, and the longer the rest of the sentence, the more such positions there are: on average
the best position to come costs a part of the mean, which grows evenly with progress, up to the
whole mean at the end. Where a word or phrase has begun, its next tokens cost what they have cost
on average after its beginning.

Everything is kept per sentence, so that a result does not depend on the rest of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexbeam.search.arrays import PAD, FloatArray, IntArray, ScoreArray, pack_bits
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ROOT
from lexbeam.search.candidates import Candidates

AT_THE_START = 0.3
"""The part of its mean cost that a constraint is expected to cost at the first token."""

TOKENS_A_SOURCE_TOKEN = 1.1
"""How long an output is expected to be, per token of its source."""

_LOWEST = -40.0
"""Lower log-probabilities count as this: an impossible position says nothing of the others."""

_CONTINUES = 0.1
"""The part of a first token's cost that a later one is expected to cost before it is known."""

_EXPECTATION_WEIGHT = 4.0
"""The weight of that expectation, in tokens seen."""


class FutureCost:
    """Costs of unmet constraints, learnt for each sentence while a batch is searched."""

    def __init__(self, automaton: Automaton, expected: FloatArray, eos: int) -> None:
        sentences = len(expected)
        self._automaton = automaton
        self._eos = eos
        self._expected = expected  # lengths, shape: (sentences,)
        self._hard = pack_bits([layout.hard for layout in automaton.layouts], automaton.bit_arrays)
        self._continues = _beyond_first_tokens(automaton)
        self._sentences = np.arange(sentences)
        # Log-probabilities of first tokens, and of those after them: # shape: (sentences, 2).
        self._sum = np.zeros((sentences, 2))
        self._number = np.zeros((sentences, 2))

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._sentences = self._sentences[sentences]
        self._expected = self._expected[sentences]
        self._hard = tuple(bits[sentences] for bits in self._hard)
        self._sum, self._number = self._sum[sentences], self._number[sentences]

    def learn(
        self, sentence: IntArray, tokens: IntArray, targets: IntArray, log_prob: ScoreArray
    ) -> None:
        """Learn from what the model answered for asked tokens.

        ``sentence`` is that of each row, counted among those left. # shape of the others:
        (rows, asked).
        """
        kinds = self._sum.size
        kind = np.where(tokens == PAD, kinds, self._continues[targets] + 2 * sentence[:, None])
        costs = np.maximum(log_prob, _LOWEST)
        # Summed one after the other, so that it does not matter what else is in the batch.
        sums = np.bincount(kind.ravel(), costs.ravel(), kinds + 1)
        self._sum += sums[:kinds].reshape(-1, 2)
        self._number += np.bincount(kind.ravel(), minlength=kinds + 1)[:kinds].reshape(-1, 2)

    def add_to(self, candidates: Candidates, step: int) -> FloatArray:
        """Return scores plus expected costs, in units of the mean cost of a first token.

        # shape: (sentences, candidates), minus infinity where there is none.
        """
        states, shape = candidates.states, candidates.score.shape
        assert states is not None
        mean, first, after = self._costs(step)
        need = self._need(states, shape)
        to_begin = -(states.bank > states.seen_tokens).astype(np.int64).reshape(shape)
        for hard, seen in zip(self._hard, states.seen, strict=True):
            to_begin += np.bitwise_count(hard[:, None] & ~seen.reshape(shape))
        to_begin = np.minimum(np.maximum(to_begin, 0), need)
        worth = candidates.score + (first - after) * to_begin + after * need
        if self._automaton.soft is not None:  # an end has paid its penalty already
            penalty = self._automaton.soft.may_end(states)[1].reshape(shape)
            worth -= np.where(candidates.token == self._eos, 0.0, penalty)
        worth /= np.maximum(-mean, 1.0)
        return worth

    def _costs(self, step: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the mean cost of a first token, that of one to come, and of one after it.

        # shape of each: (sentences, 1).
        """
        mean = self._sum[:, 0] / np.maximum(self._number[:, 0], 1.0)
        after = self._sum[:, 1] + _EXPECTATION_WEIGHT * _CONTINUES * mean
        after /= self._number[:, 1] + _EXPECTATION_WEIGHT
        progress = np.minimum((step + 1) / self._expected, 1.0)
        first = mean * (AT_THE_START + (1.0 - AT_THE_START) * progress)
        return mean[:, None], first[:, None], after[:, None]

    def _need(self, states: States, shape: tuple[int, ...]) -> IntArray:
        """Return how many constraint tokens of what can't be given up are missing.

        # shape: as given.
        """
        if self._automaton.soft is None:
            return self._automaton.sizes[self._sentences, None] - states.bank.reshape(shape)
        sentences = self._sentences.repeat(shape[1])
        return self._automaton.hard_need(states, sentences).reshape(shape)


def _beyond_first_tokens(automaton: Automaton) -> IntArray:
    """Return 1 for nodes after more than the first token of a phrase, else 0. # shape: (nodes,)."""
    beyond = [0]
    for trie in automaton.tries:
        begins = {ROOT, trie.start, trie.apart}
        first = {child for node in begins for child in trie.nodes[node].children.values()}
        beyond += [int(node not in first) for node in range(len(trie.nodes))]
    return np.array(beyond)


def expected_lengths(sources: Sequence[Any], limits: IntArray) -> FloatArray:
    """Return how long outputs are expected to be, by their sources if those have a length.

    # shape: (sentences,).
    """
    lengths = [
        len(source) if hasattr(source, "__len__") else limit / 2
        for source, limit in zip(sources, limits.tolist(), strict=True)
    ]
    return np.maximum(TOKENS_A_SOURCE_TOKEN * np.array(lengths, dtype=np.float64), 1.0)

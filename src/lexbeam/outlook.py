"""What hypotheses are worth that have not met all their constraints yet.

Log-probabilities of hypotheses that have met different numbers of constraint tokens can't be
compared as they stand: one has paid for what the other still has to pay. A bank for each number
(paper, section 3.2) avoids the comparison, at the price of a beam that is divided blindly: at
the first token as many slots wait for outputs that have said everything as for outputs that
have said nothing. Here the comparison is made, with an estimate of what is still to be paid.

The model itself gives the estimate. At every step it is asked for the log-probability of the
tokens that would serve an unmet constraint, so the mean of what it answered says what a
constraint costs at a place of no special fitness. At a fitting place it is much cheaper, and the
more of the sentence lies ahead, the more such places there are: on average the best place still
ahead costs a part of the mean that grows evenly with progress, to all of it at the end. Where a
word or phrase has begun, its next tokens cost what they have cost on average where they
followed.

Everything is kept by sentence, so that a sentence is searched alike in any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.automaton import Automaton
from lexbeam.beam import FloatArray
from lexbeam.candidates import Candidates
from lexbeam.scorer import PAD, IntArray
from lexbeam.tables import pack_bits

AT_THE_START = 0.3
"""The part of its mean price that a constraint is expected to cost when all lies ahead."""

TOKENS_A_SOURCE_TOKEN = 1.1
"""How long an output is expected to be."""

_LOWEST = -40.0
"""Prices are not taken to be worse than this: one impossible place says nothing of the others."""

_CONTINUES = 0.1
"""The part of a first token's price that one after it is expected to cost, before it is known."""

_EARLY_DOUBTS = 4.0
"""The weight of that expectation, in tokens seen."""


class Outlook:
    """Prices of unmet constraints, learnt sentence by sentence while a batch is searched."""

    def __init__(
        self, automaton: Automaton, sources: Sequence[Any], limits: IntArray, eos: int
    ) -> None:
        self._automaton = automaton
        self._eos = eos
        self._expected = expected_lengths(sources, limits)  # shape: (sentences,)
        self._hard = pack_bits([one.hard for one in automaton.demands], automaton.words)
        depths = [0, *(node.depth for trie in automaton.tries for node in trie.nodes)]
        self._inside = np.array(depths) > 1  # shape: (nodes,), beyond the first token
        self._sentences = np.arange(len(sources))
        # Sums and numbers of the prices of first tokens, and of those that continue.
        self._first = np.zeros((2, len(sources)))
        self._inner = np.zeros((2, len(sources)))

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._sentences = self._sentences[sentences]
        self._expected = self._expected[sentences]
        self._hard = tuple(word[sentences] for word in self._hard)
        self._first, self._inner = self._first[:, sentences], self._inner[:, sentences]

    def learn(
        self,
        sentence: IntArray,
        tokens: IntArray,
        targets: IntArray,
        log_prob: NDArray[np.floating[Any]],
    ) -> None:
        """Take in what the model said of asked tokens.

        ``sentence`` is that of each row, counted among those left. # shape of the others:
        (rows, asked).
        """
        asked = tokens != PAD
        inside = self._inside[targets] & asked
        where = np.broadcast_to(sentence[:, None], tokens.shape)
        for sums, some in ((self._inner, inside), (self._first, asked & ~inside)):
            these = where[some]
            # Summed one after the other, so that it does not matter what else is in the batch.
            prices = np.maximum(log_prob[some], _LOWEST)
            sums[0] += np.bincount(these, prices, len(self._sentences))
            sums[1] += np.bincount(these, minlength=len(self._sentences))

    def of(self, candidates: Candidates, step: int) -> FloatArray:
        """Return what candidates are worth, in units of the mean price of a first token.

        # shape: (sentences, candidates), minus infinity where there is none.
        """
        states, shape = candidates.states, candidates.score.shape
        assert states is not None
        mean = self._first[0] / np.maximum(self._first[1], 1.0)
        inner = self._inner[0] + _EARLY_DOUBTS * _CONTINUES * mean
        inner /= self._inner[1] + _EARLY_DOUBTS
        progress = np.minimum((step + 1) / self._expected, 1.0)
        first = mean * (AT_THE_START + (1.0 - AT_THE_START) * progress)  # shape: (sentences,)
        sentences = self._sentences[:, None].repeat(shape[1], axis=1).ravel()
        need = self._automaton.hard_need(states, sentences).reshape(shape)
        to_begin = -(states.bank > states.seen_tokens).astype(np.int64).reshape(shape)
        for hard, seen in zip(self._hard, states.seen, strict=True):
            to_begin += np.bitwise_count(hard[:, None] & ~seen.reshape(shape))
        to_begin = to_begin.clip(0, need)
        worth = candidates.score + first[:, None] * to_begin + inner[:, None] * (need - to_begin)
        if self._automaton.softs is not None:  # the price of giving up, which an end has paid
            price = self._automaton.softs.settle(states)[1].reshape(shape)
            worth -= np.where(candidates.token == self._eos, 0.0, price)
        in_prices: FloatArray = worth / np.maximum(-mean, 1.0)[:, None]
        return in_prices


def expected_lengths(sources: Sequence[Any], limits: IntArray) -> FloatArray:
    """Return how long outputs are expected to be: as their sources, if those can be measured.

    # shape: (sentences,).
    """
    lengths = [
        len(source) if hasattr(source, "__len__") else limit / 2
        for source, limit in zip(sources, limits.tolist(), strict=True)
    ]
    return np.maximum(TOKENS_A_SOURCE_TOKEN * np.array(lengths, dtype=np.float64), 1.0)

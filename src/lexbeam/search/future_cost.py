"""The expected cost of the constraints that a hypothesis has not met yet.

Log-probabilities of hypotheses that have met different numbers of constraint tokens can't be
compared as they stand: one has paid for what the other still has to pay. Banks (paper, section
3.2) avoid the comparison, but then the beam is divided without regard to scores: at the first
token, as many slots are kept for outputs that have met everything as for outputs that have met
nothing. Here the comparison is made, with an estimate of what is still to be paid.

The model itself gives the estimate. Where there is a draft (`search.draft`), it shows what the
first token of each part of a constraint (`automaton.parts`) costs at every place: what is unmet is
expected to cost what it costs at the best place that is still to come.

Without a draft, all parts are expected to cost the same. At every step the model is asked for the
log-probability of the tokens that would advance an unmet constraint, so the mean of its answers is
what a constraint costs at a position that suits it no better than others. At a position that suits
it, it costs much less, and the longer the rest of the sentence, the more such positions there are:
on average the best position to come costs a part of the mean, which grows evenly with progress, up
to the whole mean at the end.

Where a part has begun, its next tokens cost what they have cost on average after a beginning. What
may be given up is expected to cost its penalty at most.

Everything is kept per sentence, so that a result does not depend on the rest of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.arguments import as_length
from lexbeam.search.arrays import PAD, BoolArray, FloatArray, IntArray, ScoreArray, pack_rows
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.parts import Part, PartTables
from lexbeam.search.automaton.states import States
from lexbeam.search.candidates import Candidates
from lexbeam.search.draft import Draft

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

_LOWEST_OF_DRAFT = -20.0
"""Lower log-probabilities of a draft count as this: an output will find a place no worse."""

SLACK = 2
"""By how many tokens an output may be behind its draft without having missed a place."""

LATENESS = 2.0
"""What a word that has missed its place costs more with every token."""

_BEHIND = 20
"""Places behind the end of the drafts for which prices are found; they change no more."""


CONSTANTS_OF_COSTS = (_LOWEST, _EXPECTATION_WEIGHT, _EXPECTATION_WEIGHT * _CONTINUES, AT_THE_START)
"""What the compiled kernel has to know."""


class FutureCost:
    """Costs of unmet constraints, learnt for each sentence while a batch is searched."""

    def __init__(self, automaton: Automaton, expected: FloatArray, eos: int) -> None:
        sentences = len(expected)
        self._eos = eos
        self._expected = expected  # lengths, shape: (sentences,)
        self._parts = PartTables(automaton)
        self._penalties = _penalties(automaton)  # shape: (soft constraints, sentences)
        self._continues = _beyond_first_tokens(automaton)
        # Log-probabilities of first tokens, and of those after them: # shape: (sentences, 2).
        self._sum = np.zeros((sentences, 2))
        self._number = np.zeros((sentences, 2))
        self._prices: FloatArray | None = None
        self.drafts: IntArray = np.zeros(sentences, np.int64)
        """The tokens of each sentence's draft, its end counted; 0: none. # shape: (sentences,)"""
        self.constrained: BoolArray = np.array([bool(parts) for parts in self.parts])
        """A mask of the sentences with something to place. # shape: (sentences,)"""
        self.per_token = np.zeros(sentences)
        """The mean log-probability of the draft's tokens. # shape: (sentences,)"""
        self._count_drafts()

    @property
    def parts(self) -> list[list[Part]]:
        """The parts of each sentence's constraints."""
        return self._parts.of_sentences

    @property
    def known(self) -> tuple[IntArray, FloatArray, BoolArray]:
        """What `search.stopping` has to know of each sentence: its draft, and if it has demands."""
        return self.drafts, self.per_token, self.constrained

    def use_draft(self, draft: Draft) -> None:
        """Take what first tokens are going to cost from a draft, for sentences that have one."""
        follows = [[part.follows for part in row] for row in self.parts]
        self._prices = prices_by_place(draft, pack_rows(follows, 0).T > 0)
        self.drafts, self.per_token = draft.lengths + 1, draft.per_token
        self._count_drafts()

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._expected = self._expected[sentences]
        self._parts.keep(sentences)
        self._penalties = np.ascontiguousarray(self._penalties[:, sentences])
        self._sum, self._number = self._sum[sentences], self._number[sentences]
        if self._prices is not None:
            self._prices = np.ascontiguousarray(self._prices[:, :, sentences])
        self.drafts, self.per_token = self.drafts[sentences], self.per_token[sentences]
        self.constrained = self.constrained[sentences]
        self._count_drafts()

    def _count_drafts(self) -> None:
        """Find out whether any sentences have a draft, and whether all have."""
        there = (self.drafts > 0).tolist()
        self.any_drafted, self.all_drafted = any(there), all(there)

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
        total = np.bincount(kind.ravel(), costs.ravel(), kinds + 1)
        self._sum += total[:kinds].reshape(-1, 2)
        self._number += np.bincount(kind.ravel(), minlength=kinds + 1)[:kinds].reshape(-1, 2)

    def add_to(self, candidates: Candidates, step: int) -> FloatArray:
        """Return scores plus expected costs.

        # shape: (sentences, candidates), minus infinity where there is none.
        """
        states, shape = candidates.states, candidates.score.shape
        assert states is not None
        first, after = self._costs(step)
        # What a part costs from its beginning, and from where it is. # shape: (parts, …)
        whole = first + after * (self._parts.sizes - 1.0)
        unseen = self._parts.find_unseen(states, shape)
        costs = np.zeros(unseen.shape)
        np.copyto(costs, whole[:, :, None], where=unseen)
        self._take_off_what_is_begun(costs, states, unseen, after)
        return candidates.score + self._sum_up(costs, candidates.token == self._eos)

    def for_step(self, step: int) -> tuple[NDArray[Any] | None, ...]:
        """Return what a whole step of the compiled kernel reads, learns from and writes to."""
        priced = None
        if self._prices is not None:
            priced = self._prices[min(step + 1, len(self._prices) - 1)]
        learnt = self._sum, self._number, self._continues
        soft = (self._parts.soft, self._penalties) if len(self._penalties) else (None, None)
        return *learnt, self._expected, priced, self.drafts, *self._parts.tables, *soft

    def _take_off_what_is_begun(
        self, costs: FloatArray, states: States, unseen: BoolArray, after: FloatArray
    ) -> None:
        """Let what is begun cost only what it lacks, of several parts the one that gains most."""
        rows, part, missing = self._parts.find_begun(states, unseen)
        if not len(rows):
            return
        flat, numbers = costs.reshape(len(costs), -1), np.arange(len(rows))
        from_here = after[rows // unseen.shape[2], None] * missing
        gain = np.where(missing > 0, from_here - flat[part, rows[:, None]], 0.0)
        best = gain.argmax(axis=1)
        flat[part[numbers, best], rows] += np.maximum(gain[numbers, best], 0.0)

    def _sum_up(self, costs: FloatArray, ends: BoolArray) -> FloatArray:
        """Return the costs of all parts; what may be given up costs its penalty at most.

        An end has paid its penalties already. # shape: (sentences, candidates)
        """
        if not len(self._penalties):
            total: FloatArray = costs.sum(axis=0)
            return total
        soft = self._parts.soft[:, :, None]
        total = np.where(soft < 0, costs, 0.0).sum(axis=0)
        for number, penalty in enumerate(self._penalties):
            of_this = np.where(soft == number, costs, 0.0).sum(axis=0)
            total += np.where(ends, 0.0, np.maximum(of_this, -penalty[:, None]))
        return total

    @property
    def _mean(self) -> FloatArray:
        """What first tokens cost on average. # shape: (sentences,)."""
        mean: FloatArray = self._sum[:, 0] / np.maximum(self._number[:, 0], 1.0)
        return mean

    @property
    def unit(self) -> FloatArray:
        """What a first token costs on average, at least 1. # shape: (sentences, 1)."""
        return np.maximum(-self._mean, 1.0)[:, None]

    def _costs(self, step: int) -> tuple[FloatArray, FloatArray]:
        """Return what a first token to come is expected to cost, and one after it.

        # shape of each: (sentences,), of the first (parts, sentences) if there are drafts.
        """
        mean = self._mean
        after = self._sum[:, 1] + _EXPECTATION_WEIGHT * _CONTINUES * mean
        after /= self._number[:, 1] + _EXPECTATION_WEIGHT
        priced = None
        if self._prices is not None:
            priced = self._prices[min(step + 1, len(self._prices) - 1)]
            if self.drafts.all():
                return priced, after
        progress = np.minimum((step + 1) / self._expected, 1.0)
        first = mean * (AT_THE_START + (1.0 - AT_THE_START) * progress)
        return first if priced is None else np.where(self.drafts > 0, priced, first), after


def prices_by_place(draft: Draft, follows: BoolArray) -> FloatArray:
    """Return what the first token of each part is going to cost when the output is at a place.

    That is its log-probability at the best place of the draft that is still to come. A place
    that has been passed counts too, the less the longer ago it was. Parts of an order are placed
    in their order; ``follows`` marks those that come after the part before,
    # shape: (parts, sentences). # shape: (places, parts, sentences)
    """
    log_prob = np.maximum(draft.log_prob, _LOWEST_OF_DRAFT)
    log_prob = np.concatenate((log_prob, np.zeros((_BEHIND, *log_prob.shape[1:]))))
    places = np.arange(len(log_prob))
    inside = places[:, None] <= draft.lengths  # shape: (places, sentences)
    here = _best_so_far(np.where(inside[:, None], log_prob, -np.inf))
    prices = np.empty_like(here)
    rest = np.zeros(inside.shape)  # what the parts behind this one cost from each place on
    for part in range(here.shape[1] - 1, -1, -1):
        next_place = np.concatenate((rest[1:], rest[-1:]))
        taken = np.where(inside, here[:, part] + next_place, -np.inf)
        best = np.maximum.accumulate(taken[::-1])[::-1]  # of this place and those to come
        best = np.where(inside, best, here[:, part] + rest)
        prices[:, part] = best - rest
        rest = np.where(follows[part], best, 0.0)
    return prices


def _best_so_far(log_prob: FloatArray) -> FloatArray:
    """Return the best of the places up to each one; old ones have lost `LATENESS` a token.

    # shape: as given, (places, …).
    """
    best = np.maximum(log_prob, _LOWEST_OF_DRAFT)
    for ago in range(1, min(SLACK, len(best) - 1) + 1):
        np.maximum(best[ago:], log_prob[:-ago], out=best[ago:])
    # What is lost up to a place is added before the best is found, and taken off again behind it.
    lost = LATENESS * np.arange(len(best))[:, None, None]
    oldest = np.maximum.accumulate(log_prob + lost)[: -SLACK - 1] - lost[: -SLACK - 1] - LATENESS
    np.maximum(best[SLACK + 1 :], oldest, out=best[SLACK + 1 :])
    return best


def _penalties(automaton: Automaton) -> FloatArray:
    """Return the penalties of soft constraints, 0 where a sentence has fewer.

    # shape: (soft constraints, sentences)
    """
    rows = [[soft.penalty for soft in layout.soft] for layout in automaton.layouts]
    columns = list(zip_longest(*rows, fillvalue=0.0))
    return np.array(columns, dtype=np.float64).reshape(len(columns), len(rows))


def _beyond_first_tokens(automaton: Automaton) -> IntArray:
    """Return 1 for nodes after more than the first token of a phrase, else 0. # shape: (nodes,)."""
    beyond = [0]
    for trie in automaton.tries:
        begins = trie.begins
        first = {child for node in begins for child in trie.nodes[node].children.values()}
        beyond += [int(node not in first) for node in range(len(trie.nodes))]
    return np.array(beyond)


def expected_lengths(sources: Sequence[Any], limits: IntArray) -> FloatArray:
    """Return how long outputs are expected to be, by their sources if those have a length.

    # shape: (sentences,).
    """
    known = zip(map(as_length, sources), limits.tolist(), strict=True)
    lengths = [limit / 2 if length is None else length for length, limit in known]
    return np.maximum(TOKENS_A_SOURCE_TOKEN * np.array(lengths, dtype=np.float64), 1.0)

"""One step of the search: the new beams of all sentences (paper, Algorithm 2).

The model scores the continuations of the live hypotheses; the candidates among them
(`search.candidates`) are grouped into banks, the beam is divided among the banks, and the best
candidates of each bank fill its slots (`search.allocation`). All sentences of a batch go through
a step together; there is no loop over sentences, hypotheses or candidates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lexbeam.search import kernel
from lexbeam.search.allocation import Policy
from lexbeam.search.arrays import (
    PAD,
    BoolArray,
    FloatArray,
    IntArray,
    constant_column,
    number_rows,
    pick,
)
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.beam import Beam
from lexbeam.search.candidates import Answered, Candidates, Chosen
from lexbeam.search.collecting import KernelCosts, best_of_all, collect
from lexbeam.search.dead_ends import may_be_dead_ends, open_dead_ends
from lexbeam.search.ends_at_limit import EndsAtLimit
from lexbeam.search.finishing import (
    FinishingRules,
    MayEnd,
    Select,
    at_least_one,
    set_aside,
    who_may_end,
)
from lexbeam.search.future_cost import CONSTANTS_OF_COSTS, FutureCost
from lexbeam.search.length_limit import LengthLimit
from lexbeam.search.overdue import Overdue
from lexbeam.search.prefix import ForcedPrefix
from lexbeam.search.scorer import (
    IMPOSSIBLE,
    Scorer,
    Scores,
    read_scores,
    readable,
    refuse_nonsense,
    refuse_wrong_shapes,
)
from lexbeam.search.selection import select_best
from lexbeam.search.stopping import LookAhead
from lexbeam.search.ties import TiedStep, Ties, settle


class Answer(NamedTuple):
    """What a step asked about constraints, and what the model answered."""

    tokens: IntArray  # shape: (rows, asked), those that start or continue an unmet constraint
    targets: IntArray  # shape: (rows, asked), the nodes that they lead to
    scores: Scores
    asked: int
    """How many go on with a constraint; those behind them only help to end in time."""
    tied: TiedStep | None = None
    scored: IntArray | None = None
    """What the model was asked for, before some of it was closed. # shape: as the tokens"""


class SearchStep:
    """Takes the beams of a batch from one step to the next."""

    closed: BoolArray | None
    """A mask of the sentences that may take nothing but their prefix, or the end; None: none."""
    top: int
    """The best tokens of each hypothesis that are looked at: as many as the beam has slots."""

    def __init__(
        self,
        scorer: Scorer,
        model_state: Any,
        beam_size: int,
        finishing: FinishingRules,
        prefix: ForcedPrefix,
        limit: LengthLimit,
        automaton: Automaton | None,
        future_cost: FutureCost | None,
        attends: bool = False,
        ties: Ties | None = None,
        word_ends: bool = True,
        overdue: Overdue | None = None,
    ) -> None:
        self.overdue = overdue
        self.attends = attends
        self.word_ends = word_ends
        self.ties = ties
        self.scorer = scorer
        self.model_state = model_state
        self.beam_size = self.top = beam_size
        self.finishing = finishing
        self.prefix = prefix
        self.limit = limit
        self.ends_at_limit = EndsAtLimit(finishing, limit, prefix, scorer.vocabulary_size)
        self.automaton = automaton
        self.future_cost = future_cost
        self.number = 0

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        for part in (self.prefix, self.limit, self.future_cost, self.ties, self.overdue):
            if part is not None:
                part.keep(sentences)

    def choose_beam(self, beam: Beam, number: int, sizes: IntArray, policy: Policy) -> Chosen:
        """Return the candidates that fill the new beams; ``sizes`` are C. # shape: (sentences,)."""
        self.turn_to(number)
        self.top = self.beam_size if policy.beam_per_bank else policy.beam
        if self.ties is not None and not policy.beam_per_bank:
            # What is best but for its penalty must not hide what is next.
            self.top = max(self.top, self.ties.window.wider * self.beam_size)
        live = beam.live.ravel().nonzero()[0]
        if self.automaton is None or beam.states is None:
            return self._plain(beam, live)
        return self._constrained(beam, live, self.automaton, beam.states, sizes, policy)

    def turn_to(self, number: int) -> bool:
        """Turn to a step; return whether neither prefixes nor length limits say anything."""
        self.number = number
        self.prefix.set_step(number)
        self.limit.set_step(number)
        closed, at_limit = self.prefix.forced, self.limit.at_limit
        if at_limit is not None:
            closed = at_limit if closed is None else closed | at_limit
        self.closed = closed
        return closed is None and self.prefix.word_ends is None and not self.limit.tight

    def look_ahead(self, chosen: Chosen) -> LookAhead | None:
        """Return what is known of the chosen candidates beyond their scores, if anything is."""
        costs = self.future_cost
        if costs is None or chosen.worth is None or chosen.indices is None:
            return None
        tied = None if self.ties is None else self.ties.tied
        return LookAhead(pick(chosen.worth, chosen.indices), *costs.known, tied)

    def _plain(self, beam: Beam, live: IntArray) -> Chosen:
        """Take the k best of all: without constraints no other candidate can be chosen."""
        nothing = np.empty((len(live), 0), np.int64)
        ban = nothing
        if self.prefix.word_ends is not None:
            _, ban = self.prefix.end_words(sentence_of(beam, live), nothing, nothing)
        answer = self._ask_model(beam, live, nothing, ban, attends=self.attends)
        scores = self.ends_at_limit.set_aside(self._open_ends(answer, sentence_of(beam, live)))
        pool = self.beam_size * self.finishing.candidates_per_slot
        candidates = best_of_all(self._open(beam, live, scores, None), pool)
        if self.finishing.as_in_paper:
            ended = candidates.token == self.scorer.eos
            chosen = Chosen(candidates, candidates.score > -np.inf, ended, candidates, None)
        else:
            ended = self._ends(candidates)
            given = self.finishing, candidates, candidates.score, ended
            chosen = _fill_beam(*given, lambda score: select_best(score, self.beam_size))
        return chosen.with_attention(scores.attention) if self.attends else chosen

    def _constrained(
        self,
        beam: Beam,
        live: IntArray,
        automaton: Automaton,
        states: States,
        sizes: IntArray,
        policy: Policy,
    ) -> Chosen:
        """Gather the candidates, group them into banks, allocate the beam and fill it."""
        here = states if len(live) == len(states.node) else states.take(live)
        sentence = sentence_of(beam, live)
        # 1. The model scores what may follow, and the tokens that advance unmet constraints.
        may_end = who_may_end(here, sizes[sentence], automaton)
        answer = self._ask_about_constraints(beam, live, automaton, here, may_end.allowed)
        if self.prefix.forced is not None:
            may_end = may_end.in_prefix(self.prefix.forced[sentence])
        scores = close_beside(answer.scores, automaton.strict(here))
        if self.overdue is not None:
            scores = self.overdue.close(scores, sentence, may_end.allowed)
        scores = may_end.charge(self._open_ends(scores, sentence))
        if may_be_dead_ends(scores):
            may_go = may_end.allowed | (self.closed is not None and self.closed[sentence])
            given = automaton, here, sentence, self.prefix, self.limit, answer.tied, answer.scored
            scores = open_dead_ends(scores, answer.tokens, may_go, *given)
        # 2. Candidates: the k best of all, the asked tokens, the best of each hypothesis.
        answered = self._open(beam, live, scores, may_end.allowed)
        per_slot, sizes_of_beams = self.finishing.candidates_per_slot, policy.beam_sizes
        beam_sizes = None if sizes_of_beams is None else sizes_of_beams * per_slot
        sought = answered, policy.beam * per_slot, beam_sizes, automaton, states, answer[:2]
        candidates, to_pay = collect(*sought, self.word_ends, self._costs_for_kernel(answer))
        ended = self._ends(candidates)
        if not self.finishing.as_in_paper:
            of_step = self, beam, live, may_end, candidates, ended, sizes, automaton
            candidates, ended = _close_early(*of_step)
        candidates, costs = settle(self.ties, candidates, beam, answer.tied, self.prefix.first)
        # 3. Banks, and what candidates of different banks are compared by.
        banks = _find_banks(candidates, automaton, policy.needs_sets)
        worth, unit = candidates.score, None
        if self.future_cost is not None and to_pay is not None:
            worth, unit = candidates.score + to_pay, self.future_cost.unit
        elif self.future_cost is not None:
            asked_for = answer.tokens[:, : answer.asked], answer.targets[:, : answer.asked]
            log_prob = scores.ask_scores[:, 1 : 1 + answer.asked]
            self.future_cost.learn(sentence, *asked_for, log_prob)
            worth = self.future_cost.add_to(candidates, self.number)
            unit = self.future_cost.unit
        if self.overdue is not None:
            worth = self.overdue.prefer_ends(worth, ended)
        # 4. The beam is divided among the banks, and filled.
        chosen = _fill_beam(
            self.finishing,
            candidates,
            worth,
            ended,
            lambda score: policy.select(banks, score if unit is None else score / unit),
        )
        if costs is not None:
            chosen = chosen.with_costs(*costs)
        return chosen.with_attention(scores.attention) if self.attends else chosen

    def _costs_for_kernel(self, answer: Answer) -> KernelCosts | None:
        """Return what the kernel reads of costs, if it can find what is still to be paid."""
        costs, covers = self.future_cost, answer.asked == answer.tokens.shape[1]
        if costs is None or not covers:
            return None
        return KernelCosts(costs.for_step(self.number), (*CONSTANTS_OF_COSTS, self.number))

    def _ask_about_constraints(
        self, beam: Beam, live: IntArray, automaton: Automaton, here: States, may_end: BoolArray
    ) -> Answer:
        """Let the model score the continuations; close those that would be too early or late."""
        sentence = sentence_of(beam, live)
        tokens, targets = automaton.ask(here)
        asked = tokens.shape[1]
        late = self.limit.count_late(here, sentence)
        if late:
            tokens, targets = self.limit.add_helpful(automaton, here, sentence, tokens, targets)
        if self.closed is not None:
            tokens = np.where(self.closed[sentence, None], PAD, tokens)
        tokens, ban = self.prefix.end_words(sentence, tokens, automaton.ban(here))
        tied, due = None, self.ties is not None and self.ties.any_unmet(here, sentence)
        hold = automaton.hold(here)
        scores = self._ask_model(beam, live, tokens, ban, hold, self.attends or due, late)
        if self.ties is not None and due and scores.attention is not None:
            scores, tied = self.ties.penalise(here, sentence, scores, (tokens, targets), asked)
        scores = self.finishing.close_ends(self.ends_at_limit.set_aside(scores), may_end)
        scored = tokens
        if late:
            open_now = tokens, scores, _count_best(self, sentence), tokens.shape[1] - asked
            forced = self.prefix.forced
            tokens, scores = self.limit.close_late(automaton, here, sentence, forced, *open_now)
        elif self.ties is not None:
            beyond = np.arange(scores.top_ids.shape[1]) >= _count_best(self, sentence)[:, None]
            scores = scores._replace(top_scores=np.where(beyond, -np.inf, scores.top_scores))
        return Answer(tokens, targets, scores, asked, tied, scored)

    def _ask_model(
        self,
        beam: Beam,
        live: IntArray,
        ask: IntArray,
        ban: IntArray,
        hold: BoolArray | None = None,
        attends: bool = False,
        more: int = 0,
    ) -> Scores:
        """Let the model score the continuations of the live hypotheses, so many more than usual."""
        top = self.ends_at_limit.count_top(self.top, more)
        if self.prefix.forced is None:
            first = constant_column(len(live), self.scorer.eos)
        else:
            first = self.prefix.first[sentence_of(beam, live), None]
        answer = self.scorer.step(
            self.model_state,
            beam.token.ravel()[live],
            beam.row.ravel()[live],
            np.concatenate((first, ask), axis=1) if ask.size else first,
            ban,
            top,
            **({"hold": hold} if hold is not None and hold.any() else {}),
            **({"attention": True} if attends else {}),
        )
        scores = read_scores(answer)
        if kernel.compiled is not None:
            scores = readable(scores)
        refuse_wrong_shapes(scores, len(live), top, 1 + ask.shape[1])
        refuse_nonsense(scores, ban, self.scorer.eos, self.scorer.vocabulary_size)
        self.model_state = scores.state
        possible = np.maximum(scores.ask_scores, IMPOSSIBLE)
        if self.finishing.aside:  # Whether it has to be possible is known when all else is closed.
            possible[:, 0] = scores.ask_scores[:, 0]
        return scores._replace(ask_scores=possible)

    def _open_ends(self, scores: Scores, sentence: IntArray) -> Scores:
        """Make ends possible that the model rules out, where an output depends on them."""
        closed = None if self.closed is None else self.closed[sentence]
        return self.finishing.open_ends(scores, closed)

    def _open(
        self, beam: Beam, live: IntArray, scores: Scores, may_end: BoolArray | None
    ) -> Answered:
        """Return what may be chosen of the model's answer."""
        if self.closed is not None:
            sentence = sentence_of(beam, live)
            top_scores = np.where(self.closed[sentence, None], -np.inf, scores.top_scores)
            scores = scores._replace(top_scores=top_scores)
            scores = self.ends_at_limit.open(scores, sentence, may_end)
            if may_end is not None and self.prefix.forced is not None:
                may_end = may_end | self.prefix.forced[sentence]
        return Answered(beam, live, scores, self.prefix.first, may_end)

    def _ends(self, candidates: Candidates) -> BoolArray:
        """Return a mask of the candidates that end. # shape: (sentences, candidates)."""
        given = candidates, self.model_state, self.limit.is_last, self.prefix.forced
        return self.finishing.of_candidates(*given)


def _close_early(
    step: SearchStep,
    beam: Beam,
    live: IntArray,
    may_end: MayEnd,
    candidates: Candidates,
    ended: BoolArray,
    sizes: IntArray,
    automaton: Automaton,
) -> tuple[Candidates, BoolArray]:
    """Close what would end before everything is met; ``may_end`` is that of the live rows."""
    assert candidates.states is not None
    before, penalty = beam.finished.ravel().copy(), np.zeros(beam.token.size)
    before[live] = may_end.allowed
    penalty[live] = 0.0 if may_end.penalty is None else may_end.penalty
    after = who_may_end(candidates.states, sizes.repeat(ended.shape[1]), automaton)
    return step.finishing.close_early(
        candidates, ended, (before, penalty), after, ~step.limit.is_last
    )


def _count_best(step: SearchStep, sentence: IntArray) -> IntArray:
    """Return how many of its best tokens each row may use. # shape: (rows,).

    A sentence without ties uses no more next to tied ones than it does alone.
    """
    usual, wide = step.finishing.top(step.beam_size), step.finishing.top(step.top)
    tied = True if step.ties is None else step.ties.tied[sentence]
    return np.where(tied, wide, usual) + np.zeros_like(sentence)


def _fill_beam(
    finishing: FinishingRules,
    candidates: Candidates,
    worth: FloatArray,
    ended: BoolArray,
    select: Select,
) -> Chosen:
    """Choose the new beam among the candidates, by what they are worth."""
    if finishing.aside:
        indices, taken = set_aside(select, worth, ended)
    else:
        indices, taken = at_least_one(select(worth))
    chosen = candidates.take(indices)
    return Chosen(chosen, taken, pick(ended, indices), candidates, indices, worth)


def sentence_of(beam: Beam, slots: IntArray) -> IntArray:
    """Return the sentences that slots belong to, counted among those still there."""
    sentences, width = beam.token.shape
    if sentences == 1:
        return np.zeros_like(slots)
    of_slots: IntArray = slots // width
    return of_slots


def close_beside(scores: Scores, strict: BoolArray | None) -> Scores:
    """Close all but asked tokens where the output must begin so."""
    if strict is None:
        return scores
    open_scores = np.where(strict[:, None], -np.inf, scores.top_scores)
    return scores._replace(top_scores=open_scores)


def _find_banks(candidates: Candidates, automaton: Automaton, by_set: bool) -> IntArray:
    """Return the bank of each candidate: its constraint tokens met, or a number for their set."""
    states = candidates.states
    assert states is not None
    banks = states.bank
    if by_set:
        banks = number_rows(automaton.met_sets(states))
    return banks.reshape(candidates.score.shape)

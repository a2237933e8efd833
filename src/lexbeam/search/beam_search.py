"""Beam search that places constraints (paper, Algorithms 1 and 2).

`decode` is Algorithm 1: as long as a sentence has unfinished hypotheses, the model prices
their continuations, Algorithm 2 chooses the new beam among the candidates
(`search.candidates`) by dividing it into banks (`search.allocation`), and what has finished,
fallen behind or can't win any more leaves. All sentences of a batch go through each step
together; there is no loop over sentences, hypotheses or candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lexbeam.search.allocation import POLICIES, Plain, Policy
from lexbeam.search.arrays import (
    PAD,
    BoolArray,
    FloatArray,
    IntArray,
    constant_column,
    pick,
    starts,
)
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.automaton.remaining import Room
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.whole_words import Words
from lexbeam.search.beam import Beam, Finished, History, Hypothesis
from lexbeam.search.candidates import (
    Asked,
    Candidates,
    Chosen,
    Moment,
    Proposals,
    best_of_all,
    collect,
)
from lexbeam.search.feasibility import count_sets, refuse_impossible
from lexbeam.search.finishing import Ending, Outcome, Select, at_least_one, set_aside
from lexbeam.search.future_cost import Outlook, expected_lengths
from lexbeam.search.length_limit import Horizon
from lexbeam.search.request import Request, read_requests
from lexbeam.search.scorer import Scorer, Scores, can_hold, refuse_nonsense
from lexbeam.search.settings import Settings, read_limits
from lexbeam.search.stopping import are_done, likely_longest, prune

__all__ = ["Hypothesis", "decode"]

_IMPOSSIBLE = -1e9
"""What a demanded token, or the end, costs if the model rules it out: promises are kept."""


def decode(
    scorer: Scorer,
    sources: Sequence[Any],
    phrases: Sequence[Sequence[Sequence[int] | Pattern]] | None = None,
    avoid: Sequence[Sequence[Sequence[int]]] | None = None,
    *,
    prefix: Sequence[Sequence[int] | None] | None = None,
    whole_prefix: Sequence[bool] | None = None,
    beam_size: int = 10,
    algorithm: str = "dba",
    prune: float | None = 20.0,
    stop: str = "all",
    max_length: int | Sequence[int] = 60,
    nbest: int = 1,
    length_penalty: float = 1.0,
    lag: float | None = None,
    boundary: ArrayLike | None = None,
    closing: ArrayLike | None = None,
    starting: ArrayLike | None = None,
    observer: Callable[[Moment], object] | None = None,
    aside: bool = False,
    cut: bool = False,
) -> list[list[Hypothesis]]:
    """Find the best output of each sentence that has all its phrases in it.

    Args:
        scorer: the model.
        sources: one a sentence, in whatever form the model reads.
        phrases: for each sentence, the token sequences, or `automaton.patterns.Pattern`, that its
            output must have. A phrase given n times must occur n times; different phrases may
            share tokens.
        avoid: for each sentence, the token sequences that its output must not have.
        prefix: for each sentence, the tokens that its output begins with.
        whole_prefix: for each sentence, whether its prefix ends a word (needs ``boundary``).
        beam_size: the slots of the beam; with ``gbs`` and ``cbs``, those of each bank.
        algorithm: how the beam is divided: ``dba`` as in the paper, ``lookahead`` with regard to
            what is still unmet, ``gbs``, ``cbs``, or ``beam`` for not at all.
        prune: a hypothesis that is this much worse than the best finished one is dropped
            (paper, section 3.3); 0 or None: none is.
        stop: ``all``: when all on the beam have finished; ``first``: when one has;
            ``bound``: when nothing on the beam can still get among the ``nbest`` best;
            ``likely``: the same, unless it became much longer than outputs usually are;
            ``full``: when ``nbest`` have; ``now``: when they have, and the best hypothesis
            that has all its phrases would not be among them if it ended here.
        max_length: most tokens of an output, the end of sentence not counted; one number, or
            one a sentence.
        nbest: how many outputs to return, where so many have finished.
        length_penalty: exponent of the length by which finished outputs are normalised.
        lag: a hypothesis that is this much worse than the best unfinished one of its bank is
            dropped, which leaves fewer to price; 0 or None: none is. Not in the paper.
        boundary: marks the tokens before which a word has ended; then phrases count as whole
            words only. # shape: (vocabulary,)
        closing: marks the tokens that end a word, whatever follows. # shape: (vocabulary,)
        starting: marks the tokens that begin a word, by which the words between the parts of a
            pattern are counted; those of ``boundary`` if it is not given.
        observer: is called after every step with what it did, to study a search or show it.
        aside: what has ended leaves its slot of the beam to what has not; in the paper it
            keeps it.
        cut: at ``max_length`` an output may stop as it is, without the end of sentence.

    Returns:
        For each sentence its outputs, best first.

    Raises:
        SettingError: a setting is unknown or out of range.
        ConstraintError: a phrase is malformed, or can't be met whatever the model says.
        ScorerError: the scorer answered with NaN or with the wrong shapes.
    """
    settings = Settings(beam_size, algorithm, prune, stop, nbest, length_penalty, lag)
    words = Words.of(boundary, closing, scorer.vocabulary_size, scorer.eos, starting)
    size, eos = scorer.vocabulary_size, scorer.eos
    requests = read_requests(len(sources), phrases, avoid, prefix, size, eos, words, whole_prefix)
    limits = read_limits(max_length, len(sources))
    if not requests:
        return []
    ending = Ending.of(scorer, aside, cut)
    return Search(scorer, sources, requests, settings, limits, words, ending, observer).run()


class Search:
    """A batch under way. Arrays by sentence hold only the sentences that are not done."""

    def __init__(
        self,
        scorer: Scorer,
        sources: Sequence[Any],
        requests: Sequence[Request],
        settings: Settings,
        limits: IntArray,
        words: Words | None,
        ending: Ending,
        observer: Callable[[Moment], object] | None = None,
    ) -> None:
        self.ending = ending
        self.scorer = scorer
        self.observer = observer
        self.settings = settings
        self.requests = requests
        self.results: list[list[Hypothesis]] = [[] for _ in requests]
        self.sentences = np.arange(len(requests))
        self._compile(limits, words)
        self.expected = expected_lengths(sources, limits)
        self.outlook: Outlook | None = None
        if self.automaton is not None and settings.algorithm == "lookahead":
            self.outlook = Outlook(self.automaton, self.expected, scorer.eos)
        self.finished = Finished.none(len(requests), settings.nbest)
        self.history = History()
        self.outcome = Outcome(requests, self.history, ending, self.automaton, settings)
        self.step = 0
        self.model_state = scorer.start(sources, [request.tokens for request in requests])

    def _compile(self, limits: IntArray, words: Words | None) -> None:
        """Make the automaton, unless no sentence has anything to watch."""
        scorer, requests = self.scorer, self.requests
        self.automaton: Automaton | None = None
        self.sizes = np.zeros(len(requests), np.int64)
        self.sets = np.ones(len(requests), np.int64)
        room, states = None, None
        if any(request.phrases or request.avoid for request in requests):
            self.automaton = Automaton(
                [request.phrases for request in requests],
                [request.avoid for request in requests],
                scorer.vocabulary_size,
                words,
                can_hold(scorer),
                scorer.eos,
            )
            room = Room(self.automaton, scorer.vocabulary_size, scorer.eos)
            self.sizes = self.automaton.sizes
            if self.settings.algorithm == "cbs":
                self.sets = count_sets(self.automaton)
            states = self.automaton.start()
        refuse_impossible(requests, limits, self.automaton, room)
        self.horizon = Horizon(requests, limits, scorer.eos, room, words)
        self.policy = self.make_policy()
        self.beam = Beam.start(len(requests), scorer.bos, states)

    def make_policy(self) -> Policy:
        """Return the policy for the sentences that are there."""
        make = POLICIES[self.settings.algorithm]
        return make(self.settings.beam_size, self.sizes, self.sets)

    def run(self) -> list[list[Hypothesis]]:
        """Algorithm 1: step until every sentence is done."""
        while len(self.sentences):
            self.horizon.look(self.step)
            live = self.beam.live.ravel().nonzero()[0]
            if self.automaton is None or self.beam.states is None:
                chosen = self.plain_step(live)
            else:
                chosen = self.constrained_step(live, self.automaton, self.beam.states)
            self.move(chosen)
            self.beam = prune(self.beam, self.finished, self.settings)
            if self.observer is not None:
                moment = Moment(self.step, self.sentences, self.beam, chosen, self.automaton)
                self.observer(moment)
            self.leave()
            self.step += 1
        return self.results

    # --- Algorithm 2: candidates, banks, allocation ------------------------------------------

    def plain_step(self, live: IntArray) -> Chosen:
        """Take the k best of all: without constraints no other candidate can be chosen."""
        nothing = np.empty((len(live), 0), np.int64)
        ban = nothing
        if self.horizon.word_ends is not None:
            _, ban = self.horizon.end_words(self.sentence_of(live), nothing, nothing)
        scores = self.ask_model(live, nothing, ban)
        pool = self.settings.beam_size * self.ending.pool
        candidates = best_of_all(self.lay_out(live, scores, None), pool)
        if self.ending.as_in_paper:
            ended = candidates.token == self.scorer.eos
            return Chosen(candidates, candidates.score > -np.inf, ended, candidates, None)
        best = Plain(self.settings.beam_size, self.sizes, self.sets)
        one_bank = np.zeros(candidates.score.shape, np.int64)
        ended = self.ends(candidates)
        return self.choose(
            candidates, candidates.score, ended, lambda score: best.select(one_bank, score)
        )

    def constrained_step(self, live: IntArray, automaton: Automaton, states: States) -> Chosen:
        """Gather the candidates, group them into banks, allocate the beam and fill it."""
        here = states if len(live) == len(states.node) else states.take(live)
        sentence = self.sentence_of(live)
        tokens, targets = automaton.ask(here)
        if self.horizon.closed is not None:
            tokens = np.where(self.horizon.closed[sentence, None], PAD, tokens)
        hold = automaton.hold(here)
        tokens, ban = self.horizon.end_words(sentence, tokens, automaton.ban(here))
        scores = self.ask_model(live, tokens, ban, hold)
        if self.horizon.tight:
            most = self.ending.top(self.settings.beam_size)
            tokens, scores = self.horizon.close_late(
                automaton, here, sentence, tokens, scores, most
            )
        may_end, price = self.may_end(here, sentence, automaton)
        if price is not None:
            ends = scores.ask_scores.copy()
            ends[:, 0] -= price
            scores = scores._replace(ask_scores=ends)
        strict = automaton.strict(here)
        if strict is not None:
            open_scores = np.where(strict[:, None], -np.inf, scores.top_scores)
            scores = scores._replace(top_scores=open_scores)
        asked = Asked.lay_out(self.beam, live, tokens, targets, scores)
        proposals = self.lay_out(live, scores, may_end)
        policy, pool = self.policy, self.ending.pool
        beam_sizes = policy.beam_sizes if policy.beam_sizes is None else policy.beam_sizes * pool
        candidates = collect(proposals, policy.beam * pool, beam_sizes, automaton, states, asked)
        ended = self.ends(candidates)
        if not self.ending.as_in_paper:
            now = may_end, price
            candidates, ended = self.close_early(candidates, ended, live, now, automaton)
        banks = self.banks(candidates, automaton)
        worth = candidates.score
        if self.outlook is not None:
            self.outlook.learn(sentence, tokens, targets, scores.ask_scores[:, 1:])
            worth = self.outlook.of(candidates, self.step)
        return self.choose(candidates, worth, ended, lambda score: policy.select(banks, score))

    def choose(
        self, candidates: Candidates, worth: FloatArray, ended: BoolArray, select: Select
    ) -> Chosen:
        """Choose the new beam among the candidates, by what they are worth."""
        if self.ending.aside:
            places, taken = set_aside(select, worth, ended)
        else:
            places, taken = at_least_one(select(worth))
        chosen = candidates.take(places)
        return Chosen(chosen, taken, pick(ended, places), candidates, places, worth)

    def ends(self, candidates: Candidates) -> BoolArray:
        """Say which candidates end. # shape: (sentences, candidates)."""
        last = self.step + 1 >= self.horizon.limits
        return self.ending.of_candidates(candidates, self.model_state, last)

    def may_end(
        self, states: States, sentence: IntArray, automaton: Automaton
    ) -> tuple[BoolArray, FloatArray | None]:
        """Say who has everything that it needs to end, and what it would pay for the rest."""
        may_end, price = states.bank == self.sizes[sentence], None
        if automaton.softs is not None:
            may_end, price = automaton.softs.settle(states)
        hold = automaton.hold(states)
        return (may_end if hold is None else may_end & ~hold), price

    def close_early(
        self,
        candidates: Candidates,
        ended: BoolArray,
        live: IntArray,
        now: tuple[BoolArray, FloatArray | None],
        automaton: Automaton,
    ) -> tuple[Candidates, BoolArray]:
        """Close what would end before everything is met; ``now`` says who of the live may end."""
        assert candidates.states is not None
        before, price = self.beam.finished.ravel().copy(), np.zeros(self.beam.token.size)
        before[live] = now[0]
        price[live] = 0.0 if now[1] is None else now[1]
        sentence = np.arange(len(ended)).repeat(ended.shape[1])
        after = self.may_end(candidates.states, sentence, automaton)
        goes_on = self.step + 1 < self.horizon.limits
        return self.ending.close_early(candidates, ended, (before, price), after, goes_on)

    def lay_out(self, live: IntArray, scores: Scores, may_end: BoolArray | None) -> Proposals:
        """Lay the model's answer out by slot, with what may not be chosen closed."""
        horizon = self.horizon
        if horizon.closed is not None:
            sentence = self.sentence_of(live)
            top_scores = np.where(horizon.closed[sentence, None], -np.inf, scores.top_scores)
            scores = scores._replace(top_scores=top_scores)
            if may_end is not None and horizon.forced is not None:
                may_end = may_end | horizon.forced[sentence]
        return Proposals.lay_out(self.beam, live, scores, horizon.first, may_end)

    def banks(self, candidates: Candidates, automaton: Automaton) -> IntArray:
        """Return the bank of each candidate: its constraint tokens met, or their set."""
        states = candidates.states
        assert states is not None
        banks = states.bank
        if self.policy.by_set:
            sets = np.stack(automaton.settled(states))
            banks = np.unique(sets, axis=1, return_inverse=True)[1].ravel()
        return banks.reshape(candidates.score.shape)

    def sentence_of(self, slots: IntArray) -> IntArray:
        """Return the sentences that slots belong to, counted among those still there."""
        if len(self.sentences) == 1:
            return np.zeros_like(slots)
        sentences: IntArray = slots // self.beam.token.shape[1]
        return sentences

    # --- the model ---------------------------------------------------------------------------

    def ask_model(
        self, live: IntArray, ask: IntArray, ban: IntArray, hold: BoolArray | None = None
    ) -> Scores:
        """Let the model price the continuations of the live hypotheses."""
        top = min(self.ending.top(self.settings.beam_size), self.scorer.vocabulary_size - 1)
        if self.horizon.tight:
            # Tokens that would be too late are mostly those of phrases: look beyond them.
            top += self.horizon.alphabet
        if self.horizon.forced is None:
            first = constant_column(len(live), self.scorer.eos)
        else:
            first = self.horizon.first[self.sentence_of(live), None]
        answer = self.scorer.step(
            self.model_state,
            self.beam.token.ravel()[live],
            self.beam.row.ravel()[live],
            np.concatenate((first, ask), axis=1) if ask.size else first,
            ban,
            top,
            **({"hold": hold} if hold is not None and hold.any() else {}),
        )
        scores = Scores(*answer)  # any sequence of the four will do
        refuse_nonsense(scores, len(live), top, 1 + ask.shape[1])
        self.model_state = scores.state
        possible = np.maximum(scores.ask_scores, _IMPOSSIBLE)
        if self.ending.aside and self.horizon.closed is None:
            possible[:, 0] = scores.ask_scores[:, 0]  # nothing hangs on this end
        return Scores(scores.top_scores, scores.top_ids, possible, scores.state)

    # --- the new beam ------------------------------------------------------------------------

    def move(self, chosen: Chosen) -> None:
        """Put the chosen candidates on the beam; normalise those that have just ended."""
        old, width = self.beam, self.beam.token.shape[1]
        (score, slot, token, row, states), taken, ended, *_ = chosen
        log_prob = score
        newly = None
        if ended.any():
            before = old.finished.ravel()[slot]
            newly = taken & ended & ~before
            log_prob = np.where(before, old.log_prob.ravel()[slot], score)
            length = float(self.step + 1)
            score = np.where(newly, score / length**self.settings.length_penalty, score)
        self.beam = Beam(
            token,
            slot if len(slot) == 1 else slot - starts(len(slot), width),
            row[slot],
            log_prob,
            score,
            taken & ended,
            taken & ~ended,
            states,
        )
        self.history.record(self.sentences, self.beam)
        if newly is not None and newly.any():
            self.finished = self.finished.add(self.beam, newly, self.step)
            if self.ending.aside:
                self.beam = self.beam.narrow(int(self.beam.live.sum(axis=1).max()))

    def leave(self) -> None:
        """Let sentences that are done leave the batch, with their results."""
        if not self.finished.any and self.beam.live[:, 0].all():
            return  # nothing has ended, and every sentence goes on
        longest: IntArray | FloatArray = self.horizon.limits + (not self.ending.cut)
        if self.settings.stop == "likely":
            longest = np.minimum(longest, likely_longest(self.expected, self.step))
        done = are_done(self.settings, self.beam, self.finished, self.step, longest, self.sizes)
        if not done.any():
            return
        for place in np.flatnonzero(done).tolist():
            self.results[self.sentences[place]] = self.outcome.of(
                int(self.sentences[place]), self.finished, place
            )
        stay = np.flatnonzero(~done)
        self.sentences, self.sizes = self.sentences[stay], self.sizes[stay]
        self.sets, self.expected = self.sets[stay], self.expected[stay]
        self.policy = self.make_policy()
        self.beam, self.finished = self.beam.keep(stay), self.finished.keep(stay)
        self.horizon.keep(stay)
        if self.outlook is not None:
            self.outlook.keep(stay)

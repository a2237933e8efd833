"""Beam search that places constraints (paper, Algorithm 1).

As long as a sentence has unfinished hypotheses, Algorithm 2 (`search.step`) chooses its new beam;
what has finished or fallen behind leaves the beam, and a sentence that is done leaves the batch
(`search.stopping`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from lexbeam.search.allocation import POLICIES, Policy, TwoWidths
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, row_starts
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Beam, Finished, History, Hypothesis
from lexbeam.search.candidates import Chosen, ObservedStep
from lexbeam.search.decode_arguments import (
    read_asked,
    read_settings,
    read_words,
    refuse_wrong_kinds,
)
from lexbeam.search.drafting import (
    Batch,
    Drafted,
    FindDisplaced,
    compile_what_is_possible,
    draft_batch,
)
from lexbeam.search.feasibility import count_sets
from lexbeam.search.finishing import FinishingRules, OutputReader
from lexbeam.search.future_cost import FutureCost
from lexbeam.search.giving_up import give_up
from lexbeam.search.length_limit import LengthLimit
from lexbeam.search.overdue import EVERY, Overdue
from lexbeam.search.prefix import ForcedPrefix
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scorer, can_attend, can_restart
from lexbeam.search.sentences import Sentences
from lexbeam.search.settings import Settings, SettingsArguments, read_limits
from lexbeam.search.step import SearchStep, sentence_of
from lexbeam.search.stopping import LookAhead, are_done, likely_longest, prune
from lexbeam.search.ties import WINDOWS, Ties, read_ties
from lexbeam.search.whole_step import WholeStep

__all__ = ["Hypothesis", "decode"]


def decode(
    scorer: Scorer,
    sources: Sequence[Any],
    phrases: Sequence[Sequence[Sequence[int] | Pattern]] | None = None,
    avoid: Sequence[Sequence[Sequence[int]]] | None = None,
    *,
    prefix: Sequence[Sequence[int] | None] | None = None,
    whole_prefix: Sequence[bool] | None = None,
    max_length: int | Sequence[int] = 60,
    boundary: ArrayLike | None = None,
    closing: ArrayLike | None = None,
    starting: ArrayLike | None = None,
    joining: ArrayLike | None = None,
    marking: ArrayLike | None = None,
    silent: ArrayLike | None = None,
    observer: Callable[[ObservedStep], object] | None = None,
    aside: bool = False,
    cut: bool = False,
    ties: Sequence[Mapping[int, Sequence[int]]] | None = None,
    find_displaced: FindDisplaced | None = None,
    thorough: bool = False,
    insists: bool = True,
    align: bool = False,
    settings: Settings | None = None,
    **arguments: Unpack[SettingsArguments],
) -> list[list[Hypothesis]]:
    """Return the best outputs of each sentence that have all its phrases, best first.

    Args:
        scorer: the model; one that breaks its protocol is a ScorerError.
        sources: one per sentence, in whatever form the model reads.
        phrases: for each sentence, token sequences, or `Pattern`, to have (or a ConstraintError).
        avoid: for each sentence, the token sequences, or `Beginning`, that it must not have.
        prefix: for each sentence, the tokens that its output begins with.
        whole_prefix: for each sentence, whether its prefix ends a word (needs ``boundary``).
        max_length: most tokens of an output without its end; one number, or one per sentence.
        boundary: marks the tokens before which a word has ended: phrases are whole words then.
        closing: marks those that end a word, whatever follows.
        starting: marks those that begin a word, for counting; ``boundary`` if not given.
        joining: how tokens join parts of compounds (`automaton.whole_words`).
        marking: marks those that only say that a word begins.
        silent: marks those that write nothing. # shape of marks: (vocabulary,)
        observer: is shown every step; what is searched again begins again with step 0.
        aside: what has ended leaves its slot; in the paper it keeps it.
        cut: at ``max_length`` an output may stop without the end of sentence.
        ties: for each sentence, the source tokens of phrases, by their indices (`search.ties`).
        find_displaced: returns what ties displace, given a sentence and its draft (`drafting`).
        thorough: look further around the places where ties are due, with a wider beam.
        insists: search again for what length limits have lost; else its list is empty.
        align: give each output its attention, if the model can attend.
        settings: how to search (`Settings`); ``arguments`` are single fields of it by name.
    """
    refuse_wrong_kinds((observer, find_displaced), aside, cut, align, thorough, insists)
    settings, finishing = read_settings(settings, arguments), FinishingRules.of(scorer, aside, cut)
    words = read_words(scorer, boundary, closing, starting, joining, marking, silent)
    requests = read_asked(scorer, sources, phrases, avoid, prefix, words, whole_prefix)
    tied = read_ties(ties, requests, sources) if can_attend(scorer) else None
    limits, window = read_limits(max_length, len(requests)), WINDOWS[bool(thorough)]
    batch = Batch(scorer, sources, limits, words, finishing, settings, tied, window)
    return _search(batch, requests, find_displaced, observer, align and can_attend(scorer), insists)


def _search(
    batch: Batch,
    requests: Sequence[Request],
    find_displaced: FindDisplaced | None,
    observer: Callable[[ObservedStep], object] | None,
    attends: bool,
    insists: bool,
) -> list[list[Hypothesis]]:
    """Search for a batch, and again for what was lost if the caller insists."""
    if not requests:
        return []
    drafted = draft_batch(batch, requests, find_displaced)
    search = Search(batch, drafted, observer, attends)
    found = search.run()
    known = drafted.compiled.remaining.planned if drafted.compiled.remaining else frozenset()
    for lost in (search.lost.keys() & known, search.lost.keys() - known) if insists else ():
        if not lost:
            continue
        again = _search_again(batch, requests, drafted, sorted(lost), observer, attends)
        for sentence in lost:
            lost_steps = search.lost[sentence]
            found[sentence] = [replace(each, lost_steps=lost_steps) for each in again[sentence]]
    return found


def _search_again(
    batch: Batch,
    requests: Sequence[Request],
    drafted: Drafted,
    sentences: Sequence[int],
    observer: Callable[[ObservedStep], object] | None,
    attends: bool,
) -> list[list[Hypothesis]]:
    """Search for some sentences without looking away from their length limits at any step.

    A plan for the whole of each is looked for first; then there is always one to follow.
    """
    scorer, state, compiled = batch.scorer, drafted.state, drafted.compiled
    asked, remaining = list(compiled.requests), compiled.remaining
    if not can_restart(scorer):
        state = scorer.start(batch.sources, [request.tokens for request in asked])
    others = np.setdiff1d(np.arange(len(asked)), sentences).tolist()
    if remaining is None or not remaining.planned.issuperset(sentences):
        compiled = compile_what_is_possible(batch, asked, requests, sentences, compiled)
    for sentence in sentences:
        if compiled.remaining is not None and compiled.remaining.follows_plans(sentence):
            compiled.remaining.plan(sentence).begin_again()
    drafted = drafted._replace(compiled=compiled, state=state, answered=others)
    return Search(batch, drafted, observer, attends, looks_away=False).run()


class Search:
    """A batch that is being searched."""

    def __init__(
        self,
        batch: Batch,
        drafted: Drafted,
        observer: Callable[[ObservedStep], object] | None = None,
        attends: bool = False,
        looks_away: bool = True,
    ) -> None:
        scorer, sources, limits, words, finishing, settings, ties, window = batch
        self.settings = settings
        self.finishing = finishing
        self.observer = observer
        policy = POLICIES[settings.algorithm]
        self.compiled = drafted.compiled
        requests, automaton, self.remaining = self.compiled
        states, future_cost, overdue = None, None, None
        sizes, sets = np.zeros(len(requests), np.int64), np.ones(len(requests), np.int64)
        if automaton is not None:
            sizes, states = automaton.sizes, automaton.start()
            sets = count_sets(automaton) if policy.needs_sets else sets
            if policy.needs_future_cost:
                future_cost = FutureCost(automaton, batch.expected, scorer.eos)
                overdue = Overdue(batch.expected, requests)
        self.sentences = Sentences(np.arange(len(requests)), sizes, sets, batch.expected)
        self.policy = self.make_policy()
        self.step = SearchStep(
            scorer,
            drafted.state,
            settings.beam_size,
            finishing,
            ForcedPrefix(requests, scorer.eos, words),
            LengthLimit(limits, self.remaining, finishing.tokens, looks_away),
            automaton,
            future_cost,
            attends,
            Ties(ties, [len(s) for s in sources], automaton, window)
            if ties and automaton
            else None,
            settings.word_end,
            overdue,
        )
        if drafted.draft is not None:
            self._use_draft(drafted, future_cost)
        self.whole_step = WholeStep(self.step, settings, observer is not None)
        self.beam = Beam.start(len(requests), scorer.bos, states)
        self.finished = Finished.none(len(requests), settings.nbest)
        self.history = History()
        self.outputs = OutputReader(
            requests, self.history, finishing, automaton, settings, drafted.outputs
        )
        self.results: list[list[Hypothesis]] = [[] for _ in requests]
        self.lost: dict[int, int] = {}
        """The sentences of which nothing was found because limits were not always looked at, and
        how many steps they were searched for."""
        if drafted.answered:
            self.keep(np.setdiff1d(self.sentences.numbers, drafted.answered))

    def _use_draft(self, drafted: Drafted, future_cost: FutureCost | None) -> None:
        """Let drafts show what constraints are going to cost, and where ties are due."""
        assert drafted.draft is not None
        if future_cost is not None:
            future_cost.use_draft(drafted.draft)
        if self.step.ties is not None:
            self.step.ties.use_draft(drafted.draft)

    def make_policy(self) -> Policy:
        """Return the policy for the sentences that are not done."""
        make = POLICIES[self.settings.algorithm]
        return make(self.settings.beam_size, self.sentences.sizes, self.sentences.sets)

    def widen(self, due: BoolArray) -> Policy:
        """Return the policy for a step at which tied constraints of some sentences are due."""
        make, narrow = POLICIES[self.settings.algorithm], self.settings.beam_size
        if make.beam_per_bank or self.step.ties is None:
            return self.policy
        wide = self.step.ties.window.wider * narrow
        _, sizes, sets, _ = self.sentences
        if due.all():
            return make(wide, sizes, sets)
        return TwoWidths(make, (narrow, wide), due, sizes, sets)

    def run(self) -> list[list[Hypothesis]]:
        """Algorithm 1: step until every sentence is done."""
        number = -1
        while len(self.sentences.numbers):
            number += 1
            if self.step.overdue is not None:
                self.step.overdue.look(number, self.beam)
                self.bring_limits_near(number)
            if self.whole_step.covers(number, self.policy):
                self.advance(number)
                continue
            ties = self.step.ties
            due, spared = (ties.are_due(number), ties.are_spared(number)) if ties else (None, None)
            policy = self.policy if due is None else self.widen(due)
            chosen = self.step.choose_beam(self.beam, number, self.sentences.sizes, policy)
            self.extend(chosen, number)
            ahead = self.step.look_ahead(chosen)
            self.beam = prune(self.beam, self.finished, self.settings, ahead, spared)
            self.show(chosen, number)
            self.remove_done(number)
        return self.results

    def bring_limits_near(self, number: int) -> None:
        """Leave outputs that run on without getting on hardly more room than they need.

        Those that can't be ended any more are given up.
        """
        late = None if self.step.overdue is None else self.step.overdue.newly_late
        looks_now = number > 0 and number % EVERY == 0
        if self.beam.states is None or self.remaining is None or self.finishing.cut:
            return
        if looks_now and (late is not None or self.remaining.planned):
            live = np.flatnonzero(self.beam.live)
            given = self.beam.states.take(live), sentence_of(self.beam, live)
            self.step.limit.set_step(number)
            unfinished = self.finished.score[:, 0] == -np.inf
            give_up(self.step.limit, self.remaining, late, unfinished, *given)

    def advance(self, number: int) -> None:
        """Take a step that the compiled kernel covers: all of the above, but for what has ended."""
        given = self.beam, number, self.sentences.sizes, self.policy, self.finished.any
        self.beam, newly, worth, dropped, all_live = self.whole_step.advance(*given)
        self.history.record(self.sentences.numbers, self.beam)
        if newly is not None:
            self.finished = self.finished.add(self.beam, newly, number)
        if not dropped:
            ahead, costs = None, self.step.future_cost
            if costs is not None:
                ahead = LookAhead(worth, *costs.known)
            self.beam = prune(self.beam, self.finished, self.settings, ahead)
            all_live = False
        if not all_live:
            self.remove_done(number)

    def extend(self, chosen: Chosen, number: int) -> None:
        """Put the chosen candidates on the beam; normalise those that have just ended."""
        old, width = self.beam, self.beam.token.shape[1]
        (score, slot, token, row, states), taken, ended, *_ = chosen
        log_prob = score
        newly = None
        if ended.any():
            before = old.finished.ravel()[slot]
            newly = taken & ended & ~before
            log_prob = np.where(before, old.log_prob.ravel()[slot], score)
            length = float(number + 1)
            score = np.where(newly, score / length**self.settings.length_penalty, score)
        self.beam = Beam(
            token,
            slot if len(slot) == 1 else slot - row_starts(len(slot), width),
            row[slot],
            log_prob,
            score,
            taken & ended,
            taken & ~ended,
            states,
            chosen.paid,
        )
        self.history.record(self.sentences.numbers, self.beam, chosen.attention, chosen.penalty)
        if newly is not None and newly.any():
            self.finished = self.finished.add(self.beam, newly, number)
            if self.finishing.aside:
                self.beam = self.beam.narrow(int(self.beam.live.sum(axis=1).max()))

    def show(self, chosen: Chosen, number: int) -> None:
        """Show the step to the observer, if there is one."""
        if self.observer is not None:
            automaton = self.step.automaton
            step = ObservedStep(number, self.sentences.numbers, self.beam, chosen, automaton)
            self.observer(step)

    def remove_done(self, number: int) -> None:
        """Let sentences that are done leave the batch, with their results."""
        if not self.finished.any and self.beam.live.any(axis=1).all():
            return  # nothing has ended, and every sentence goes on
        limit = self.step.limit
        longest: IntArray | FloatArray = limit.limits + (not self.finishing.cut)
        if self.settings.stop == "likely":
            longest = np.minimum(longest, likely_longest(self.sentences.expected, number))
        sizes = self.sentences.sizes
        done = are_done(self.settings, self.beam, self.finished, number, longest, sizes)
        if not done.any():
            return
        for row in np.flatnonzero(done).tolist():
            sentence = int(self.sentences.numbers[row])
            nothing = self.finished.score[row].max() == -np.inf
            if nothing and limit.looks.may_have_lost(sentence):
                self.lost[sentence] = number + 1
            else:
                taken = number + 1, self.compiled.count_prepared(sentence)
                self.results[sentence] = self.outputs.read(sentence, self.finished, row, *taken)
        self.keep(np.flatnonzero(~done))

    def keep(self, stay: IntArray) -> None:
        """Let all other sentences leave the batch."""
        self.sentences = self.sentences.keep(stay)
        if not len(stay):
            return
        self.policy = self.make_policy()
        self.beam, self.finished = self.beam.keep(stay), self.finished.keep(stay)
        self.step.keep(stay)

"""How outputs end, where models or callers differ from the paper.

In the paper (section 3.3) an output ends by one token, keeps its slot of the beam, and has to
end within the limit. Other searches differ in each of these: there may be several such tokens
or other reasons to stop, an output that has ended may leave its slot to an unfinished one, and
at the limit it may be cut off. `FinishingRules` has these choices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from lexbeam.errors import ConstraintError, ScorerError
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, pick
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trace import met_phrases, walk
from lexbeam.search.beam import Finished, History, Hypothesis
from lexbeam.search.candidates import Candidates
from lexbeam.search.request import Request, listed
from lexbeam.search.scorer import IMPOSSIBLE, Scorer, Scores, read_ends
from lexbeam.search.selection import Selection
from lexbeam.search.settings import Settings

Select = Callable[[FloatArray], Selection]


class MayEnd(NamedTuple):
    """Which hypotheses have all that they need to end. # shape of both: (hypotheses,)."""

    allowed: BoolArray
    penalty: FloatArray | None
    """What each would pay for what it gives up; None: nothing may be given up."""

    def in_prefix(self, forced: BoolArray) -> MayEnd:
        """Return the same where some are in their prefix: they are offered no end, and pay none."""
        if self.penalty is None:
            return self
        return MayEnd(self.allowed, np.where(forced, 0.0, self.penalty))

    def charge(self, scores: Scores) -> Scores:
        """Let ends pay for what they give up.

        Penalties may be so large that numbers of a model's precision would lose the scores.
        """
        if self.penalty is None:
            return scores
        ends = scores.ask_scores.astype(np.float64)
        ends[:, 0] -= self.penalty
        return scores._replace(ask_scores=ends)


def who_may_end(states: States, sizes: IntArray, automaton: Automaton) -> MayEnd:
    """Return who has everything that it needs to end, and the penalty for the rest.

    ``sizes`` are the constraint tokens of each one's sentence. # shape: as the states.
    """
    if automaton.soft is None:
        may_end, penalty = states.bank == sizes, None
    else:
        may_end, penalty = automaton.soft.may_end(states.node, states.seen)
    hold = automaton.hold(states)
    return MayEnd(may_end if hold is None else may_end & ~hold, penalty)


@dataclass(frozen=True)
class FinishingRules:
    """How the outputs of a search end."""

    eos: int
    tokens: BoolArray | None
    """A mask of all tokens that end an output, if there are more than ``eos``.
    # shape: (vocabulary,)"""
    stops: Callable[[Any, IntArray, IntArray], BoolArray] | None
    """The scorer's own reasons to stop, see `lexbeam.search.scorer.Scorer`."""
    aside: bool
    """Whether what has ended leaves its slot of the beam to what has not."""
    cut: bool
    """Whether an output may stop at the limit as it is."""

    @classmethod
    def of(cls, scorer: Scorer, aside: bool, cut: bool) -> FinishingRules:
        """Return what the caller chose and the scorer asks for."""
        ends, tokens = list(read_ends(scorer)), None
        if len(ends) > 1:
            tokens = np.zeros(scorer.vocabulary_size, np.bool_)
            tokens[ends] = True
        return cls(scorer.eos, tokens, getattr(scorer, "stops", None), aside, cut)

    @property
    def as_in_paper(self) -> bool:
        """Whether outputs end as in the paper."""
        return not (self.aside or self.cut or self.tokens is not None or self.stops)

    @property
    def count(self) -> int:
        """The number of tokens that end an output."""
        return 1 if self.tokens is None else int(np.count_nonzero(self.tokens))

    @property
    def candidates_per_slot(self) -> int:
        """How many candidates to look at per slot, so that enough remain that don't end."""
        return 1 + self.count if self.aside else 1

    def top(self, beam: int) -> int:
        """Return how many tokens of a row, besides the end of sentence, may be needed."""
        return beam * self.candidates_per_slot if self.stops else beam + self.count - 1

    def by_token(self, tokens: IntArray) -> BoolArray:
        """Return a mask of the tokens that end an output."""
        ended: BoolArray = tokens == self.eos if self.tokens is None else self.tokens[tokens]
        return ended

    def close_ends(self, scores: Scores, may_end: BoolArray) -> Scores:
        """Close the tokens that would end a hypothesis too early; ``may_end`` is that of each row.

        Else they might be all that is looked at, and nothing would be left.
        """
        if self.tokens is None:
            return scores
        too_early = self.tokens[scores.top_ids] & ~may_end[:, None]
        return scores._replace(top_scores=np.where(too_early, -np.inf, scores.top_scores))

    def open_ends(self, scores: Scores, closed: BoolArray | None) -> Scores:
        """Make the end possible, though the model rules it out, for rows that can't go on.

        Where what has ended leaves its slot, no output depends on the end of what can go on. That
        is known only when everything is closed that may not follow. ``closed`` marks the rows
        that may take nothing but the end or their prefix, whatever else is open.
        """
        if not self.aside:
            return scores
        stuck = ~(scores.top_scores > -np.inf).any(axis=1)
        if closed is not None:
            stuck |= closed
        possible = scores.ask_scores.copy()
        possible[stuck, 0] = np.maximum(possible[stuck, 0], IMPOSSIBLE)
        return scores._replace(ask_scores=possible)

    def of_candidates(
        self,
        candidates: Candidates,
        state: Any,
        last: BoolArray,
        forced: BoolArray | None = None,
    ) -> BoolArray:
        """Return a mask of the candidates that end. # shape: (sentences, candidates).

        ``last`` marks the sentences at their limit, ``forced`` those in their prefix, where a
        scorer has no reason to stop, # shape: (sentences,); ``state`` is what the scorer returned
        for this step.
        """
        ended = self.by_token(candidates.token)
        if self.stops is not None:
            rows = candidates.row[candidates.slot]
            stopped = np.asarray(self.stops(state, rows, candidates.token), np.bool_)
            if stopped.shape != rows.shape:
                raise ScorerError(f"the scorer's stops has shape {stopped.shape}, not {rows.shape}")
            ended = ended | (stopped if forced is None else stopped & ~forced[:, None])
        return ended | last[:, None] if self.cut and last.any() else ended

    def close_early(
        self,
        candidates: Candidates,
        ended: BoolArray,
        before: tuple[BoolArray, FloatArray],
        after: MayEnd,
        goes_on: BoolArray,
    ) -> tuple[Candidates, BoolArray]:
        """Close the candidates that would end before everything is met; let the others pay.

        What ends by a token must have met everything ``before`` it, # shape: (sentences ·
        slots,); what is stopped or cut off, ``after`` it, # shape: (sentences · candidates,).
        Both have a mask of those that may end and the penalty for what is given up; that of the
        end of sentence itself has been paid. Where a scorer would stop all candidates of a
        sentence that ``goes_on``, it is not obeyed until one of them may end.
        """
        score, token, slot = candidates.score, candidates.token, candidates.slot
        by_token, shape = self.by_token(token), ended.shape
        early = ended & ~np.where(by_token, before[0][slot], after.allowed.reshape(shape))
        if after.penalty is not None:
            penalty = np.where(by_token, before[1][slot], after.penalty.reshape(shape))
            score = score - np.where(ended & (token != self.eos), penalty, 0.0)
        open_score = np.where(early, -np.inf, score)
        stuck = goes_on & ~(open_score > -np.inf).any(axis=1)
        if stuck.any():
            ended = np.where(stuck[:, None], by_token, ended)
            open_score = np.where(stuck[:, None] & ~by_token, candidates.score, open_score)
        return candidates._replace(score=open_score), ended


def set_aside(select: Select, score: FloatArray, ended: BoolArray) -> Selection:
    """Fill the beam as if nothing ended, and put behind it what ends.

    What ends must be good enough for a slot, but does not take it.
    """
    indices, taken = at_least_one(select(score))
    finishing = taken & pick(ended, indices)
    if not (ended & (score > -np.inf)).any():
        return Selection(indices, taken)
    live_indices, live = at_least_one(select(np.where(ended, -np.inf, score)))
    width = int(finishing.sum(axis=1).max())
    first = (~finishing).argsort(axis=1, kind="stable")[:, :width]
    return Selection(
        np.concatenate((live_indices, pick(indices, first)), axis=1),
        np.concatenate((live, pick(finishing, first)), axis=1),
    )


def at_least_one(selection: Selection) -> Selection:
    """Return beams with at least one slot, which may be empty."""
    sentences, width = selection.indices.shape
    if width:
        return selection
    return Selection(np.zeros((sentences, 1), np.int64), np.zeros((sentences, 1), np.bool_))


@dataclass(frozen=True)
class OutputReader:
    """Reads the outputs of sentences back through the history of a search."""

    requests: Sequence[Request]
    history: History
    finishing: FinishingRules
    automaton: Automaton | None
    settings: Settings
    drafts: Mapping[int, Hypothesis] = field(default_factory=dict)
    """What the model said of some sentences when nothing was demanded."""

    def read(
        self, sentence: int, finished: Finished, row: int, steps: int, prepared: int
    ) -> list[Hypothesis]:
        """Return the outputs of a sentence, given its row among the finished hypotheses.

        It was searched for so many ``steps``, with so many states ``prepared``.
        """
        found = []
        for score, log_prob, step, slot in zip(*(a[row] for a in finished[:-1]), strict=True):
            if score > -np.inf:
                output = self._output(sentence, int(step), int(slot), score, log_prob)
                found.append(replace(output, steps=steps, prepared=prepared))
        if not found:
            subjects = self.requests[sentence].subjects
            raise ConstraintError(
                f"no output with the phrases {listed(subjects)} was found that keeps "
                "to max_length and to what is avoided; allow more tokens or avoid less",
                *subjects,
                sentence=sentence,
            )
        return found

    def _output(
        self, sentence: int, step: int, slot: int, score: float, log_prob: float
    ) -> Hypothesis:
        """Return a finished output; penalties are no part of its score any more."""
        tokens, slots = self.history.backtrace(sentence, step, slot)
        log_probs, paid = self.history.log_probs_of(sentence, step, slot)
        end = tokens.pop() if self.finishing.by_token(np.array(tokens[-1])) else None
        # Only what has met everything that can't be given up is allowed to end.
        met = [True] * len(self.requests[sentence].phrases)
        automaton = self.automaton
        if automaton is not None and automaton.soft and automaton.layouts[sentence].soft:
            *_, states = walk(automaton, sentence, tokens)
            met = met_phrases(automaton, sentence, states)
            given_up = float(automaton.soft.may_end(states.node, states.seen)[1][0])
            paid += given_up
            if log_probs is not None:
                log_probs[-1] += given_up
        log_prob, score = float(log_prob), float(score)
        if paid:
            log_prob += paid
            score = log_prob / len(slots) ** self.settings.length_penalty
        attention = self.history.attention_to(sentence, step, slot)
        draft = self.drafts.get(sentence)
        given = tokens, score, log_prob, met, end is not None, end, slots, attention, draft
        return Hypothesis(*given, log_probs)

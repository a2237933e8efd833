"""The ways in which outputs end, where those of a model or a caller differ from the paper's.

In the paper (section 3.3) an output ends by one token, keeps its slot of the beam, and has to
end within the limit. Other searches differ in each of these: there may be several such tokens
or other reasons to stop, an output that has ended may leave its slot to an unfinished one, and
at the limit it may be cut off. `Ending` has these choices; the search does all the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexbeam.errors import ConstraintError, ScorerError
from lexbeam.search.allocation import Selection
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, pick
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.beam import Finished, History, Hypothesis
from lexbeam.search.candidates import Candidates
from lexbeam.search.request import Request, show_demand
from lexbeam.search.scorer import Scorer
from lexbeam.search.settings import Settings

Select = Callable[[FloatArray], Selection]


@dataclass(frozen=True)
class Ending:
    """How the outputs of a search end."""

    eos: int
    tokens: BoolArray | None
    """All tokens that end an output, where there are more than ``eos``. # shape: (vocabulary,)"""
    stops: Callable[[Any, IntArray, IntArray], BoolArray] | None
    """The scorer's own say in it, see `lexbeam.search.scorer.Scorer`."""
    aside: bool
    cut: bool

    @classmethod
    def of(cls, scorer: Scorer, aside: bool, cut: bool) -> Ending:
        """Return what the caller chose and the scorer asks for."""
        ends = [int(token) for token in getattr(scorer, "ends", ())]
        tokens = None
        if len({*ends, scorer.eos}) > 1:
            tokens = np.zeros(scorer.vocabulary_size, np.bool_)
            tokens[[*ends, scorer.eos]] = True
        return cls(scorer.eos, tokens, getattr(scorer, "stops", None), aside, cut)

    @property
    def as_in_paper(self) -> bool:
        """Whether nothing here needs to be looked at."""
        return not (self.aside or self.cut or self.tokens is not None or self.stops)

    @property
    def count(self) -> int:
        """The number of tokens that end an output."""
        return 1 if self.tokens is None else int(np.count_nonzero(self.tokens))

    @property
    def pool(self) -> int:
        """How many candidates to look at for each slot, so that enough remain that don't end."""
        return 1 + self.count if self.aside else 1

    def top(self, beam: int) -> int:
        """Return how many tokens of a row, besides the end of sentence, may be needed."""
        return beam * self.pool if self.stops else beam + self.count - 1

    def by_token(self, tokens: IntArray) -> BoolArray:
        """Say which of the tokens end an output."""
        ended: BoolArray = tokens == self.eos if self.tokens is None else self.tokens[tokens]
        return ended

    def of_candidates(self, candidates: Candidates, state: Any, last: BoolArray) -> BoolArray:
        """Say which candidates end. # shape: (sentences, candidates).

        ``last`` says which sentences are at their limit, # shape: (sentences,); ``state`` is
        what the scorer returned for this step.
        """
        ended = self.by_token(candidates.token)
        if self.stops is not None:
            rows = candidates.row[candidates.slot]
            stopped = np.asarray(self.stops(state, rows, candidates.token), np.bool_)
            if stopped.shape != rows.shape:
                raise ScorerError(f"the scorer's stops has shape {stopped.shape}, not {rows.shape}")
            ended = ended | stopped
        return ended | last[:, None] if self.cut and last.any() else ended

    def close_early(
        self,
        candidates: Candidates,
        ended: BoolArray,
        before: tuple[BoolArray, FloatArray],
        after: tuple[BoolArray, FloatArray | None],
        goes_on: BoolArray,
    ) -> tuple[Candidates, BoolArray]:
        """Close the candidates that would end before everything is met; let the others pay.

        What ends by a token must have met everything ``before`` it, # shape: (sentences ·
        slots,); what is stopped or cut off, ``after`` it, # shape: (sentences · candidates,).
        Both say who may end and the price of what is given up; that of the end of sentence
        itself has been paid. Where a scorer would stop all there is of a sentence that
        ``goes_on``, it is not obeyed until something may end.
        """
        score, token, slot = candidates.score, candidates.token, candidates.slot
        by_token, shape = self.by_token(token), ended.shape
        early = ended & ~np.where(by_token, before[0][slot], after[0].reshape(shape))
        if after[1] is not None:
            price = np.where(by_token, before[1][slot], after[1].reshape(shape))
            score = score - np.where(ended & (token != self.eos), price, 0.0)
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
    places, taken = at_least_one(select(score))
    finishing = taken & pick(ended, places)
    if not (ended & (score > -np.inf)).any():
        return Selection(places, taken)
    live_places, live = at_least_one(select(np.where(ended, -np.inf, score)))
    width = int(finishing.sum(axis=1).max())
    first = (~finishing).argsort(axis=1, kind="stable")[:, :width]
    return Selection(
        np.concatenate((live_places, pick(places, first)), axis=1),
        np.concatenate((live, pick(finishing, first)), axis=1),
    )


def at_least_one(selection: Selection) -> Selection:
    """Return beams that have a slot, if an empty one."""
    sentences, width = selection.places.shape
    if width:
        return selection
    return Selection(np.zeros((sentences, 1), np.int64), np.zeros((sentences, 1), np.bool_))


@dataclass(frozen=True)
class Outcome:
    """Reads the outputs of sentences back through the history of a search."""

    requests: Sequence[Request]
    history: History
    ending: Ending
    automaton: Automaton | None
    settings: Settings

    def of(self, sentence: int, finished: Finished, place: int) -> list[Hypothesis]:
        """Return the outputs of a sentence, which stands at a place of the finished ones."""
        found = []
        for score, log_prob, step, slot in zip(*(a[place] for a in finished[:-1]), strict=True):
            if score > -np.inf:
                tokens, slots = self.history.way_to(sentence, int(step), int(slot))
                found.append(self._output(sentence, tokens, slots, float(score), float(log_prob)))
        if not found:
            phrases = ", ".join(map(show_demand, self.requests[sentence].phrases))
            raise ConstraintError(
                f"sentence {sentence}: no output with the phrases {phrases} was found that keeps "
                f"to max_length and to what is avoided; allow more tokens or avoid less"
            )
        return found

    def _output(
        self, sentence: int, tokens: list[int], slots: list[int], score: float, log_prob: float
    ) -> Hypothesis:
        """Return a finished output; what it gave up is no part of its score any more."""
        end = tokens.pop() if self.ending.by_token(np.array(tokens[-1])) else None
        # Only what has met everything that can't be given up is allowed to end.
        met = [True] * len(self.requests[sentence].phrases)
        if self.automaton is not None and self.automaton.demands[sentence].softs:
            met, paid = self.automaton.settle(sentence, tokens)
            log_prob += paid
            score = log_prob / len(slots) ** self.settings.length_penalty
        return Hypothesis(tokens, score, log_prob, met, end is not None, end, slots)

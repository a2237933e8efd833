"""The candidates of one step (paper, Algorithm 2, lines 2 to 10).

From everything the model proposes, a step looks at

1. the k best continuations of all hypotheses of a sentence,
2. of every hypothesis, the tokens that start or continue a constraint it has not met,
3. of every hypothesis, its single best continuation,

without duplicates. This is the definition; `search.collecting` calls the compiled kernel where it
covers a step. Where phrases count as whole words only, a phrase that has been seen is met by
whatever token ends its word; the best of these is a candidate as well. Without it, if the model
prefers to go on with the word, hypotheses that have seen the phrase are dropped at every step for
others that are about to see it. A finished hypothesis is its own and only continuation.

Slots are counted through the batch: slot s of sentence i is i · slots + s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import (
    PAD,
    BoolArray,
    FloatArray,
    IntArray,
    ScoreArray,
    flat_indices,
    pick,
    row_starts,
)
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.beam import Beam
from lexbeam.search.scorer import Scores
from lexbeam.search.selection import k_best

_NARROWER = 2
"""A table of candidates is made narrower if it becomes so many times as narrow."""


class Answered(NamedTuple):
    """The model's answer to one step, as far as it may be chosen."""

    beam: Beam
    live: IntArray  # shape: (rows,), the slot of each row
    scores: Scores
    first: IntArray  # shape: (sentences,), what the search offers: the end or a forced token
    may_end: BoolArray | None  # shape: (rows,), who may take it; None: all


class Proposals(NamedTuple):
    """What the model answered, laid out by slot.

    Each slot has 1 + top options. Option 0 is what the search itself offers: the end of sentence
    or a forced token, or, for a finished hypothesis, to stay as it is.
    """

    score: FloatArray  # shape: (sentences, slots · options), minus infinity: closed
    token: IntArray  # shape: (sentences, slots · options)
    row: IntArray  # shape: (sentences · slots,), the row of each slot
    slots: int
    options: int

    @classmethod
    def lay_out(
        cls,
        beam: Beam,
        live: IntArray,
        scores: Scores,
        first: IntArray,
        may_end: BoolArray | None,
    ) -> Proposals:
        """Add the model's log-probabilities to the hypotheses'.

        ``live`` has the slot of each row, ``first`` each sentence's option 0; ``may_end`` marks
        the rows that may take it, None: all of them.
        """
        sentences, slots = beam.token.shape
        options = 1 + scores.top_ids.shape[1]
        top_scores, top_ids, end_scores = scores.top_scores, scores.top_ids, scores.ask_scores[:, 0]
        if may_end is not None:
            end_scores = np.where(may_end, end_scores, -np.inf)
        row, so_far = live, beam.log_prob.ravel()
        everywhere = len(live) == len(so_far)
        if not everywhere:
            row = np.zeros(len(so_far), np.int64)
            row[live] = row_starts(len(live), 1).ravel()
            so_far = np.where(beam.live, beam.log_prob, -np.inf).ravel()
            top_scores, top_ids = top_scores.take(row, axis=0), top_ids.take(row, axis=0)
            end_scores = end_scores.take(row)
        score = np.empty((len(so_far), options))
        token = np.empty((len(so_far), options), np.int64)
        np.add(so_far, end_scores, out=score[:, 0])
        if not everywhere:
            np.copyto(score[:, 0], beam.score.ravel(), where=beam.finished.ravel())
        np.add(so_far[:, None], top_scores, out=score[:, 1:])
        token[:, 1:] = top_ids
        shape = (sentences, slots * options)
        token = token.reshape(shape)
        token[:, ::options] = first[:, None]
        return cls(score.reshape(shape), token, row, slots, options)

    def best_of_each(self) -> IntArray:
        """Return the index of each slot's best option. # shape: (sentences, slots)."""
        return self._best_by(self.score)

    def best_ends_of_words(self, boundary: BoolArray, waiting: BoolArray) -> IntArray:
        """Return the index of the best option of each slot that ends a word.

        ``boundary`` marks the tokens that do, # shape: (vocabulary,), ``waiting`` the slots for
        which that matters, # shape: (sentences · slots,); the others give their best option.
        # shape: (sentences, slots)
        """
        going_on = waiting.repeat(self.options).reshape(self.score.shape) & ~boundary[self.token]
        return self._best_by(np.where(going_on, -np.inf, self.score))

    def _best_by(self, score: FloatArray) -> IntArray:
        best: IntArray = score.reshape(-1, self.options).argmax(axis=1)
        return best.reshape(-1, self.slots) + row_starts(self.slots, self.options).T

    def slot(self, indices: IntArray) -> IntArray:
        """Return the slots that options belong to. # shape: as indices."""
        return flat_indices(indices // self.options, len(indices), self.slots)


class AskedTokens(NamedTuple):
    """Tokens that would start or continue an unmet constraint.

    # shape of all but the slots: (sentences · slots, asked), for a single sentence only those that
    are live; the score is minus infinity where no token is asked.
    """

    tokens: IntArray
    targets: IntArray
    score: FloatArray
    slot: IntArray

    @classmethod
    def lay_out(
        cls, beam: Beam, live: IntArray, tokens: IntArray, targets: IntArray, scores: Scores
    ) -> AskedTokens:
        """Lay what was asked of live hypotheses out by slot; the other slots ask nothing."""
        so_far = beam.log_prob.ravel()[live][:, None]
        score = np.where(tokens == PAD, -np.inf, so_far + scores.ask_scores[:, 1:])
        if len(beam.token) == 1 or len(live) == beam.token.size:
            return cls(tokens, targets, score, live)
        shape = (beam.token.size, tokens.shape[1])
        slot = np.arange(beam.token.size)
        by_slot = cls(np.full(shape, PAD), np.zeros(shape, np.int64), np.full(shape, -np.inf), slot)
        for whole, part in zip(by_slot, (tokens, targets, score), strict=False):
            whole[live] = part
        return by_slot


class Candidates(NamedTuple):
    """The candidates of every sentence, and the state that each would lead to."""

    score: FloatArray  # shape: (sentences, candidates), minus infinity: none
    slot: IntArray  # shape: (sentences, candidates), the slot that is continued
    token: IntArray  # shape: (sentences, candidates)
    row: IntArray  # shape: (sentences · slots,), the model's row of each slot
    states: States | None  # in one dimension: (sentences · candidates,)

    def take(self, indices: IntArray) -> Candidates:
        """Return some candidates of each sentence."""
        flat = flat_indices(indices, *self.score.shape)
        return Candidates(
            self.score.ravel()[flat],
            self.slot.ravel()[flat],
            self.token.ravel()[flat],
            self.row,
            self.states and self.states.take(flat.ravel()),
        )


class Chosen(NamedTuple):
    """The candidates that fill the beams; some slots may stay empty."""

    candidates: Candidates
    taken: BoolArray  # shape: (sentences, beam)
    ended: BoolArray  # shape: (sentences, beam)
    among: Candidates
    """All candidates of the step; those of plain search are only the best."""
    indices: IntArray | None
    """Which of them were chosen; None: all. # shape: (sentences, beam)."""
    worth: FloatArray | None = None
    """What all candidates were compared by; None: their score. # shape: (sentences, candidates)."""
    attention: ScoreArray | None = None
    """Where the model looked for each chosen one, if it was asked for. # shape: (sentences, beam,
    source tokens)"""
    penalty: FloatArray | None = None
    """What ties cost each chosen one, if there are any, less what is given back.
    # shape: (sentences, beam)"""
    paid: FloatArray | None = None
    """What they have cost it so far that may still be given back. # shape: (sentences, beam)"""

    def with_costs(self, penalty: FloatArray, paid: FloatArray) -> Chosen:
        """Add what ties cost all candidates. # shape of both: (sentences, candidates)."""
        if self.indices is None:
            return self
        return self._replace(penalty=pick(penalty, self.indices), paid=pick(paid, self.indices))

    def with_attention(self, attention: ScoreArray | None) -> Chosen:
        """Add where the model attended when it scored the chosen, if it says so.

        # shape: (rows, source tokens)
        """
        if attention is None:
            return self
        return self._replace(attention=attention[self.candidates.row[self.candidates.slot]])


class ObservedStep(NamedTuple):
    """What an observer is shown of a step: the beam after pruning, and what it was chosen from."""

    step: int
    sentences: IntArray  # shape: (sentences,), those still searched
    beam: Beam
    chosen: Chosen
    automaton: Automaton | None = None
    """What the states of hypotheses mean; None: no sentence of the batch has constraints."""


def best_by_arrays(answered: Answered, k: int) -> Candidates:
    """Return the k best continuations of each sentence: plain search looks no further."""
    proposals = Proposals.lay_out(*answered)
    indices = k_best(proposals.score, k)
    score, token = pick(proposals.score, indices), pick(proposals.token, indices)
    return Candidates(score, proposals.slot(indices), token, proposals.row, None)


def collect_by_arrays(
    answered: Answered,
    beam: int,
    beam_sizes: IntArray | None,
    automaton: Automaton,
    states: States,
    asked: tuple[IntArray, IntArray],
    word_ends: bool = True,
) -> Candidates:
    """Return all candidates of each sentence (paper, Algorithm 2, lines 2 to 10).

    ``beam`` is the largest beam of the batch; ``beam_sizes``, # shape: (sentences,), is given
    where they differ. ``asked`` are the tokens that start or continue an unmet constraint and the
    nodes that they lead to. # shape of both: (rows, asked). ``word_ends`` adds the best end of a
    word to (3).
    """
    proposals = Proposals.lay_out(*answered)
    by_slot = AskedTokens.lay_out(answered.beam, answered.live, *asked, answered.scores)
    given = automaton, states, by_slot, word_ends
    return _collect(proposals, beam, beam_sizes, *given)


def _collect(
    proposals: Proposals,
    beam: int,
    beam_sizes: IntArray | None,
    automaton: Automaton,
    states: States,
    asked: AskedTokens,
    word_ends: bool,
) -> Candidates:
    """Collect what has been laid out by slot."""
    best = k_best(proposals.score, beam)  # (1)
    more = _best_of_each(proposals, automaton, states, word_ends)  # (3)
    indices = np.concatenate((best, *more), axis=1)
    score = pick(proposals.score, indices)
    k = best.shape[1]
    if beam_sizes is not None:
        score[:, :k][np.arange(k) >= beam_sizes[:, None]] = -np.inf
    score[:, k:][_already_in(indices, score, k, proposals.score.shape[1])] = -np.inf
    if len(more) > 1:
        score[:, -proposals.slots :][more[1] == more[0]] = -np.inf
    slot, token = proposals.slot(indices), pick(proposals.token, indices)
    nodes = automaton.follow(states.node[slot], token)
    each = asked.tokens.shape[1]
    if each:  # (2)
        score[automaton.serves(nodes, states, slot) & (indices % proposals.options > 0)] = -np.inf
        shape = (len(score), -1)
        asked_slot = asked.slot.repeat(each).reshape(shape)
        score = np.concatenate((score, asked.score.reshape(shape)), axis=1)
        slot = np.concatenate((slot, asked_slot), axis=1)
        token = np.concatenate((token, asked.tokens.reshape(shape)), axis=1)
        nodes = np.concatenate((nodes, asked.targets.reshape(shape)), axis=1)
        score, slot, token, nodes = _leave_out_closed(score, slot, token, nodes)
    reached = automaton.branch(states, slot.ravel(), token.ravel(), nodes.ravel())
    return Candidates(score, slot, token, proposals.row, reached)


def _leave_out_closed(
    score: FloatArray, slot: IntArray, token: IntArray, nodes: IntArray
) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
    """Leave out candidates that are none, if that makes their table much narrower.

    With many constraints, hypotheses ask for very different numbers of tokens.
    # shape of all: (sentences, candidates)
    """
    closed = score == -np.inf
    most = int((~closed).sum(axis=1).max())
    if not 0 < most <= score.shape[1] // _NARROWER:
        return score, slot, token, nodes
    first = closed.argsort(axis=1, kind="stable")[:, :most]
    return pick(score, first), pick(slot, first), pick(token, first), pick(nodes, first)


def _best_of_each(
    proposals: Proposals, automaton: Automaton, states: States, word_ends: bool
) -> tuple[IntArray, ...]:
    """Return each hypothesis's best continuation, and, if it matters, its best end of a word.

    # shape of each: (sentences, slots)
    """
    best = proposals.best_of_each()
    words = automaton.whole_words
    if words is None or not word_ends or states.seen is states.met:
        return (best,)
    waiting = states.seen_tokens > states.met_tokens
    if not waiting.any():
        return (best,)
    return best, proposals.best_ends_of_words(words.boundary, waiting)


def _already_in(indices: IntArray, score: FloatArray, k: int, width: int) -> BoolArray:
    """Return a mask of the indices from k on that are among the first k of their sentence."""
    chosen = np.zeros(len(indices) * width, np.bool_)
    flat = flat_indices(indices, len(indices), width)
    chosen[flat[:, :k][score[:, :k] > -np.inf]] = True
    again: BoolArray = chosen[flat[:, k:]]
    return again

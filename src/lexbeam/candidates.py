"""The candidates of one step (paper, Algorithm 2, lines 2 to 10).

From everything the model proposes, a step looks at

1. the k best continuations of all hypotheses of a sentence,
2. of every hypothesis, the tokens that start or continue a constraint it has not met,
3. of every hypothesis, its single best continuation,

without duplicates. A finished hypothesis is its own and only continuation. The candidates of
a sentence stand in one row, those of 1 and 3 (*proposed*) before those of 2 (*asked*).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lexbeam.allocation import k_best
from lexbeam.automaton import Automaton, States
from lexbeam.beam import Beam, BoolArray, FloatArray
from lexbeam.scorer import IntArray, Scores

Array = TypeVar("Array", IntArray, FloatArray)


@dataclass(frozen=True)
class Proposals:
    """What the model answered, laid out by slot.

    Each slot has 1 + top options: option 0 is what the search itself put forward, the end of
    sentence or a forced token, or, of a finished hypothesis, to stay as it is.
    """

    score: FloatArray  # shape: (sentences, slots · (1 + top)), minus infinity: not open
    ids: IntArray  # shape: (rows, top)
    first: IntArray  # shape: (sentences,), the token of option 0
    live: IntArray  # shape: (rows,), the slot of each row, counted through the batch
    row: IntArray  # shape: (sentences · slots,), the row of each slot
    slots: int

    @classmethod
    def lay_out(
        cls,
        beam: Beam,
        live: IntArray,
        scores: Scores,
        first: IntArray,
        open_first: BoolArray | None,
    ) -> Proposals:
        """Add the model's log-probabilities to the hypotheses'.

        ``open_first`` says which rows may take option 0; None: all.
        """
        sentences, slots = beam.token.shape
        top = scores.top_ids.shape[1]
        so_far = beam.log_prob.ravel()[live]
        first_score = so_far + scores.ask_scores[:, 0]
        if open_first is not None:
            first_score = np.where(open_first, first_score, -np.inf)
        if len(live) == sentences * slots:
            score = np.empty((len(live), 1 + top))
            score[:, 0] = first_score
            np.add(so_far[:, None], scores.top_scores, out=score[:, 1:])
            row = np.arange(len(live))
        else:
            score = np.full((sentences * slots, 1 + top), -np.inf)
            score[:, 0] = np.where(beam.finished, beam.score, -np.inf).ravel()
            score[live, 0] = first_score
            score[live, 1:] = so_far[:, None] + scores.top_scores
            row = np.zeros(sentences * slots, np.int64)
            row[live] = np.arange(len(live))
        return cls(score.reshape(sentences, -1), scores.top_ids, first, live, row, slots)

    @property
    def options(self) -> int:
        """Options of one slot."""
        return 1 + int(self.ids.shape[1])

    def best_of_all(self, k: int) -> IntArray:
        """Return the places of the k best of each sentence. # shape: (sentences, k)."""
        return k_best(self.score, k)

    def best_of_each(self) -> IntArray:
        """Return the place of each slot's best option. # shape: (sentences, slots)."""
        score = self.score.reshape(len(self.score), self.slots, self.options)
        best: IntArray = score.argmax(axis=2)
        return best + np.arange(0, self.slots * self.options, self.options)

    def read(self, places: IntArray) -> tuple[IntArray, IntArray]:
        """Return slot, counted through the batch, and token of places. # shape: as places."""
        slot, option = np.divmod(places, self.options)
        slot += np.arange(0, len(places) * self.slots, self.slots)[:, None]
        if self.options == 1:
            return slot, np.broadcast_to(self.first[:, None], places.shape)
        token = self.ids.ravel()[self.row[slot] * self.ids.shape[1] + option - 1]
        return slot, np.where(option == 0, self.first[:, None], token)


@dataclass(frozen=True)
class Asked:
    """Tokens that would start or continue an unmet constraint. # shape of all: (rows, asked)."""

    tokens: IntArray
    targets: IntArray
    score: FloatArray


@dataclass(frozen=True)
class Candidates:
    """The candidates of every sentence, with the state each would lead to.

    Score has # shape: (sentences, candidates). The rest is kept flat, all proposed candidates
    of the batch and then all asked ones; `flat` finds the way from one to the other.
    """

    score: FloatArray
    slot: IntArray
    token: IntArray
    states: States | None
    proposed: int
    """Number of proposed candidates of a sentence."""
    asked: int
    """Number of asked candidates of a slot."""
    proposals: Proposals

    def flat(self, places: IntArray) -> IntArray:
        """Return where the candidates at some places stand in the flat arrays."""
        sentences = np.arange(len(places))[:, None]
        proposed = sentences * self.proposed + places
        if not self.asked:
            return proposed
        slot, number = np.divmod(places - self.proposed, self.asked)
        row = self.proposals.row[np.maximum(slot, 0) + sentences * self.proposals.slots]
        asked = len(places) * self.proposed + row * self.asked + number
        return np.where(places < self.proposed, proposed, asked)

    def lay_out(self, flat: IntArray) -> IntArray:
        """Return a flat array in the shape of the score; 0 where there is no candidate."""
        sentences = len(self.score)
        end = sentences * self.proposed
        proposed = flat[:end].reshape(sentences, self.proposed)
        if not self.asked:
            return proposed
        asked = _by_slot(flat[end:].reshape(-1, self.asked), self.proposals, 0)
        return np.concatenate((proposed, asked), axis=1)


def collect(
    proposals: Proposals,
    beam_sizes: IntArray,
    automaton: Automaton,
    states: States,
    asked: Asked,
) -> Candidates:
    """Gather the candidates of all sentences; ``beam_sizes`` has # shape: (sentences,)."""
    best = proposals.best_of_all(int(beam_sizes.max()))  # (1)
    of_each = proposals.best_of_each()  # (3)
    places = np.concatenate((best, of_each), axis=1)
    slot, token = proposals.read(places)
    score = np.take_along_axis(proposals.score, places, axis=1)
    k = best.shape[1]
    score[:, :k][np.arange(k) >= beam_sizes[:, None]] = -np.inf
    score[:, k:][_already_in(places, score, k, proposals.score.shape[1])] = -np.inf
    flat_slot, flat_token = slot.ravel(), token.ravel()
    reached = automaton.advance(states.take(flat_slot), flat_token)
    each = asked.tokens.shape[1]
    if each:  # (2)
        score[(asked.tokens[proposals.row[slot]] == token[..., None]).any(axis=2)] = -np.inf
        before = states.take(proposals.live).column()
        reached = reached.join(automaton.advance(before, asked.tokens, asked.targets).flat())
        score = np.concatenate((score, _by_slot(asked.score, proposals, -np.inf)), axis=1)
        flat_slot = np.concatenate((flat_slot, np.repeat(proposals.live, each)))
        flat_token = np.concatenate((flat_token, asked.tokens.ravel()))
    return Candidates(score, flat_slot, flat_token, reached, places.shape[1], each, proposals)


def _already_in(places: IntArray, score: FloatArray, k: int, width: int) -> BoolArray:
    """Say which of the places from k on are among the first k of their sentence."""
    offset = np.arange(0, len(places) * width, width)[:, None]
    chosen = np.zeros(len(places) * width, np.bool_)
    chosen[(places[:, :k] + offset)[score[:, :k] > -np.inf]] = True
    again: BoolArray = chosen[places[:, k:] + offset]
    return again


def _by_slot(rows: Array, proposals: Proposals, fill: float) -> Array:
    """Lay rows out by sentence; slots that have no row are filled.

    # shape: (rows, asked) to (sentences, slots · asked).
    """
    slots = len(proposals.row)
    if len(rows) < slots:
        spread = np.full((slots, rows.shape[1]), fill, dtype=rows.dtype)
        spread[proposals.live] = rows
        rows = spread
    return rows.reshape(slots // proposals.slots, -1)

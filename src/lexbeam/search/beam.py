"""The beams of a batch as arrays, and how the tokens of a finished hypothesis are found again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lexbeam.errors import ScorerError
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, ScoreArray, pick, row_starts
from lexbeam.search.automaton.states import States


@dataclass(frozen=True)
class Hypothesis:
    """One output."""

    tokens: list[int]
    """The output, without the end of sentence."""
    score: float
    """Log-probability normalised by length: log_prob / (tokens + 1) ** length_penalty.

    Of an output that was cut off there is no end to be counted.
    """
    log_prob: float
    """Log-probability of the output, end of sentence included if it was taken."""
    met: list[bool]
    """One entry per phrase, in the order they were given."""
    finished: bool
    """Whether the end of sentence was taken."""
    end: int | None = None
    """The token that was taken as the end."""
    slots: list[int] = field(default_factory=list)
    """For each token and the end: the slot of the beam that it continued."""
    attention: ScoreArray | None = field(default=None, compare=False, repr=False)
    """For each token and the end: how much the model attended to each source token; None if it
    was not asked, or can't say. # shape: (tokens + 1, source tokens)"""
    draft: Hypothesis | None = field(default=None, compare=False, repr=False)
    """What the model said when nothing was demanded, if constraints are tied (`search.draft`)."""
    log_probs: list[float] | None = field(default=None, compare=False, repr=False)
    """The log-probability of each token and the end, if constraints are tied."""
    steps: int = field(default=0, compare=False, repr=False)
    """How many steps its sentence was searched for: others may run on longer."""
    lost_steps: int = field(default=0, compare=False, repr=False)
    """Those of a first search, if that has lost the sentence."""
    prepared: int = field(default=0, compare=False, repr=False)
    """How many states were worked out for its sentence, to know what is met and needed there."""


class Beam(NamedTuple):
    """What stands on the beam of each sentence. # shape of all: (sentences, beam)."""

    token: IntArray
    """The last token taken."""
    parent: IntArray
    """The slot that it continues, on the beam before."""
    row: IntArray
    """The model's row of that slot."""
    log_prob: FloatArray
    score: FloatArray
    """What hypotheses are compared by: normalised by length once finished (paper, 3.3)."""
    finished: BoolArray
    live: BoolArray
    """On the beam and not finished. A slot that is neither is empty."""
    states: States | None
    """Where the hypotheses stand in their constraints, in one dimension: (sentences · beam,)."""
    paid: FloatArray | None = None
    """What ties have cost that may still be given back (`search.ties`); None: nothing."""

    @classmethod
    def start(cls, sentences: int, bos: int, states: States | None) -> Beam:
        """Return beams that hold one empty hypothesis each."""
        column = np.zeros((sentences, 1), np.int64)
        row = np.arange(sentences)[:, None]
        no, zero = column.astype(np.bool_), column.astype(np.float64)
        return cls(column + bos, column, row, zero, zero, no, ~no, states)

    def keep(self, sentences: IntArray) -> Beam:
        """Return the beams of some of the sentences."""
        width = self.token.shape[1]
        slots = (sentences[:, None] * width + np.arange(width)).ravel()
        token, parent, row, log_prob, score, finished, live, states, paid = self
        return Beam(
            token[sentences],
            parent[sentences],
            row[sentences],
            log_prob[sentences],
            score[sentences],
            finished[sentences],
            live[sentences],
            states and states.take(slots),
            None if paid is None else paid[sentences],
        )

    def narrow(self, width: int) -> Beam:
        """Return the first slots of each beam, at least one."""
        width = max(width, 1)
        slots = (row_starts(*self.token.shape) + np.arange(width)).ravel()
        token, parent, row, log_prob, score, finished, live, states, paid = self
        return Beam(
            token[:, :width],
            parent[:, :width],
            row[:, :width],
            log_prob[:, :width],
            score[:, :width],
            finished[:, :width],
            live[:, :width],
            states and states.take(slots),
            None if paid is None else paid[:, :width],
        )


@dataclass
class History:
    """The choices of every step, so that hypotheses need not carry their tokens along.

    Sentences leave the batch when they are done, so each step records which were there.
    """

    sentences: list[IntArray] = field(default_factory=list)
    tokens: list[IntArray] = field(default_factory=list)
    parents: list[IntArray] = field(default_factory=list)
    attention: list[ScoreArray] = field(default_factory=list)
    """Where it was asked for. # shape of each: (sentences, beam, source tokens)"""
    log_probs: list[FloatArray] = field(default_factory=list)
    """Of the hypotheses so far, less what ties cost. # shape of each: (sentences, beam)"""
    penalties: list[FloatArray | None] = field(default_factory=list)
    """What ties cost; None: nothing. # shape of each: (sentences, beam)"""

    def record(
        self,
        sentences: IntArray,
        beam: Beam,
        attention: ScoreArray | None = None,
        penalty: FloatArray | None = None,
    ) -> None:
        """Keep the choices of one step."""
        if attention is not None or self.attention:
            self._refuse_other_attention(attention)
        self.sentences.append(sentences)
        self.tokens.append(beam.token)
        self.parents.append(beam.parent)
        self.log_probs.append(beam.log_prob)
        if attention is not None:
            self.attention.append(attention)
        self.penalties.append(penalty)

    def _refuse_other_attention(self, attention: ScoreArray | None) -> None:
        """Raise if the attention of a step is missing, or to more or fewer source tokens."""
        if attention is None or len(self.attention) < len(self.tokens):
            raise ScorerError("the scorer gave its attention at some steps, but not at all")
        width = attention.shape[2]
        if self.attention and self.attention[-1].shape[2] != width:
            raise ScorerError(
                f"the scorer's attention is to {width} source tokens, but was to "
                f"{self.attention[-1].shape[2]} at the step before; it must stay as wide"
            )

    def backtrace(self, sentence: int, step: int, slot: int) -> tuple[list[int], list[int]]:
        """Return the tokens that led to a slot, and the slots that they continued."""
        tokens, slots, _ = self._go_back(sentence, step, slot)
        return tokens, slots

    def attention_to(self, sentence: int, step: int, slot: int) -> ScoreArray | None:
        """Return the attention of the tokens that led to a slot. # shape: (tokens, source)."""
        if not self.attention:
            return None
        *_, where = self._go_back(sentence, step, slot)
        return np.stack([self.attention[n][row, slot] for n, (row, slot) in enumerate(where)])

    def log_probs_of(self, sentence: int, step: int, slot: int) -> tuple[list[float] | None, float]:
        """Return the log-probabilities of the tokens that led to a slot, and what ties have cost.

        Where ties have cost nothing at all, the first is None.
        """
        if all(penalty is None for penalty in self.penalties):
            return None, 0.0
        *_, where = self._go_back(sentence, step, slot)
        paid = [
            0.0 if penalty is None else float(penalty[at])
            for penalty, at in zip(self.penalties, where, strict=False)
        ]
        so_far = [float(self.log_probs[number][at]) for number, at in enumerate(where)]
        steps = zip(so_far, [0.0, *so_far], paid, strict=False)
        return [after - before + cost for after, before, cost in steps], sum(paid)

    def _go_back(
        self, sentence: int, step: int, slot: int
    ) -> tuple[list[int], list[int], list[tuple[int, int]]]:
        """Return the tokens that led to a slot, the slots they continued, and where they stood.

        The last has the sentence's row and the slot at each step.
        """
        tokens: list[int] = []
        slots: list[int] = []
        where: list[tuple[int, int]] = []
        there: IntArray | None = None
        row = 0
        for number in range(step, -1, -1):
            if self.sentences[number] is not there:
                there = self.sentences[number]
                row = int(np.searchsorted(there, sentence))
            tokens.append(self.tokens[number].item(row, slot))
            where.append((row, slot))
            slot = self.parents[number].item(row, slot)
            slots.append(slot)
        return tokens[::-1], slots[::-1], where[::-1]


class Finished(NamedTuple):
    """The best finished hypotheses of each sentence so far. # shape of all: (sentences, nbest).

    They are kept apart from the beam, which may lose a finished hypothesis to better
    unfinished ones that then end worse.
    """

    score: FloatArray
    log_prob: FloatArray
    step: IntArray
    slot: IntArray
    any: bool = False

    @classmethod
    def none(cls, sentences: int, nbest: int) -> Finished:
        """Return the state before anything has finished."""
        worst = np.full((sentences, nbest), -np.inf)
        nowhere = np.zeros((sentences, nbest), np.int64)
        return cls(worst, worst, nowhere, nowhere)

    def add(self, beam: Beam, newly: BoolArray, step: int) -> Finished:
        """Return the best of these and of the hypotheses that have just finished."""
        nbest = self.score.shape[1]
        score = np.concatenate((self.score, np.where(newly, beam.score, -np.inf)), axis=1)
        log_prob = np.concatenate((self.log_prob, beam.log_prob), axis=1)
        slot = np.concatenate((self.slot, np.indices(newly.shape)[1]), axis=1)
        when = np.concatenate((self.step, np.full(newly.shape, step)), axis=1)
        best = (-score).argsort(axis=1, kind="stable")[:, :nbest]
        return Finished(
            pick(score, best),
            pick(log_prob, best),
            pick(when, best),
            pick(slot, best),
            True,
        )

    def keep(self, sentences: IntArray) -> Finished:
        """Return those of some of the sentences."""
        score, log_prob, step, slot, some = self
        return Finished(
            score[sentences], log_prob[sentences], step[sentences], slot[sentences], some
        )

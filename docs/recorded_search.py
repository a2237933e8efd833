"""Searches that the tracing recorder has recorded, in a form that is easy to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import lexbeam
from lexbeam.search.arrays import FloatArray
from lexbeam.search.automaton.parts import Part
from lexbeam.search.draft import Draft, write_draft
from lexbeam.search.future_cost import prices_by_place
from lexbeam.translation.tracing.collect import Candidate, SearchTrace, Step


@dataclass(frozen=True)
class RecordedSearch:
    """A recorded search, and the text of its tokens."""

    source: str
    output: str
    search: SearchTrace
    written: dict[int, str]

    @classmethod
    def record(
        cls, text: str, constraints: Sequence[Any], algorithm: str, beam_size: int
    ) -> RecordedSearch:
        """Translate with the model that comes along, without the lag that the paper lacks."""
        translator = lexbeam.load("en-de")
        trace = translator.trace(
            text, constraints, algorithm=algorithm, beam_size=beam_size, lag=0.0, split=False
        )
        (sentence,) = trace.sentences
        tokens = sorted({c.token for step in sentence.search.steps for c in step.candidates})
        pieces = dict(zip(tokens, map(_shown, trace.pieces(tokens)), strict=True))
        return cls(text, sentence.output, sentence.search, pieces)

    @property
    def size(self) -> int:
        """The number of constraint tokens, C."""
        return sum(self.search.sizes)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps up to the one at which the output ended."""
        return self.search.steps[: self.search.ended + 1]

    def standing(self, step: int) -> dict[int, Candidate]:
        """Return the hypothesis in each slot after a step."""
        beam = self.search.steps[step].beam
        candidates = self.search.steps[step].candidates
        return {slot: candidates[s.candidate] for slot, s in enumerate(beam) if s is not None}

    def way_to(self, step: int, candidate: Candidate) -> list[Candidate]:
        """Return the candidates by which one was reached, itself last."""
        way = [candidate]
        for before in range(step - 1, -1, -1):
            way.append(self.standing(before)[way[-1].parent])
        return way[::-1]

    def text(self, step: int, slot: int) -> str:
        """Return the hypothesis in a slot after a step; before the first, nothing."""
        if step < 0:
            return "(start)"
        return " ".join(self.written[c.token] for c in self.way_to(step, self.standing(step)[slot]))

    def unwound(self) -> tuple[int, Candidate] | None:
        """Find a candidate that breaks a phrase off: early, and with something met if any has."""
        found = [
            (candidate.bank, -number, candidate)
            for number, step in enumerate(self.steps)
            if number
            for candidate in step.candidates
            if candidate.bank < self.standing(number - 1)[candidate.parent].bank
        ]
        best = max(found, key=lambda one: one[:2], default=None)
        return best and (-best[1], best[2])

    def telling_step(self) -> int:
        """Find the first step that moves slots, and has something to choose in most banks."""
        for number, step in enumerate(self.steps):
            used = sum(bank.candidates > 0 for bank in step.banks)
            if number and step.moves and used >= 3:
                return number
        return min(1, len(self.steps) - 1)


@dataclass(frozen=True)
class RecordedDraft:
    """The draft of a search, and what demanded words would cost at its places."""

    tokens: list[str]
    """What the draft says; at each place the words would come before it."""
    words: list[str]
    log_prob: FloatArray  # shape: (places, words)
    prices: FloatArray
    """What each word is expected to cost before an output takes a token. # shape: as log_prob"""

    @classmethod
    def record(cls, text: str, constraints: Sequence[Any]) -> RecordedDraft:
        """Translate with the model that comes along, and keep the draft."""
        translator = lexbeam.load("en-de")
        kept: list[tuple[Draft, list[list[Part]]]] = []

        def write(*given: Any) -> Draft:
            kept.append((write_draft(*given), given[3]))
            return kept[-1][0]

        with patch("lexbeam.search.drafting.write_draft", write):
            translator.translate(text, constraints, split=False)
        ((draft, (parts,)),) = kept
        length = int(draft.lengths[0]) + 1
        follows = np.array([[part.follows] for part in parts])
        prices = prices_by_place(draft, follows)[:length, :, 0]
        log_prob = np.maximum(draft.log_prob[:length, :, 0], prices.min() - 2)
        free = translator.trace(text, [], algorithm="beam", beam_size=1, lag=0.0, split=False)
        (sentence,) = free.sentences
        steps = sentence.search.steps[:length]
        tokens = [step.candidates[_taken(step)].token for step in steps]
        words = [each if isinstance(each, str) else each["text"] for each in constraints]
        return cls(list(map(_shown, free.pieces(tokens))), words, log_prob, prices)


def _taken(step: Step) -> int:
    """Return the candidate in the only slot."""
    (slot,) = step.beam
    assert slot is not None
    return slot.candidate


def _shown(piece: str) -> str:
    """Write a piece so that one can see whether it begins a word."""
    if piece == "</s>":
        return "end"
    word = piece.removeprefix("▁")
    return f"-{word}" if word == piece and word.isalpha() else word or "␣"

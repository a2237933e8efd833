"""Searches that the tracing recorder has recorded, in a form that is easy to draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import lexbeam
from lexbeam.search.automaton.patterns import Pattern, TokenConstraint
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

    def asked(self) -> Iterator[tuple[int, float]]:
        """Yield what the model answered, step by step, for tokens that begin a constraint."""
        beginnings = {token for demand in self.search.job.phrases for token in _first(demand)}
        for number, step in enumerate(self.steps):
            before = self.search.steps[number - 1].beam if number else ()
            for candidate in step.candidates:
                if candidate.token in beginnings and "constraint" in candidate.origins:
                    standing = before[candidate.parent] if before else None
                    yield number, candidate.score - (standing.score if standing else 0.0)

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


def _first(demand: TokenConstraint) -> set[int]:
    if isinstance(demand, Pattern):
        return {form.tokens[0] for part in demand.parts for form in part}
    return {demand[0]}


def _shown(piece: str) -> str:
    """Write a piece so that one can see whether it begins a word."""
    if piece == "</s>":
        return "end"
    word = piece.removeprefix("▁")
    return f"-{word}" if word == piece and word.isalpha() else word or "␣"

"""From a search that is over to its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexbeam.automaton import Automaton
from lexbeam.beam import Finished, History, Hypothesis
from lexbeam.ending import Ending
from lexbeam.errors import ConstraintError
from lexbeam.request import Request, show_demand
from lexbeam.settings import Settings


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

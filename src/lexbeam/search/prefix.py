"""The prefix that an output must begin with: forced tokens, one per step.

The paper calls it the special case of a constraint that begins with the start of the sentence. It
is forced here instead: forced tokens are no constraint tokens, so the beam is divided as if they
were not there, and a sentence with a prefix and no constraints needs no automaton. A prefix that
can be spelled in several ways is a constraint indeed (`automaton.patterns.Pattern.strict`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray, pack_rows
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.request import Request

_NEVER = 1 << 40


class ForcedPrefix:
    """What the prefixes of a batch force at one step. For most steps that is nothing."""

    first: IntArray
    """The token that each sentence is always offered: the next of its prefix, then the end."""
    forced: BoolArray | None
    """A mask of the sentences that are in their prefix; None: none is."""
    word_ends: BoolArray | None
    """A mask of the sentences that must now end the last word of their prefix; None: none must."""

    def __init__(
        self, requests: Sequence[Request], eos: int, words: WordBoundaries | None = None
    ) -> None:
        self._words = words
        self._ends = np.full(len(requests), eos)
        prefixes = [request.prefix for request in requests]
        self._tokens = pack_rows(prefixes, fill=PAD)  # shape: (sentences, longest prefix)
        # The step at which the word that a prefix ends with must have ended.
        ends = [
            len(request.prefix)
            if words and request.prefix and request.whole_prefix and words.waits(request.prefix)
            else _NEVER
            for request in requests
        ]
        self._word_end_steps = np.array(ends, np.int64)  # shape: (sentences,)
        self.set_step(0)

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._ends = self._ends[sentences]
        self._tokens = self._tokens[sentences]
        self._word_end_steps = self._word_end_steps[sentences]

    def set_step(self, step: int) -> None:
        """Turn to another step."""
        self.first, self.forced, self.word_ends = self._ends, None, None
        if step < self._tokens.shape[1]:
            self.forced = self._tokens[:, step] != PAD
            self.first = np.where(self.forced, self._tokens[:, step], self._ends)
        if step <= self._tokens.shape[1] and step in self._word_end_steps:
            self.word_ends = self._word_end_steps == step

    def end_words(
        self, sentence: IntArray, ask: IntArray, ban: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Ban the tokens that would go on with the last word of a prefix that is whole.

        Returns what is still to be asked for, and what is banned. # shape: (rows, …)
        """
        if self.word_ends is None or self._words is None:
            return ask, ban
        ends = self.word_ends[sentence, None]
        unfinished = self._words.unfinished
        going_on = unfinished.nonzero()[0]
        ask = np.where(ends & unfinished[ask], PAD, ask)
        return ask, np.concatenate((ban, np.where(ends, going_on, PAD)), axis=1)

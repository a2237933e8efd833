"""The two ends of an output: the prefix it must begin with and the limit it must end by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray, pack_rows
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import NEVER, Room
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.whole_words import Words
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scores


class Horizon:
    """What the sentences of a batch have to mind at one step, on account of their ends.

    For most steps that is nothing, and then it costs nothing.
    """

    first: IntArray
    """What each sentence itself puts forward: its prefix, then always the end."""
    forced: BoolArray | None
    """Which sentences are in their prefix; None: none."""
    closed: BoolArray | None
    """Which sentences take nothing but `first`: in the prefix, or at the limit; None: none."""
    word_ends: BoolArray | None
    """Which sentences must now end the word that their prefix ends with; None: none."""
    tight: bool
    """Whether a sentence might run out of room for its constraints."""

    def __init__(
        self,
        requests: Sequence[Request],
        limits: IntArray,
        eos: int,
        room: Room | None,
        words: Words | None = None,
    ) -> None:
        self.limits = limits  # shape: (sentences,)
        self._words = words
        self._eos = eos
        self._room = room
        self._sentences = np.arange(len(limits))
        prefixes = [request.prefix for request in requests]
        self._prefix = pack_rows(prefixes, fill=PAD)  # shape: (sentences, longest prefix)
        # The step at which the word that a prefix ends with must have ended.
        ends = [
            len(request.prefix)
            if words and request.prefix and request.whole_prefix and words.waits(request.prefix)
            else NEVER
            for request in requests
        ]
        self._word_end_steps = np.array(ends, np.int64)  # shape: (sentences,)
        self._measure()
        self.look(0)

    @property
    def alphabet(self) -> int:
        """The number of tokens that may be in the way of a sentence, at most."""
        return 0 if self._room is None else self._room.alphabet

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._sentences = self._sentences[sentences]
        self._prefix = self._prefix[sentences]
        self._word_end_steps = self._word_end_steps[sentences]
        self.limits = self.limits[sentences]
        self._measure()

    def _measure(self) -> None:
        self._first_limit = int(self.limits.min(initial=NEVER))
        self._tight_from = NEVER
        if self._room is not None:
            from_here = self.limits - self._room.worst[self._sentences]
            self._tight_from = int(from_here.min(initial=NEVER))
        self._ends = np.full(len(self.limits), self._eos)

    def look(self, step: int) -> None:
        """Turn to another step."""
        self._step = step
        self.first, self.forced, self.closed = self._ends, None, None
        self.tight = step >= self._tight_from
        if step < self._prefix.shape[1]:
            self.forced = self._prefix[:, step] != PAD
            self.first = np.where(self.forced, self._prefix[:, step], self._ends)
            self.closed = self.forced
        self.word_ends = None
        if step <= self._prefix.shape[1] and step in self._word_end_steps:
            self.word_ends = self._word_end_steps == step
        if step >= self._first_limit:
            at_limit = step >= self.limits
            self.closed = at_limit if self.closed is None else self.closed | at_limit

    def end_words(
        self, sentence: IntArray, ask: IntArray, ban: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Ban the tokens that would go on with the last word of a prefix that is whole.

        Returns what is still to be asked for, and what is banned. # shape: (rows, …)
        """
        if self.word_ends is None or self._words is None:
            return ask, ban
        ends = self.word_ends[sentence, None]
        going_on = (~self._words.boundary).nonzero()[0]
        ask = np.where(ends & ~self._words.boundary[ask], PAD, ask)
        return ask, np.concatenate((ban, np.where(ends, going_on, PAD)), axis=1)

    def late(self, after: States, sentence: IntArray) -> BoolArray:
        """Say which states can't place the rest of their constraints within the limit any more.

        ``sentence``, counted among those that are left, is broadcast against the states.
        """
        assert self._room is not None
        need = self._room.needs(after, self._sentences[sentence])
        late: BoolArray = need > (self.limits - self._step - 1)[sentence]
        return late if self.forced is None else late & ~self.forced[sentence]

    def close_late(
        self,
        automaton: Automaton,
        here: States,
        sentence: IntArray,
        tokens: IntArray,
        scores: Scores,
        most: int,
    ) -> tuple[IntArray, Scores]:
        """Close the tokens that leave no room for the constraints still unmet after them.

        That makes the rest place what is left: when the room is just enough, only tokens that
        go on with a constraint remain. ``most`` is how many of a row's best are used: more were
        proposed than usual, and what is used must not depend on other sentences.
        """

        def late(ids: IntArray) -> BoolArray:
            return self.late(automaton.advance(here.column(), ids), sentence[:, None])

        in_time = ~late(scores.top_ids)
        in_time &= in_time.cumsum(axis=1) <= most
        top_scores = np.where(in_time, scores.top_scores, -np.inf)
        return np.where(late(tokens), PAD, tokens), scores._replace(top_scores=top_scores)

"""Outputs that could end, and run on.

The end is a candidate like any other. Where the model finds it improbable, as behind words that
were demanded as the last ones, it may lose to other candidates again and again: each of them is
expected to find a better place for the end, and none does. So an output that may end has to, once
no constraint has got on for as long as a whole output is likely to be. And one that may not end,
since it has yet to say something that the model finds improbable everywhere, is left hardly more
room than it needs for that: it would fill all of its room with words that translate nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.search.arrays import BoolArray, FloatArray, IntArray
from lexbeam.search.beam import Beam
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scores
from lexbeam.search.stopping import likely_longest

EVERY = 8
"""Steps after which progress is looked at: it is no matter of a few."""

_FIRST = 1e6
"""What an end that is overdue is worth more than anything else."""


class Overdue:
    """For each sentence of a batch, how long none of its constraints has got on."""

    def __init__(self, expected: FloatArray, requests: Sequence[Request]) -> None:
        # A sentence without constraints ends next to others as it does alone.
        asks = np.array([bool(request.phrases) for request in requests])
        self._patience = np.where(asks, likely_longest(expected, 0), np.inf)  # shape: (sentences,)
        self._most = np.zeros(len(expected), np.int64)
        self._since = np.array([len(request.prefix) for request in requests])
        self.late: BoolArray | None = None
        """A mask of the sentences whose outputs have to end; None: there are none."""
        self.newly_late: BoolArray | None = None
        """Those of them of which it was not so the last time."""

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._patience, self._most = self._patience[sentences], self._most[sentences]
        self._since = self._since[sentences]
        self.late = None if self.late is None else self.late[sentences]
        self.newly_late = None

    def look(self, step: int, beam: Beam) -> None:
        """See before a step how far the constraints of each sentence have got."""
        self.newly_late = None
        if step % EVERY or beam.states is None:
            return
        bank = beam.states.bank.reshape(beam.live.shape)
        most = np.where(beam.live, bank, 0).max(axis=1)
        gets_on = most > self._most
        self._since[gets_on] = np.maximum(self._since[gets_on], step)
        np.maximum(self._most, most, out=self._most)
        late = step - self._since > self._patience
        if late.any():
            newly = late if self.late is None else late & ~self.late
            self.newly_late = newly if newly.any() else None
        self.late = late if late.any() else None

    def close(self, scores: Scores, sentence: IntArray, may_end: BoolArray) -> Scores:
        """Close what goes on behind the rows that may end and have to; both: # shape: (rows,)."""
        if self.late is None:
            return scores
        must = self.late[sentence] & may_end
        return scores._replace(top_scores=np.where(must[:, None], -np.inf, scores.top_scores))

    def prefer_ends(self, worth: FloatArray, ended: BoolArray) -> FloatArray:
        """Return what candidates are worth, where an end that is overdue comes first."""
        if self.late is None:
            return worth
        return worth + np.where(ended & self.late[:, None], _FIRST, 0.0)

"""Outputs at their length limit that may end by one of several tokens.

At the limit nothing but an end is open. The first end of a scorer is asked for at every step; the
others are among its best tokens, but perhaps not among so many as are usually looked at.
"""

from __future__ import annotations

import numpy as np

from lexbeam.search.arrays import BoolArray, IntArray, ScoreArray
from lexbeam.search.finishing import FinishingRules
from lexbeam.search.length_limit import LengthLimit
from lexbeam.search.prefix import ForcedPrefix
from lexbeam.search.scorer import Scores


class EndsAtLimit:
    """Finds the other ends of outputs at their limit."""

    def __init__(
        self, finishing: FinishingRules, limit: LengthLimit, prefix: ForcedPrefix, vocabulary: int
    ) -> None:
        self._finishing, self._limit, self._prefix = finishing, limit, prefix
        self._vocabulary = vocabulary
        self._scores: ScoreArray | None = None
        self._usual = 0

    @property
    def _are_needed(self) -> bool:
        return self._finishing.tokens is not None and self._limit.at_limit is not None

    def count_top(self, beam: int, more: int) -> int:
        """Return how many of its best tokens to ask the model for: all, or as many as usual.

        That is as many as the beam needs, and so many ``more``.
        """
        self._usual = min(self._finishing.top(beam), self._vocabulary - 1) + more
        return self._vocabulary - 1 if self._are_needed else self._usual

    def set_aside(self, scores: Scores) -> Scores:
        """Remember the scores of all tokens, and close those beyond the usual ones.

        What is found for a sentence must not depend on the limits of others.
        """
        if not self._are_needed:
            return scores
        self._scores = scores.top_scores
        beyond = np.arange(scores.top_ids.shape[1]) >= self._usual
        return scores._replace(top_scores=np.where(beyond, -np.inf, scores.top_scores))

    def open(self, scores: Scores, sentence: IntArray, may_end: BoolArray | None) -> Scores:
        """Open the ends of what is at its limit; ``may_end`` is that of each row, None: all may."""
        if not self._are_needed:
            return scores
        assert self._limit.at_limit is not None
        assert self._finishing.tokens is not None
        assert self._scores is not None
        last = self._limit.at_limit[sentence]
        if self._prefix.forced is not None:
            last = last & ~self._prefix.forced[sentence]
        if may_end is not None:
            last = last & may_end
        ends = last[:, None] & self._finishing.tokens[scores.top_ids]
        return scores._replace(top_scores=np.where(ends, self._scores, scores.top_scores))

"""Tokens that are in no constraint, and without which an output may not be able to end in time.

Such as one that ends a word which must not end any other way.
"""

from __future__ import annotations

import numpy as np

from lexbeam.search.arrays import PAD, IntArray, pack_rows
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.states import States


class HelpfulTokens:
    """Those of a batch, listed when they are first asked for."""

    def __init__(self, remaining: RemainingTokens | None) -> None:
        self._remaining = remaining
        self._listed: IntArray | None = None  # shape: (sentences of the whole batch, tokens)

    def find(self, automaton: Automaton, here: States, sentence: IntArray) -> IntArray:
        """Return tokens without which some hypotheses could not go on, beside asked ones.

        ``sentence`` is counted in the whole batch. # shape: (hypotheses, tokens), `PAD` where
        there are none.
        """
        tokens = self._list()[sentence]
        if not tokens.size:
            return tokens
        nodes = automaton.follow(here.node[:, None], tokens)
        forbidden = automaton.forbids(here, tokens, nodes)
        strict = automaton.strict(here)
        if strict is not None:
            forbidden = forbidden | strict[:, None]
        return np.where(forbidden, PAD, tokens)

    def _list(self) -> IntArray:
        """Return those of every sentence."""
        if self._listed is None:
            assert self._remaining is not None
            number = len(self._remaining.most_needed)
            lists = [self._remaining.helpful_tokens(each).tolist() for each in range(number)]
            self._listed = pack_rows(lists, fill=PAD)
        return self._listed

"""Tokens beyond a model's vocabulary, which the model scores as tokens of its own.

They let a search tell apart what a model can't: all characters that its vocabulary lacks are one
token to it, but a phrase with one of them is not met by another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexbeam.search.arrays import PAD, IntArray
from lexbeam.search.scorer import Scorer, Scores


class AliasScorer:
    """A scorer whose vocabulary has more tokens, scored as some that it has."""

    def __init__(self, scorer: Scorer, aliases: Sequence[int]) -> None:
        self._scorer = scorer
        self._size = scorer.vocabulary_size
        # The last entries are that of what comes before an output, no alias either, and of PAD.
        self._known = np.array([*range(self._size), *aliases, scorer.bos, PAD], np.int64)

    def __getattr__(self, name: str) -> Any:
        """Return what is special about the scorer: where words start, whether it attends."""
        found = getattr(self._scorer, name)
        if name == "draft":
            return lambda state, ask, *more, **named: found(state, self._known[ask], *more, **named)
        if name != "stops":
            return found
        return lambda state, parents, tokens: found(state, parents, self._known[tokens])

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids, those of the aliases included."""
        return len(self._known) - 2

    @property
    def bos(self) -> int:
        """What the first step is given as the token before the output.

        Where the scorer has a number beyond its vocabulary for it, it is beyond this one, too.
        """
        return self._scorer.bos if self._scorer.bos < self._size else self.vocabulary_size

    @property
    def eos(self) -> int:
        """The token that ends the output."""
        return self._scorer.eos

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
        """Read the sources; return the state for the first step."""
        known = [[int(self._known[token]) for token in tokens] for tokens in wanted]
        return self._scorer.start(sources, known)

    def step(
        self,
        state: Any,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
        **more: Any,
    ) -> Scores:
        """Score the next token of every row. An alias is never proposed, so none is banned."""
        taken = np.where(tokens < self._size, tokens, self._known[np.maximum(tokens, 0)])
        kept = np.where(ban < self._size, ban, PAD)
        return self._scorer.step(state, taken, parents, self._known[ask], kept, top, **more)

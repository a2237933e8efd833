"""The narrow waist between search and model.

The search never sees the vocabulary. Each step it hands over the token that every live row has
just taken, and gets back only what it will look at: the best few tokens of each row, and the
scores of the tokens it asked for. A model that keeps to this protocol can be searched, whatever
it runs on; the state is the model's own business and is passed back untouched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from lexbeam.errors import ScorerError
from lexbeam.search.arrays import IntArray, ScoreArray


class Scores(NamedTuple):
    """What a model answers to one step, row by row."""

    top_scores: ScoreArray  # shape: (rows, top), log-probabilities, falling
    top_ids: IntArray  # shape: (rows, top)
    ask_scores: ScoreArray  # shape: (rows, asked)
    state: Any
    attention: ScoreArray | None = None
    """How much each row attends to each source token. # shape: (rows, source tokens)"""


class Scorer(Protocol):
    """A model that generates token by token.

    Rows are numbered within one call. In the first step row i belongs to sentence i and its
    token is ``bos``; from then on ``parents[r]`` names the row of the step before that row r
    continues, and with it the sentence. Rows of one sentence stand next to each other, in the
    order of the sentences; rows that are not named as parents are gone for good.
    """

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids; every id is in [0, vocabulary_size)."""
        ...

    @property
    def bos(self) -> int:
        """What the first step is given as the token before the output (any integer)."""
        ...

    @property
    def eos(self) -> int:
        """The token that ends the output."""
        ...

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
        """Read the sources; return the state for the first step.

        ``wanted`` lists for each sentence the tokens that may be asked for later: a model that
        scores only part of its vocabulary must score these too.
        """
        ...

    def step(
        self,
        state: Any,
        tokens: IntArray,  # shape: (rows,)
        parents: IntArray,  # shape: (rows,)
        ask: IntArray,  # shape: (rows, asked)
        ban: IntArray,  # shape: (rows, banned)
        top: int,
    ) -> Scores:
        """Score the next token of every row.

        - ``top`` best tokens of each row and their log-probabilities, best first, the end of
          sentence and the row's banned tokens left out. Where a row has fewer tokens than
          ``top``, the rest has score minus infinity (and any ids of the vocabulary).
        - the log-probability of each asked token, the end of sentence among them when asked;
          minus infinity where ``ask`` is ``PAD``. The search never asks for a banned token.
        - banning hides tokens, it does not renormalise: all are log-probabilities of the
          model's full distribution.

        A scorer that has an attribute ``word_starts``, which marks the tokens that may not
        follow an unfinished word (# shape: (vocabulary,)), also takes a keyword ``hold``
        (# shape: (rows,)): the rows that may take none of these, because their word would
        then be an avoided one.

        A scorer for which several tokens end the output lists them all, ``eos`` too, in an
        attribute ``ends``; the others are among the ``top`` tokens like any. One that has
        other reasons to stop has a method ``stops(state, parents, tokens)``, which returns a
        mask of what would end with these tokens after these rows of the step that returned the
        state. # shape of all but the state: (sentences, candidates)
        """
        ...


def can_hold(scorer: Scorer) -> bool:
    """Return whether the scorer can keep a word from ending.

    With one that can't, an avoided word is not even begun: longer words that begin with it
    are avoided too.
    """
    return getattr(scorer, "word_starts", None) is not None


def refuse_nonsense(scores: Scores, rows: int, top: int, asked: int) -> None:
    """Raise if the model's answer has NaN in it, or not the shape that was asked for."""
    for name, array, shape in (
        ("top_scores", scores.top_scores, (rows, top)),
        ("top_ids", scores.top_ids, (rows, top)),
        ("ask_scores", scores.ask_scores, (rows, asked)),
    ):
        if array.shape != shape:
            raise ScorerError(f"the scorer's {name} has shape {array.shape}, asked was {shape}")
    for array in (scores.top_scores, scores.ask_scores):
        # The largest is NaN if any is, and NaN is not less than anything.
        if array.size and not array.max() < math.inf:
            raise ScorerError("the scorer's answer has NaN or plus infinity in it")

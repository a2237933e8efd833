"""Toy models for testing a search without a network.

A search can be wrong in ways that no real model shows. These scorers are small enough that
every possible output can be listed and priced (`every_output`), so that what a search returns
can be held against the truth.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexbeam.errors import InputError
from lexbeam.search.arrays import PAD, IntArray, ScoreArray
from lexbeam.search.scorer import Scores

__all__ = ["HistoryScorer", "TableScorer", "every_output"]


class _ToyScorer:
    """What all toy models share: from the full distribution to the narrow answer."""

    restarts = True
    """States are left as they are: a search may begin again from the first."""

    def __init__(
        self,
        vocabulary_size: int,
        bos: int,
        eos: int,
        word_starts: ArrayLike | None,
        attends: bool,
    ) -> None:
        if not 0 <= eos < vocabulary_size:
            raise InputError(f"eos {eos} is outside the vocabulary of {vocabulary_size}")
        if not 0 <= bos < vocabulary_size:
            raise InputError(f"bos {bos} is outside the vocabulary of {vocabulary_size}")
        self.vocabulary_size = vocabulary_size
        self.bos = bos
        self.eos = eos
        self.word_starts = None if word_starts is None else np.array(word_starts, dtype=np.bool_)
        self.attends = attends

    def next_log_probs(self, source: Any, prefix: Sequence[int]) -> NDArray[np.float64]:
        """Return the full distribution after a prefix. # shape: (vocabulary,)."""
        raise NotImplementedError

    def next_attention(self, source: Any, prefix: Sequence[int]) -> NDArray[np.float64]:
        """Return where the model looks after a prefix. # shape: (source tokens,)."""
        raise NotImplementedError

    def _answer(
        self,
        log_probs: ScoreArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: NDArray[np.bool_] | None,
        state: Any,
    ) -> Scores:
        rows = np.arange(len(log_probs))[:, None]
        ask_scores = np.where(ask == PAD, -np.inf, log_probs[rows, np.maximum(ask, 0)])
        open_to_choice = log_probs.copy()  # shape: (rows, vocabulary)
        open_to_choice[:, self.eos] = -np.inf
        row, column = (ban != PAD).nonzero()
        open_to_choice[row, ban[row, column]] = -np.inf
        if hold is not None and self.word_starts is not None:
            open_to_choice[hold[:, None] & self.word_starts] = -np.inf
        best = (-open_to_choice).argsort(axis=1, kind="stable")[:, :top]
        missing = ((0, 0), (0, top - best.shape[1]))
        return Scores(
            np.pad(open_to_choice[rows, best], missing, constant_values=-np.inf),
            np.pad(best, missing),
            ask_scores,
            state,
        )


class TableScorer(_ToyScorer):
    """A first-order model: the next token depends on the last one only.

    ``log_probs[i, j]`` is the log-probability of token j after token i; row ``bos`` holds the
    first tokens. The sources don't matter, only how many there are.

    ``alignment[i, j]`` is the attention to source token j after token i, when the token that
    follows i is scored; each row sums to 1. Without it the model can't say where it looks.
    """

    def __init__(
        self,
        log_probs: ArrayLike,
        *,
        bos: int,
        eos: int,
        word_starts: ArrayLike | None = None,
        alignment: ArrayLike | None = None,
    ) -> None:
        self.log_probs = np.array(log_probs, dtype=np.float64)  # shape: (vocabulary, vocabulary)
        if self.log_probs.ndim != 2 or len(set(self.log_probs.shape)) != 1:
            raise InputError(f"log_probs must be a square table, not {self.log_probs.shape}")
        super().__init__(len(self.log_probs), bos, eos, word_starts, alignment is not None)
        self.alignment = np.zeros((0, 0)) if alignment is None else np.array(alignment, np.float64)
        if self.attends and (
            self.alignment.ndim != 2 or len(self.alignment) != len(self.log_probs)
        ):
            raise InputError(
                f"alignment must have a row per token, {len(self.log_probs)}, and a column per "
                f"source token, not {self.alignment.shape}"
            )
        for row in self.alignment:
            _check_attention(row)

    def next_log_probs(self, source: Any, prefix: Sequence[int]) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the row of the last token."""
        row: NDArray[np.float64] = self.log_probs[prefix[-1] if len(prefix) else self.bos]
        return row

    def next_attention(self, source: Any, prefix: Sequence[int]) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the alignment's row of the last token."""
        row: NDArray[np.float64] = self.alignment[prefix[-1] if len(prefix) else self.bos]
        return row

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> None:
        """Do nothing: the table has no memory."""

    def step(
        self,
        state: Any,
        tokens: IntArray,
        parents: IntArray,  # noqa: ARG002
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: NDArray[np.bool_] | None = None,
        attention: bool = False,
    ) -> Scores:
        """Look the tokens up."""
        scores = self._answer(self.log_probs[tokens], ask, ban, top, hold, state)
        return scores._replace(attention=self.alignment[tokens]) if attention else scores


class HistoryScorer(_ToyScorer):
    """A model whose distribution depends on the source and on every token before.

    Each history is hashed to a seed, and the seed gives a random distribution: nothing can
    hide behind the Markov property, and rows that are mixed up are noticed at once.
    ``spread`` is the standard deviation of the logits.

    ``alignment`` is given the source and the tokens so far, and returns the attention to the
    source when the next token is scored: a weight per source token, with the sum 1. Sources
    are sequences then. Without it the model can't say where it looks.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        bos: int = 0,
        eos: int = 1,
        seed: int = 0,
        spread: float = 2.0,
        word_starts: ArrayLike | None = None,
        alignment: Callable[[Any, Sequence[int]], ArrayLike] | None = None,
    ) -> None:
        super().__init__(vocabulary_size, bos, eos, word_starts, alignment is not None)
        self.alignment = alignment
        self.seed = seed
        self.spread = spread

    def next_log_probs(self, source: Any, prefix: Sequence[int]) -> NDArray[np.float64]:
        """Return a distribution that belongs to this history alone."""
        history = repr((self.seed, source, [int(token) for token in prefix]))
        random = np.random.default_rng(zlib.crc32(history.encode()))
        logits = random.normal(scale=self.spread, size=self.vocabulary_size)
        log_probs: NDArray[np.float64] = logits - np.logaddexp.reduce(logits)
        return log_probs

    def next_attention(self, source: Any, prefix: Sequence[int]) -> NDArray[np.float64]:
        """Return what the alignment says of this history."""
        if self.alignment is None:
            raise InputError("this scorer has no alignment")
        weights = np.array(self.alignment(source, prefix), dtype=np.float64)
        if weights.shape != (len(source),):
            raise InputError(
                f"the alignment gave weights of shape {weights.shape} for a source of "
                f"{len(source)} tokens"
            )
        _check_attention(weights)
        return weights

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:  # noqa: ARG002
        """Remember the sources; no token has been taken yet."""
        width = max(map(len, sources), default=0) if self.attends else 0
        return width, [(source, None) for source in sources]

    def step(
        self,
        state: Any,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: NDArray[np.bool_] | None = None,
        attention: bool = False,
    ) -> Scores:
        """Hash every row's history."""
        width, before = state
        histories = []
        for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True):
            source, prefix = before[parent]
            histories.append((source, [] if prefix is None else [*prefix, token]))
        log_probs = np.array([self.next_log_probs(*history) for history in histories])
        scores = self._answer(log_probs, ask, ban, top, hold, (width, histories))
        if not attention:
            return scores
        weights = np.zeros((len(histories), width))
        for row, (source, prefix) in zip(weights, histories, strict=True):
            row[: len(source)] = self.next_attention(source, prefix)
        return scores._replace(attention=weights)


def _check_attention(weights: NDArray[np.float64]) -> None:
    if not (weights >= 0).all() or not np.isclose(weights.sum(), 1):
        raise InputError(f"the attention {weights.tolist()} is no distribution")


def every_output(
    scorer: TableScorer | HistoryScorer, max_length: int, source: Any = None
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every output of at most ``max_length`` tokens with its log-probability.

    The end of sentence is priced in, but not among the tokens. There are |V|^n outputs of
    length n: keep both small.
    """
    tokens = [token for token in range(scorer.vocabulary_size) if token != scorer.eos]
    known: dict[tuple[int, ...], tuple[float, NDArray[np.float64]]] = {
        (): (0.0, scorer.next_log_probs(source, ()))
    }
    for length in range(max_length + 1):
        for output in product(tokens, repeat=length):
            if output:
                before, row = known[output[:-1]]
                known[output] = (
                    before + float(row[output[-1]]),
                    scorer.next_log_probs(source, output),
                )
            log_prob, row = known[output]
            yield output, log_prob + float(row[scorer.eos])

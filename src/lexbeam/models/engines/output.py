"""The output layer, compiled: from the hidden layer of each row to its best tokens.

In the graph of a runtime the output layer takes six operations over all tokens, and with a
shortlist the runtime puts a sentence's part of the layer in order at every step. The compiled one
(``_network.c``) does that once per sentence. It covers layers in eight bits, on processors with
AVX2; all others are computed in the graph (`engines.graph_output`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.compiled_modules import call
from lexbeam.models.engines import compiled_network
from lexbeam.models.engines.compiled_network import BLOCK, compiled
from lexbeam.models.engines.onnx_batch import Asked, Batch, Scored
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs.output_layer import OutputLayer
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import IntArray

_ROUNDINGS = {"tensor": 1, "rows": 1, "rows down": 2}


class Lists(NamedTuple):
    """The tokens that rows are scored with: a list for each sentence, or one for all."""

    packed: NDArray[np.int8]  # shape: (tokens, dim), in the order of the compiled module
    offset: NDArray[np.int32]  # shape: (tokens,)
    scale: Float32  # shape: (tokens,)
    bias: Float32  # shape: (tokens,)
    ids: IntArray | None  # shape: (tokens,), None: they count the vocabulary
    first: IntArray  # shape: (lists + 1,), where each list begins
    listed: IntArray  # shape: (lists,), how many of its tokens are proposed


class CompiledOutput:
    """Scores the rows of a step with the tokens of their lists; as `GraphOutput`."""

    answers = ("hidden",)
    """What a step of the graph returns."""

    def __init__(
        self,
        layer: OutputLayer,
        rules: TokenRules,
        shortlist: Shortlist | None,
    ) -> None:
        self._layer = layer
        self._size, self._dim = layer.values.shape
        self._starts = rules.word_starts
        never = tuple(token for token in rules.never if token != rules.eos)
        self._never = (rules.eos,) if shortlist is not None else (rules.eos, *never)
        self._unlisted = np.array(never, np.int64)
        self._sample = np.zeros(0, np.int64) if shortlist is None else shortlist.sample
        rounding = 0 if layer.activation else _ROUNDINGS[layer.rounding]
        self._constants = compiled_network.LEVEL, self._dim, layer.activation or 0.0, rounding
        self._all: Sequence[Any] = ()
        if shortlist is None:
            ids = np.arange(-(-self._size // BLOCK) * BLOCK)
            listed = np.array([self._size])
            self._all = self._pack(ids, np.array([0, len(ids)]), listed)._replace(ids=None)
            self._layer = layer._replace(values=layer.values[:0])

    def lists(self, candidates: Sequence[IntArray]) -> Lists:
        """Return the lists of a batch, given the sorted ids of each sentence."""
        rows, weights, listed = [], [], []
        for each in candidates:
            own = np.union1d(np.setdiff1d(each, self._unlisted, assume_unique=True), self._never)
            rest = np.setdiff1d(self._sample, own, assume_unique=True)
            missing = -(len(own) + len(rest)) % BLOCK
            rows.append(np.concatenate((own, rest, np.full(missing, self._size))))
            stands_for = max(self._size - len(own), 1) / max(len(rest), 1)
            weights += [(len(own), 0.0), (len(rest), np.log(stands_for)), (missing, 0.0)]
            listed.append(len(own))
        first = np.cumsum([0, *map(len, rows)])
        found = self._pack(np.concatenate(rows), first, np.array(listed))
        if self._sample.size:
            counts, each_weight = zip(*weights, strict=True)
            found.bias[:] += np.repeat(np.array(each_weight, np.float32), counts)
        return found

    def for_encoder(self, lists: Lists | None) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return what the encoder takes of lists: nothing."""
        return {}

    def memory(self, lists: Lists | None) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return what steps take of lists: nothing."""
        return {}

    def feed(self, batch: Batch, sentences: IntArray, asked: Asked) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return what a step takes of what is asked: nothing."""
        return {}

    def _pack(self, ids: IntArray, first: IntArray, listed: IntArray) -> Lists:
        layer, known = self._layer, np.minimum(ids, self._size - 1)
        packed = np.empty((len(ids), self._dim), np.int8)
        offset = np.empty(len(ids), np.int32)
        compiled.pack(layer.values, self._dim, ids, packed, offset)
        bias = np.where(ids < self._size, layer.bias[known], np.float32(-np.inf))
        return Lists(packed, offset, layer.scale[known], bias, ids, first, listed)

    def read(
        self, batch: Batch, sentences: IntArray, asked: Asked, answers: Sequence[NDArray[Any]]
    ) -> Scored:
        """Return the scores that follow from the hidden layer of each row."""
        ask, ban, hold, top = asked
        (hidden,) = answers
        rows = len(hidden)
        best, ids = np.empty((rows, top), np.float32), np.empty((rows, top), np.int64)
        scores = np.empty(ask.shape, np.float32)
        banned = _repeat(self._never, rows)
        if ban.size:
            banned = np.concatenate((banned, ban), axis=1)
        lists, list_of_row = self._all, None
        if batch.lists is not None:
            lists, list_of_row = batch.lists, batch.lists_of(sentences)
        starts = None if hold is None else self._starts
        given = hidden, list_of_row, ask, banned, hold, starts
        call(compiled.score, *self._constants, *lists, *given, best, ids, scores)
        return best, ids, scores


@lru_cache(maxsize=256)
def _repeat(tokens: tuple[int, ...], rows: int) -> IntArray:
    return np.tile(np.array(tokens, np.int64), (rows, 1))

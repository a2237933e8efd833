"""What stays the same during the steps of a batch on ONNX Runtime, and what a step is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.models.graphs.weights import Float32
from lexbeam.search.arrays import IntArray

_COMPACT_AT = 4  # drop the memory of finished sentences when there is one per this many others

Scored = tuple[Float32, IntArray, Float32]
"""The best scores of each row, their tokens, and the scores of what is asked."""


class Asked(NamedTuple):
    """What a step is asked; see `lexbeam.search.scorer.Scorer`."""

    tokens: IntArray  # shape: (rows, asked)
    ban: IntArray  # shape: (rows, banned)
    hold: NDArray[np.bool_] | None  # shape: (rows,)
    top: int


class Begun(NamedTuple):
    """What a decoder makes of what the encoder has found."""

    memory: Any
    state: Any
    single: bool
    for_draft: Mapping[str, NDArray[Any]] = {}


class Ran(NamedTuple):
    """What a decoder returns from a step."""

    answers: list[NDArray[Any]]
    state: Any
    attention: Float32 | None


class Batch(NamedTuple):
    """What stays the same during the steps of a batch."""

    size: int
    memory: Any  # the decoder's own; of a graph, arrays by name, first axis: sentences
    single: bool  # one sentence from the start, and a decoder made for that
    lists: Any  # those of the output layer, for all sentences that there were; None: no shortlist
    list_of: IntArray  # shape: (sentences,), the list of each
    for_draft: Mapping[str, NDArray[Any]] = {}  # what its steps don't need, but its draft does

    def lists_of(self, sentences: IntArray) -> IntArray:
        """Return the list of each row, given its sentence within the batch. # shape: (rows,)."""
        return sentences if self.single else self.list_of[sentences]


def without_finished(batch: Batch, sentences: IntArray) -> tuple[Batch, IntArray]:
    """Drop the memory of sentences that have no rows any more, when it is worth a copy."""
    if batch.size == 1:
        return batch, sentences
    alive = np.zeros(batch.size, bool)
    alive[sentences] = True
    kept = np.flatnonzero(alive)
    if (batch.size - len(kept)) * _COMPACT_AT < len(kept):
        return batch, sentences
    memory = {name: value[kept] for name, value in batch.memory.items()}
    smaller = Batch(len(kept), memory, False, batch.lists, batch.list_of[kept])
    return smaller, (np.cumsum(alive) - 1)[sentences]

"""Decoders with SSRU cells, compiled: a step is one call (``_network.c``).

In the graph of a runtime a step has sixty operations, most of which take less time than what is
around them. All rows attend to their own sentence's source here, so that nothing is arranged in
slots, and sentences that are done cost nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lexbeam.compiled_modules import call
from lexbeam.models.engines import compiled_network
from lexbeam.models.engines.compiled_network import BLOCK, compiled
from lexbeam.models.engines.onnx_batch import Batch, Begun, Ran
from lexbeam.models.graphs.positions import SinusoidalPositions
from lexbeam.models.graphs.ssru_decoder import SsruDecoder
from lexbeam.models.graphs.weights import Float32
from lexbeam.search.arrays import IntArray


class Memory(NamedTuple):
    """What rows attend to."""

    keys: Float32  # shape: (layers, sentences, heads, size, time)
    values: Float32  # shape: (layers, sentences, heads, time, size)
    lengths: IntArray  # shape: (sentences,)


class CompiledDecoder:
    """Takes steps; the state is the cells of all layers. # shape: (layers, rows, dim)."""

    def __init__(self, decoder: SsruDecoder, attended: tuple[int, int | None] | None) -> None:
        self._layers, self._dim = decoder.layers, decoder.dim
        layer, head = attended or (decoder.layers - 1, None)
        sizes = decoder.dim, decoder.heads, decoder.layers, layer, -1 if head is None else head
        packed, offset = _pack(decoder)
        weights = packed, offset, *decoder[6:]
        self._constants = compiled_network.LEVEL, *sizes, decoder.epsilon, *weights
        self._positions = SinusoidalPositions(decoder.dim)

    def begin(self, found: dict[str, Any], lengths: IntArray) -> Begun:
        """Return the memory of a batch and its first state, from what the encoder has found."""
        count = len(lengths)
        layers = range(1, self._layers + 1)
        time = -(-int(lengths.max()) // BLOCK) * BLOCK
        first = found["memory.k1"]
        *shape, size = first.shape
        keys = np.zeros((self._layers, *shape[:2], size, time), np.float32)
        values = np.zeros((self._layers, *shape[:2], time, size), np.float32)
        for layer in layers:
            keys[layer - 1, ..., : shape[2]] = found[f"memory.k{layer}"].swapaxes(2, 3)
            values[layer - 1, ..., : shape[2], :] = found[f"memory.v{layer}"]
        state = np.zeros((self._layers, count, self._dim), np.float32)
        return Begun(Memory(keys, values, lengths), state, count == 1)

    def narrow(self, batch: Batch, sentences: IntArray) -> tuple[Batch, IntArray]:
        """Return a batch as it is: what is done costs nothing."""
        return batch, sentences

    def run(
        self,
        batch: Batch,
        sentences: IntArray,
        state: Float32,
        number: int,
        tokens: IntArray,
        parents: IntArray,
        feed: dict[str, Any],  # noqa: ARG002  (there is no graph to feed)
        attends: bool,
    ) -> Ran:
        """Take a step; return the hidden layer of each row, the new state, and where it looks."""
        rows = len(tokens)
        hidden = np.empty((rows, self._dim), np.float32)
        following = np.empty((self._layers, rows, self._dim), np.float32)
        looks = None
        if attends:
            looks = np.empty((rows, batch.memory.values.shape[3]), np.float32)
        given = tokens, parents, sentences, self._positions.between(number, number + 1), state
        call(compiled.step, *self._constants, *batch.memory, *given, hidden, following, looks)
        if looks is not None:
            looks = looks[:, : batch.memory.lengths.max()]
        return Ran([hidden], following, looks)


def _pack(decoder: SsruDecoder) -> tuple[Any, Any]:
    """Return all matrices in the order in which the compiled module reads them."""
    packed, offset = np.empty_like(decoder.values), np.empty(len(decoder.scale), np.int32)
    inner = len(decoder.scale) // decoder.layers - 5 * decoder.dim
    outputs = [2 * decoder.dim, decoder.dim, decoder.dim, inner, decoder.dim]
    at = read = 0
    for inputs, number in zip(decoder.inputs.tolist(), outputs * decoder.layers, strict=True):
        own = slice(read, read + inputs * number)
        values, ids = decoder.values[own], np.arange(number)
        compiled.pack(values, inputs, ids, packed[own], offset[at : at + number])
        at, read = at + number, read + inputs * number
    return packed, offset

"""Decoders on ONNX Runtime: a step is one run of a graph (`lexbeam.models.graphs`).

A state of fixed size, one vector per layer, is passed as an array: copying twenty kilobytes is
cheaper than binding them. A state that grows with the output stays in the runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.engines.onnx_batch import Batch, Begun, Ran, without_finished
from lexbeam.models.engines.onnx_session import open_session, run_session
from lexbeam.models.engines.slots import arrange
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.positions import SinusoidalPositions, TabledPositions
from lexbeam.models.graphs.weights import Float32
from lexbeam.search.arrays import IntArray

_FOR_DRAFT = ("memory.output_offset",)
MakeDecoder = Callable[[bool], bytes]
"""Write a decoder, given whether it serves a single sentence."""


class OnnxDecoder:
    """The decoders of a network; ``answers`` are what their steps return beside new states."""

    def __init__(
        self,
        graphs: Graphs,
        answers: Sequence[str],
        positions: tuple[Float32, Float32] | None,
        threads: int,
        make_attending: MakeDecoder | None,
    ) -> None:
        assert graphs.decoder is not None
        self._make_attending = make_attending
        self._attending: dict[bool, ort.InferenceSession] = {}
        self._threads = threads
        self._make_decoder = partial(open_session, graphs.decoder, threads)
        single = graphs.single_decoder
        self._single_decoder = open_session(single, threads) if single else None
        inputs = (self._single_decoder or self._decoder).get_inputs()
        states = [i for i in inputs if i.name.startswith("state.")]
        self._state_shapes = {i.name: i.shape for i in states}
        self._state_grows = any(isinstance(size, str) for i in states for size in i.shape[1:])
        dims = [i.shape[1] for i in inputs if i.name == "positions"]
        self.positions = output_positions(dims, positions)
        """The embeddings of positions, if the network takes any."""
        new_states = [name.replace("state.", "next.") for name in self._state_shapes]
        self._outputs = [*answers, *new_states]
        self._outputs_attending = [*answers, "attention", *new_states]

    @cached_property
    def _decoder(self) -> ort.InferenceSession:
        """The decoder for batches, made at its first use."""
        return self._make_decoder()

    def _attending_decoder(self, single: bool) -> ort.InferenceSession:
        """The decoder that also says where it looks, made at its first use."""
        if single not in self._attending:
            if self._make_attending is None:
                raise ModelError("this model can't say which source tokens it looks at")
            graph = self._make_attending(single)
            self._attending[single] = open_session(graph, self._threads)
        return self._attending[single]

    def begin(self, found: dict[str, Any], lengths: IntArray) -> Begun:
        """Return the memory of a batch and its first state, from what the encoder has found."""
        count = len(lengths)
        state = {
            name: found.pop(name) if name in found else _empty_state(shape, count)
            for name, shape in self._state_shapes.items()
        }
        single = count == 1 and self._single_decoder is not None
        for_draft = _set_apart(found) if single else {}
        return Begun(found, state, single, for_draft)

    def narrow(self, batch: Batch, sentences: IntArray) -> tuple[Batch, IntArray]:
        """Drop the memory of sentences that are done, when it is worth a copy."""
        return without_finished(batch, sentences)

    def run(
        self,
        batch: Batch,
        sentences: IntArray,
        state: dict[str, Any],
        number: int,
        tokens: IntArray,
        parents: IntArray,
        feed: dict[str, Any],
        attends: bool,
    ) -> Ran:
        """Take a step; return its answers, the new state, and where it looks."""
        feed = {**batch.memory, **state, **feed, "tokens": tokens, "parents": parents}
        if not batch.single:
            feed["row_of_slot"], feed["slot_of_row"] = arrange(sentences, batch.size)
        if self.positions is not None:
            feed["positions"] = self.positions.between(number, number + 1)
        if attends:
            session, outputs = self._attending_decoder(batch.single), self._outputs_attending
        else:
            session = self._single_decoder if batch.single else self._decoder
            outputs = self._outputs
        answers, states = self._run(session, feed, outputs)
        looks = answers.pop() if attends else None
        return Ran(answers, dict(zip(self._state_shapes, states, strict=True)), looks)

    def _run(
        self, session: ort.InferenceSession, feed: dict[str, Any], outputs: list[str]
    ) -> tuple[list[Any], list[Any]]:
        """Run a decoder; return what it answers, and the new states."""
        answers = len(outputs) - len(self._state_shapes)
        if not self._state_grows:
            results = run_session(session, outputs, feed)
            return results[:answers], results[answers:]
        binding = session.io_binding()
        for name, value in feed.items():
            if isinstance(value, np.ndarray):
                binding.bind_cpu_input(name, value)
            else:
                binding.bind_ortvalue_input(name, value)
        for name in outputs:
            binding.bind_output(name)
        session.run_with_iobinding(binding)
        results = binding.get_outputs()
        return [value.numpy() for value in results[:answers]], results[answers:]


def output_positions(
    dims: Sequence[int], tables: tuple[Float32, Float32] | None
) -> SinusoidalPositions | TabledPositions | None:
    """Return the embeddings of positions of an output, if the network takes any."""
    if not dims:
        return None
    return SinusoidalPositions(*dims) if tables is None else TabledPositions(tables[1])


def _set_apart(memory: dict[str, Any]) -> dict[str, Any]:
    """Take from the memory of a single sentence what its steps don't need; return what drafts do.

    Every input takes its time, and so does an axis of sentences that would have to be added to
    the rows: its part of the output layer has none.
    """
    memory.pop("memory.mask")
    for name in [name for name in memory if name.startswith("memory.output")]:
        columns = memory[name][0]
        memory[name] = columns if name == "memory.output" else columns[0]
    return {name: memory.pop(name) for name in _FOR_DRAFT if name in memory}


def _empty_state(shape: Sequence[int | str], rows: int) -> NDArray[np.float32]:
    """Return a first state: zeros for each row, and length 0 along an axis that grows."""
    return np.zeros(
        (rows, *(size if isinstance(size, int) else 0 for size in shape[1:])), np.float32
    )

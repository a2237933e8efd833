"""The default engine: networks on ONNX Runtime.

A step is one run of the decoder graph (see `lexbeam.models.graphs` for its inputs). Reordering of
the beam, embedding, network, log-softmax, exclusion, top-k and the scores that were asked for are
all inside the graph. Only small integer arrays are handled here: which row is in which slot, and
how token ids map to a shortlist. This code is kept short, because a step takes half a millisecond
and each call from Python costs a hundredth of that.

A state of fixed size, one vector per layer, is passed as an array: copying twenty kilobytes is
cheaper than binding them. A state that grows with the output stays in the runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lexbeam.errors import InputError, ModelError
from lexbeam.models.engines.draft_session import DraftSessions, MakeDraft
from lexbeam.models.engines.encoding import Encoder
from lexbeam.models.engines.graph_output import GraphOutput
from lexbeam.models.engines.onnx_batch import Asked, Batch, without_finished
from lexbeam.models.engines.onnx_session import open_session, run_session
from lexbeam.models.engines.output import CompiledOutput
from lexbeam.models.engines.slots import arrange
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.positions import SinusoidalPositions, TabledPositions
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import IntArray
from lexbeam.search.scorer import Scores, WholeDraft

_FOR_DRAFT = ("memory.output_offset",)
_NOTHING = np.zeros((1, 0), np.int64)
MakeDecoder = Callable[[bool], bytes]
"""Write a decoder, given whether it serves a single sentence."""


class OnnxState(NamedTuple):
    """The state between two steps."""

    batch: Batch
    step: int
    sentences: IntArray  # shape: (rows,), the sentence of each row, within the batch
    decoder: dict[str, Any]  # first axis: rows


class OnnxEngine:
    """A Scorer on ONNX Runtime; sources are sequences of ids that end with the end of sentence.

    ``positions`` are the embeddings of positions for source and output, for networks that have
    them among their weights. ``make_attending`` writes decoders that say where they look,
    ``make_draft`` graphs for whole drafts; they are made when a search first asks for it.
    """

    restarts = True
    """States are left as they are: a search may begin again from the first."""

    def __init__(
        self,
        graphs: Graphs,
        tokens: TokenRules,
        *,
        shortlist: Shortlist | None = None,
        positions: tuple[Float32, Float32] | None = None,
        threads: int = 1,
        make_attending: MakeDecoder | None = None,
        make_draft: MakeDraft | None = None,
    ) -> None:
        self._drafts = DraftSessions(make_draft, threads)
        self.attends = make_attending is not None
        self._make_attending = make_attending
        self._attending: dict[bool, ort.InferenceSession] = {}
        self._threads = threads
        self._make_decoder = partial(open_session, graphs.decoder, threads)
        self._encoder = Encoder(open_session(graphs.encoder, threads))
        single = graphs.single_decoder
        self._single_decoder = open_session(single, threads) if single else None
        self._vocabulary_size = tokens.vocabulary_size
        self._source_size = tokens.source_vocabulary_size or tokens.vocabulary_size
        self._eos = tokens.eos
        self._output_start = tuple(tokens.output_start) or (tokens.vocabulary_size,)
        self._shortlist = shortlist
        sample = np.zeros(0, np.int64) if shortlist is None else shortlist.sample
        self._output: CompiledOutput | GraphOutput = GraphOutput(tokens, sample)
        if graphs.output is not None:
            self._output = CompiledOutput(graphs.output, tokens, shortlist)
        self.word_starts = tokens.word_starts
        inputs = (self._single_decoder or self._decoder).get_inputs()
        states = [i for i in inputs if i.name.startswith("state.")]
        self._state_shapes = {i.name: i.shape for i in states}
        self._state_grows = any(isinstance(size, str) for i in states for size in i.shape[1:])
        self._positions = _position_tables(
            [i.shape[1] for i in inputs if i.name == "positions"], positions
        )
        new_states = [name.replace("state.", "next.") for name in self._state_shapes]
        self._outputs = [*self._output.answers, *new_states]
        self._outputs_attending = [*self._output.answers, "attention", *new_states]
        self._try_out()

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

    def _try_out(self) -> None:
        """Take one step, so that weights that don't fit together are reported now."""
        none = np.zeros((1, 0), np.int64)
        try:
            state = self.start([[0]], [[]])
            first, asked = np.zeros(1, np.int64), np.array([[self._eos]])
            scores = self.step(state, np.array([self.bos]), first, asked, none, 1)
        except Exception as error:  # see open_session
            raise ModelError(f"the network does not run: {error}") from None
        if np.isnan(scores.ask_scores).any():  # the best ones leave out what is not a number
            raise ModelError("the network gives scores that are not numbers")

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids."""
        return self._vocabulary_size

    @property
    def bos(self) -> int:
        """The token right before the output."""
        return self._output_start[-1]

    @property
    def eos(self) -> int:
        """The token that ends the output."""
        return self._eos

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> OnnxState:
        """Encode the sources; with a shortlist, choose the candidates of each sentence."""
        count = len(sources)
        lengths = np.array([len(source) for source in sources])
        tokens = np.full((count, lengths.max()), self._eos, np.int64)
        for row, source in zip(tokens, sources, strict=True):
            row[: len(source)] = source
        _check_source(tokens, self._source_size)
        mask = (np.arange(tokens.shape[1]) < lengths[:, None]).astype(np.int32)
        feed = {"tokens": tokens, "mask": mask}
        if self._positions:
            feed["positions"] = self._positions[0].between(0, tokens.shape[1])
        lists: Any = None
        if self._shortlist is not None:
            pairs = zip(sources, wanted, strict=True)
            lists = self._output.lists([self._shortlist.candidates(*each) for each in pairs])
            feed |= self._output.for_encoder(lists)
        found = self._encode(feed, lengths) | self._output.memory(lists)
        decoder = {
            name: found.pop(name) if name in found else _empty_state(shape, count)
            for name, shape in self._state_shapes.items()
        }
        single = count == 1 and self._single_decoder is not None
        for_draft = _set_apart(found) if single else {}
        numbers = np.arange(count)
        batch = Batch(count, found, single, lists, numbers, for_draft)
        return self._take_output_start(OnnxState(batch, 0, numbers, decoder))

    def _take_output_start(self, state: OnnxState) -> OnnxState:
        """Take the tokens that every output follows, except the last, which is `bos`."""
        rows = np.arange(state.batch.size)
        none = np.zeros((len(rows), 0), np.int64)
        for token in self._output_start[:-1]:
            state = self.step(state, np.full(len(rows), token), rows, none, none, 1).state
        return state

    def step(
        self,
        state: OnnxState,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: NDArray[np.bool_] | None = None,
        attention: bool = False,
    ) -> Scores:
        """Score the next token of every row; see `lexbeam.search.scorer.Scorer`."""
        batch = state.batch
        if batch.single:
            sentences = _only_sentence(len(tokens))
        else:
            batch, sentences = without_finished(batch, state.sentences[parents])
        asked = Asked(ask, ban, hold, top)
        feed = {**batch.memory, **state.decoder, "tokens": tokens, "parents": parents}
        feed |= self._output.feed(batch, sentences, asked)
        if not batch.single:
            feed["row_of_slot"], feed["slot_of_row"] = arrange(sentences, batch.size)
        if self._positions:
            feed["positions"] = self._positions[1].between(state.step, state.step + 1)
        if attention:
            session, outputs = self._attending_decoder(batch.single), self._outputs_attending
        else:
            session = self._single_decoder if batch.single else self._decoder
            outputs = self._outputs
        answers, decoder = self._run(session, feed, outputs)
        looks = [answers.pop()] if attention else []
        scored = self._output.read(batch, sentences, asked, answers)
        states = dict(zip(self._state_shapes, decoder, strict=True))
        return Scores(*scored, OnnxState(batch, state.step + 1, sentences, states), *looks)

    def draft(
        self, state: OnnxState, ask: IntArray, longest: int, attention: bool = False
    ) -> WholeDraft | None:
        """Write the draft of one sentence; see `lexbeam.search.scorer.Scorer`."""
        batch, first = state.batch, np.zeros(1, np.int64)
        if not batch.single or len(state.sentences) != 1:
            return None
        asked = Asked(np.concatenate(([self._eos], ask))[None], _NOTHING, None, 1)
        if isinstance(self._output, CompiledOutput):
            return self._draft_by_steps(state, asked, longest + 1, attention)
        feed = {**batch.memory, **batch.for_draft, **state.decoder, "tokens": np.array([self.bos])}
        feed |= self._output.feed(batch, first, asked)
        feed["places"] = np.array(longest + 1)
        if self._positions:
            feed["positions"] = self._positions[1].between(state.step, state.step + longest + 1)
        if batch.lists is not None:
            feed["ids"] = batch.lists.ids[0]
        answers = self._drafts.run(feed, attention)
        if answers is None:
            return None
        top_scores, top_ids, ask_scores, *looks = answers
        top_ids = top_ids if batch.lists is None else batch.lists.ids[0].take(top_ids)
        return WholeDraft(top_scores, top_ids, ask_scores, *looks)

    def _draft_by_steps(
        self, state: OnnxState, asked: Asked, places: int, attention: bool
    ) -> WholeDraft:
        """Write a draft step by step, with no more around a step than it needs."""
        tokens, row, none = np.array([self.bos]), np.zeros(1, np.int64), _NOTHING
        found = []
        for _ in range(places):
            scores = self.step(state, tokens, row, asked.tokens, none, 1, attention=attention)
            state, tokens = scores.state, scores.top_ids[0]
            found.append((*scores[:3], scores.attention))
            if scores.ask_scores[0, 0] >= scores.top_scores[0, 0]:
                break
        *answers, looks = zip(*found, strict=True)
        attended = np.concatenate(looks) if attention else None
        return WholeDraft(*(np.concatenate(each) for each in answers), attended)

    def _encode(self, feed: dict[str, Any], lengths: IntArray) -> dict[str, Any]:
        return self._encoder.run(feed, lengths)

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


def _check_source(tokens: IntArray, size: int) -> None:
    """Refuse what is not in the source vocabulary. # shape: (sentences, time)."""
    outside = (tokens < 0) | (tokens >= size)
    if outside.any():
        sentence, index = np.argwhere(outside)[0]
        raise InputError(
            f"sentence {sentence}: token {tokens[sentence, index]} is outside the source "
            f"vocabulary of {size}"
        )


def _position_tables(
    dims: Sequence[int], tables: tuple[Float32, Float32] | None
) -> Sequence[SinusoidalPositions | TabledPositions]:
    """Return the embeddings of positions for source and output, if the network takes any."""
    if not dims:
        return ()
    if tables is not None:
        return [TabledPositions(table) for table in tables]
    return [SinusoidalPositions(*dims)] * 2


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


@lru_cache(maxsize=256)
def _only_sentence(rows: int) -> IntArray:
    return np.zeros(rows, np.int64)

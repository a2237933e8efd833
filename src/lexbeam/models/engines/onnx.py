"""Networks on ONNX Runtime: the default engine.

A step is one run of the decoder graph (see `lexbeam.models.graphs` for its inputs): reorder,
embedding, network, log-softmax, hiding, top-k and the asked scores are all inside. What this
class does on the host is book-keeping with small integers: which row stands where, and how ids
of the vocabulary map to a shortlist. It is kept short, because a step takes half a millisecond
and every call from Python costs a hundredth of that.

A state of fixed size, one vector a layer, comes and goes as an array: copying twenty kilobytes
is cheaper than binding them. A state that grows with the output stays in the runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lexbeam.errors import InputError, ModelError
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.positions import Positions, TabledPositions
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import IntArray
from lexbeam.search.scorer import Scores

_COMPACT_AT = 4  # drop the memory of sentences that are gone: one for this many that are left
_WIDTH_MULTIPLE = 16  # candidates fill whole vectors of the runtime's kernels


class _Batch(NamedTuple):
    """What stays the same while the rows of a batch go on."""

    size: int
    memory: dict[str, NDArray[Any]]  # first axis: sentences
    ids: IntArray | None  # shape: (sentences, width), the id at each position
    position: IntArray | None  # shape: (sentences, vocabulary + 1), the position of each id
    alone: bool  # one sentence from the start, and a decoder made for that


class OnnxState(NamedTuple):
    """The search between two steps."""

    batch: _Batch
    step: int
    sentences: IntArray  # shape: (rows,), the sentence of each row, within the batch
    decoder: dict[str, Any]  # first axis: rows


class OnnxEngine:
    """A Scorer on ONNX Runtime; sources are sequences of ids, the end of sentence the last.

    ``word_starts`` marks the ids that begin a word: rows that are put on hold in a step may not
    take one of them. ``output_start`` are the tokens that every output follows (a language,
    say) without being part of it; where there are none, the first step takes an id of no token,
    which embeds as zeros. The ids of ``never`` are not among the best of any row.
    ``positions`` are the codes of places in source and output, for networks that bring theirs.
    """

    def __init__(
        self,
        graphs: Graphs,
        *,
        vocabulary_size: int,
        eos: int,
        source_vocabulary_size: int | None = None,
        shortlist: Shortlist | None = None,
        word_starts: NDArray[np.bool_] | None = None,
        output_start: Sequence[int] = (),
        never: Sequence[int] = (),
        positions: tuple[Float32, Float32] | None = None,
        threads: int = 1,
    ) -> None:
        self._make_decoder = partial(_session, graphs.decoder, threads)
        self._encoder = _session(graphs.encoder, threads)
        self._alone = _session(graphs.alone, threads) if graphs.alone else None
        self._vocabulary_size = vocabulary_size
        self._source_size = source_vocabulary_size or vocabulary_size
        self._eos = eos
        self._output_start = tuple(output_start) or (vocabulary_size,)
        self._never = (eos, *(token for token in never if token != eos))
        self._shortlist = shortlist
        self.word_starts = word_starts
        inputs = (self._alone or self._decoder).get_inputs()
        states = [i for i in inputs if i.name.startswith("state.")]
        self._state_shapes = {i.name: i.shape for i in states}
        self._grows = any(isinstance(size, str) for i in states for size in i.shape[1:])
        self._places = _places([i.shape[1] for i in inputs if i.name == "positions"], positions)
        self._encoder_outputs = [output.name for output in self._encoder.get_outputs()]
        self._next = [name.replace("state.", "next.") for name in self._state_shapes]
        self._outputs = ["top_scores", "top_ids", "ask_scores", *self._next]
        self._try_out()

    @cached_property
    def _decoder(self) -> ort.InferenceSession:
        """The decoder of batches; where single sentences have their own, made when needed."""
        return self._make_decoder()

    def _try_out(self) -> None:
        """Take one step, so that weights which don't fit together are found out now."""
        none = np.zeros((1, 0), np.int64)
        try:
            state = self.start([[0]], [[]])
            self.step(state, np.array([self.bos]), np.zeros(1, np.int64), none, none, 1)
        except Exception as error:  # see _session
            raise ModelError(f"the network does not run: {error}") from None

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids."""
        return self._vocabulary_size

    @property
    def bos(self) -> int:
        """What stands right before the output."""
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
        self._refuse_strangers(tokens)
        mask = (np.arange(tokens.shape[1]) < lengths[:, None]).astype(np.int32)
        feed = {"tokens": tokens, "mask": mask}
        if self._places:
            feed["positions"] = self._places[0].between(0, tokens.shape[1])
        ids = position = None
        if self._shortlist is not None:
            lists = [
                self._shortlist.candidates(source, extra)
                for source, extra in zip(sources, wanted, strict=True)
            ]
            candidates, position = _tabulate(lists, self._vocabulary_size, self._never)
            ids = np.minimum(candidates, self._vocabulary_size - 1)
            feed["candidates"] = candidates
        found = self._encode(feed)
        decoder = {
            name: found.pop(name) if name in found else _nothing_yet(shape, count)
            for name, shape in self._state_shapes.items()
        }
        alone = count == 1 and self._alone is not None
        if alone:
            found.pop("memory.mask")
        batch = _Batch(count, found, ids, position, alone)
        return self._take_start(OnnxState(batch, 0, np.arange(count), decoder))

    def _take_start(self, state: OnnxState) -> OnnxState:
        """Let every output go through what it follows, but for the last, which `bos` names."""
        rows = np.arange(state.batch.size)
        none = np.zeros((len(rows), 0), np.int64)
        for token in self._output_start[:-1]:
            state = self.step(state, np.full(len(rows), token), rows, none, none, 1).state
        return state

    def _refuse_strangers(self, tokens: IntArray) -> None:
        strange = (tokens < 0) | (tokens >= self._source_size)
        if strange.any():
            sentence, place = np.argwhere(strange)[0]
            raise InputError(
                f"sentence {sentence}: token {tokens[sentence, place]} is outside the source "
                f"vocabulary of {self._source_size}"
            )

    def step(
        self,
        state: OnnxState,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: NDArray[np.bool_] | None = None,
    ) -> Scores:
        """Price the next token of every row; see `lexbeam.search.scorer.Scorer`."""
        batch, sentences = _without_the_gone(state.batch, state.sentences[parents])
        hidden, nothing = self._hidden(batch, sentences, ban, hold)
        width = self._vocabulary_size if batch.ids is None else batch.ids.shape[1]
        feed = {
            **batch.memory,
            **state.decoder,
            "tokens": tokens,
            "parents": parents,
            "ask": _positions(batch, sentences, ask),
            "hidden": hidden,
            "nothing": nothing,
            "top": _top(min(top, width)),
        }
        if not batch.alone:
            feed["slots"], feed["places"] = _layout(sentences, batch.size)
        if self._places:
            feed["positions"] = self._places[1].between(state.step, state.step + 1)
        session = self._alone if batch.alone else self._decoder
        top_scores, top_ids, ask_scores, *decoder = self._run(session, feed)
        if batch.ids is None:
            top_ids = np.minimum(top_ids, self._vocabulary_size - 1)
        elif batch.size == 1:
            top_ids = batch.ids[0].take(top_ids)
        else:
            top_ids = batch.ids[sentences[:, None], top_ids]
        if top > width:
            top_scores = np.pad(top_scores, ((0, 0), (0, top - width)), constant_values=-np.inf)
            top_ids = np.pad(top_ids, ((0, 0), (0, top - width)))
        following = OnnxState(
            batch, state.step + 1, sentences, dict(zip(self._state_shapes, decoder, strict=True))
        )
        return Scores(top_scores, top_ids, ask_scores, following)

    def _encode(self, feed: dict[str, Any]) -> dict[str, Any]:
        return dict(zip(self._encoder_outputs, self._encoder.run(None, feed), strict=True))

    def _run(self, session: ort.InferenceSession, feed: dict[str, Any]) -> list[Any]:
        if not self._grows:
            results: list[Any] = session.run(self._outputs, feed)
            return results
        binding = session.io_binding()
        for name, value in feed.items():
            if isinstance(value, np.ndarray):
                binding.bind_cpu_input(name, value)
            else:
                binding.bind_ortvalue_input(name, value)
        for name in self._outputs:
            binding.bind_output(name)
        session.run_with_iobinding(binding)
        results = binding.get_outputs()
        return [value.numpy() for value in results[:3]] + results[3:]

    def _hidden(
        self,
        batch: _Batch,
        sentences: IntArray,
        ban: IntArray,
        hold: NDArray[np.bool_] | None,
    ) -> tuple[IntArray, NDArray[np.float32]]:
        """List what may not be among the best: end of sentence, banned tokens, word starts."""
        rows = len(sentences)
        hidden, nothing = _always_hidden(rows, self._never if batch.ids is None else (0,))
        if not ban.size and hold is None:
            return hidden, nothing
        parts = [hidden]
        if ban.size:
            row = np.repeat(np.arange(rows), ban.shape[1])
            parts.append(np.stack([row, _positions(batch, sentences, ban).ravel()], axis=1))
        if hold is not None and self.word_starts is not None:
            held = np.flatnonzero(hold)
            starts = (
                np.broadcast_to(self.word_starts, (len(held), self._vocabulary_size))
                if batch.ids is None
                else self.word_starts[batch.ids[sentences[held]]]
            )
            row, position = np.nonzero(starts)
            parts.append(np.stack([held[row], position], axis=1))
        hidden = np.concatenate(parts)
        return hidden, np.full(len(hidden), -np.inf, np.float32)


def _session(model: bytes, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    if threads == 1:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(
            model,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # its kernel is three times slower
        )
    except Exception as error:  # the runtime's own exceptions share no public base
        raise ModelError(f"ONNX Runtime refuses the model: {error}") from None


def _places(
    dims: Sequence[int], tables: tuple[Float32, Float32] | None
) -> Sequence[Positions | TabledPositions]:
    """Return the codes of places in the source and in the output, where a network wants any."""
    if not dims:
        return ()
    if tables is not None:
        return [TabledPositions(table) for table in tables]
    return [Positions(*dims)] * 2


def _nothing_yet(shape: Sequence[int | str], rows: int) -> NDArray[np.float32]:
    """Return a first state: zeros for each row, nothing along an axis that grows."""
    return np.zeros(
        (rows, *(size if isinstance(size, int) else 0 for size in shape[1:])), np.float32
    )


def _tabulate(
    lists: Sequence[IntArray], vocabulary: int, never: tuple[int, ...]
) -> tuple[IntArray, IntArray]:
    """Return the candidates of each sentence as a table, and where each id stands in it.

    The end of sentence, the first of ``never``, comes first. The last position is always one of
    no token (the id is the vocabulary's size): its score is minus infinity, and whatever is not
    listed points there.
    """
    width = -(-(max(map(len, lists)) + 2) // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE
    ids = np.full((len(lists), width), vocabulary, np.int64)
    position = np.full((len(lists), vocabulary + 1), -1, np.int64)
    for row, places, candidates in zip(ids, position, lists, strict=True):
        others = candidates[~np.isin(candidates, never)]
        row[0] = never[0]
        row[1 : len(others) + 1] = others
        places[row[: len(others) + 1]] = np.arange(len(others) + 1)
    return ids, position


def _positions(batch: _Batch, sentences: IntArray, tokens: IntArray) -> IntArray:
    """Translate ids to positions; PAD and what is not listed become -1, the last position."""
    if batch.position is None or not tokens.size:
        return tokens
    if batch.size == 1:
        return np.take(batch.position[0], tokens)
    return batch.position[sentences[:, None], tokens]


def _without_the_gone(batch: _Batch, sentences: IntArray) -> tuple[_Batch, IntArray]:
    """Drop the memory of sentences that have no rows any more, when it is worth a copy."""
    if batch.size == 1:
        return batch, sentences
    alive = np.zeros(batch.size, bool)
    alive[sentences] = True
    kept = np.flatnonzero(alive)
    if (batch.size - len(kept)) * _COMPACT_AT < len(kept):
        return batch, sentences
    smaller = _Batch(
        len(kept),
        {name: value[kept] for name, value in batch.memory.items()},
        None if batch.ids is None else batch.ids[kept],
        None if batch.position is None else batch.position[kept],
        alone=False,  # what is left may be padded
    )
    return smaller, (np.cumsum(alive) - 1)[sentences]


def _layout(sentences: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Give every row a slot of its sentence.

    Returns the row in each slot (row 0 where a slot is empty), and the slot of each row.
    """
    if size == 1:
        return _one_after_the_other(len(sentences))
    rows = np.arange(len(sentences))
    counts = np.bincount(sentences, minlength=size)
    first = np.cumsum(counts) - counts
    width = int(counts.max())
    places = sentences * width + rows - first[sentences]
    slots = np.zeros(size * width, np.int64)
    slots[places] = rows
    return slots.reshape(size, width), places


@lru_cache(maxsize=256)
def _one_after_the_other(rows: int) -> tuple[IntArray, IntArray]:
    places = np.arange(rows)
    return places[None], places


@lru_cache(maxsize=256)
def _always_hidden(rows: int, tokens: tuple[int, ...]) -> tuple[IntArray, NDArray[np.float32]]:
    hidden = np.stack([np.repeat(np.arange(rows), len(tokens)), np.tile(tokens, rows)], axis=1)
    return hidden, np.full(len(hidden), -np.inf, np.float32)


@lru_cache(maxsize=256)
def _top(number: int) -> IntArray:
    return np.array([number])

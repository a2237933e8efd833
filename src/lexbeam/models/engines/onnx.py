"""The default engine: networks on ONNX Runtime, or compiled where they can be.

The encoder is a graph. A step is one run of the decoder graph (see `lexbeam.models.graphs` for its
inputs), inside which are reordering of the beam, embedding, network, log-softmax, exclusion, top-k
and the scores that were asked for; or one call of the compiled decoder and one of the compiled
output layer. Only small integer arrays are handled here. This code is kept short, because a step
takes a tenth of a millisecond and each call from Python costs a hundredth of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import InputError, ModelError
from lexbeam.models.engines.compiled_decoder import CompiledDecoder
from lexbeam.models.engines.draft_session import DraftSessions, MakeDraft
from lexbeam.models.engines.encoding import Encoder
from lexbeam.models.engines.graph_output import GraphOutput
from lexbeam.models.engines.onnx_batch import Asked, Batch
from lexbeam.models.engines.onnx_decoder import MakeDecoder, OnnxDecoder
from lexbeam.models.engines.onnx_session import open_session
from lexbeam.models.engines.output import CompiledOutput
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.positions import SinusoidalPositions, TabledPositions
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import IntArray
from lexbeam.search.scorer import Scores, WholeDraft

_NOTHING = np.zeros((1, 0), np.int64)


class OnnxState(NamedTuple):
    """The state between two steps."""

    batch: Batch
    step: int
    sentences: IntArray  # shape: (rows,), the sentence of each row, within the batch
    decoder: Any  # the decoder's own


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
        alignment: tuple[int, int | None] | None = None,
    ) -> None:
        self._drafts = DraftSessions(make_draft, threads)
        self.attends = make_attending is not None
        self._encoder = Encoder(open_session(graphs.encoder, threads))
        self._vocabulary_size = tokens.vocabulary_size
        self._source_size = tokens.source_vocabulary_size or tokens.vocabulary_size
        self._eos = tokens.eos
        self._output_start = tuple(tokens.output_start) or (tokens.vocabulary_size,)
        self.word_starts = tokens.word_starts
        self._shortlist = shortlist
        sample = np.zeros(0, np.int64) if shortlist is None else shortlist.sample
        self._output: CompiledOutput | GraphOutput = GraphOutput(tokens, sample)
        if graphs.output is not None:
            self._output = CompiledOutput(graphs.output, tokens, shortlist)
        self._decoder: CompiledDecoder | OnnxDecoder
        if graphs.ssru is not None:
            self._decoder = CompiledDecoder(graphs.ssru, alignment)
        else:
            further = self._output.answers, positions, threads, make_attending
            self._decoder = OnnxDecoder(graphs, *further)
        self._positions = _source_positions(self._encoder.dim_of_positions, positions)
        self._try_out()

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
        if self._positions is not None:
            feed["positions"] = self._positions.between(0, tokens.shape[1])
        lists: Any = None
        if self._shortlist is not None:
            pairs = zip(sources, wanted, strict=True)
            lists = self._output.lists([self._shortlist.candidates(*each) for each in pairs])
            feed |= self._output.for_encoder(lists)
        found = self._encode(feed, lengths) | self._output.memory(lists)
        memory, decoder, single, for_draft = self._decoder.begin(found, lengths)
        numbers = np.arange(count)
        batch = Batch(count, memory, single, lists, numbers, for_draft)
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
            batch, sentences = self._decoder.narrow(batch, state.sentences[parents])
        asked = Asked(ask, ban, hold, top)
        feed = self._output.feed(batch, sentences, asked)
        given = state.decoder, state.step, tokens, parents, feed, attention
        answers, decoder, looks = self._decoder.run(batch, sentences, *given)
        scored = self._output.read(batch, sentences, asked, answers)
        return Scores(*scored, OnnxState(batch, state.step + 1, sentences, decoder), looks)

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
        assert isinstance(self._decoder, OnnxDecoder)  # for whom the output layer is in the graph
        feed = {**batch.memory, **batch.for_draft, **state.decoder, "tokens": np.array([self.bos])}
        feed |= self._output.feed(batch, first, asked)
        feed["places"] = np.array(longest + 1)
        if self._decoder.positions is not None:
            last = state.step + longest + 1
            feed["positions"] = self._decoder.positions.between(state.step, last)
        if batch.lists is not None:
            feed["ids"] = batch.lists.ids[0]
        answers = self._drafts.run(feed, attention)
        if answers is None:
            return None
        top_scores, top_ids, ask_scores, *looks = answers
        top_ids = top_ids if batch.lists is None else batch.lists.ids[0].take(top_ids)
        return WholeDraft(top_scores, top_ids, ask_scores, *looks)

    def _draft_by_steps(
        self, state: OnnxState, asked: Asked, places: int, attends: bool
    ) -> WholeDraft:
        """Write a draft step by step, with no more around a step than it needs."""
        batch, first, decoder = state.batch, np.zeros(1, np.int64), state.decoder
        tokens, found, looks = np.array([self.bos]), [], []
        for number in range(state.step, state.step + places):
            run = self._decoder.run(batch, first, decoder, number, tokens, first, {}, attends)
            answers, decoder, look = run
            scored = self._output.read(batch, first, asked, answers)
            found.append(scored)
            looks += [] if look is None else [look]
            best, (tokens,), scores = scored
            if scores[0, 0] >= best[0, 0]:
                break
        best, ids, scores = (np.concatenate(each) for each in zip(*found, strict=True))
        return WholeDraft(best, ids, scores, np.concatenate(looks) if attends else None)

    def _encode(self, feed: dict[str, Any], lengths: IntArray) -> dict[str, Any]:
        return self._encoder.run(feed, lengths)


def _check_source(tokens: IntArray, size: int) -> None:
    """Refuse what is not in the source vocabulary. # shape: (sentences, time)."""
    outside = (tokens < 0) | (tokens >= size)
    if outside.any():
        sentence, index = np.argwhere(outside)[0]
        raise InputError(
            f"sentence {sentence}: token {tokens[sentence, index]} is outside the source "
            f"vocabulary of {size}"
        )


def _source_positions(
    dim: int | None, tables: tuple[Float32, Float32] | None
) -> SinusoidalPositions | TabledPositions | None:
    """Return the embeddings of positions of a source, if the network takes any."""
    if dim is None:
        return None
    return SinusoidalPositions(dim) if tables is None else TabledPositions(tables[0])


@lru_cache(maxsize=256)
def _only_sentence(rows: int) -> IntArray:
    return np.zeros(rows, np.int64)

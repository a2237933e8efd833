"""Hugging Face models on PyTorch as they are: whatever ``generate`` can run can be searched.

The model is called as the library's own beam search calls it, with the inputs that ``generate``
has prepared, and the library's functions reorder its caches. Two things are done less often. Only
live rows are scored: a sentence starts as one row, not as a beam of equal rows, and leaves when it
is finished. What all rows of a sentence share, such as the keys of its source, is reordered only
when a sentence leaves.

Scores of the whole vocabulary stay on the device: a step reads back the best few tokens per row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import EncoderDecoderCache, GenerationConfig, GenerationMixin, PreTrainedModel

from lexbeam.errors import ModelError
from lexbeam.models.engines.layout import Layout
from lexbeam.models.engines.transformers_attention import (
    WITH_ATTENTION,
    Alignment,
    gives_attention,
    plain_attention,
    read_attention,
)
from lexbeam.search.arrays import PAD, IntArray, ScoreArray
from lexbeam.search.scorer import Scores

CACHES = ("past_key_values", "cache_params", "state", "mems", "past_buckets_states")
"""The names of the arguments in which models keep their caches."""

_POSITIONS = ("position_ids", "decoder_position_ids")
_WITHOUT_ROWS = ("cache_position",)

_TOLD_LENGTH = "next_sequence_length" in (
    signature(GenerationMixin.prepare_inputs_for_generation).parameters
)
"""Whether this version of the library has to be told how many tokens are new."""

Processor = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Prompt:
    """What ``generate`` prepares for a batch: one row per sentence and beam."""

    input_ids: Tensor  # shape: (sentences · beams, prompt)
    model_kwargs: dict[str, Any]
    generation_config: GenerationConfig
    beams: int

    @property
    def sentences(self) -> int:
        """The number of sentences."""
        return len(self.input_ids) // self.beams


@dataclass
class State:
    """The rows between two steps. Caches are changed in place, so there is only one of these."""

    ids: Tensor  # shape: (rows, prompt and output so far)
    kwargs: dict[str, Any]
    sentences: IntArray  # shape: (rows,)
    cache_rows: IntArray  # shape: (rows,), the row of the caches that belongs to each row
    started: bool = False
    attention: ScoreArray | None = None  # shape: (rows, source), of the last step, if asked for


class TransformersEngine:
    """A Scorer for one prepared batch; of the sources it is started with, only the number counts.

    ``ends`` are the tokens that end an output; a model may have none. ``processor`` changes the
    log-probabilities, given the ids and scores of rows as `Layout` arranges them. ``criteria``
    says which outputs stop. ``watch`` is called with the logits and the processed
    log-probabilities of each step, arranged in the same way, and whether it is the first of a
    search.

    A model with an encoder can say where it looks, for each position of its padded source:
    ``alignment`` is the decoder layer and head, by default all heads of the last layer. ``wider``
    says how many times as wide as the prompt's the beam may get.
    """

    restarts = False  # its caches grow in place

    def __init__(
        self,
        model: PreTrainedModel,
        prompt: Prompt,
        ends: Sequence[int],
        *,
        processor: Processor | None = None,
        row_by_row: bool = True,
        criteria: Callable[[Tensor], Tensor] | None = None,
        word_starts: NDArray[np.bool_] | None = None,
        watch: Callable[[Tensor, Tensor, bool], None] | None = None,
        alignment: Alignment | None = None,
        wider: int = 1,
    ) -> None:
        self._model: Any = model
        self._prompt = prompt
        self._size = output_size(model)
        self.ends = list(ends) or [self._size]  # a token beyond all others never comes
        self._processor = processor
        self._row_by_row = row_by_row
        self._watch = watch
        self._alignment = alignment
        self._layout = Layout(prompt.sentences, prompt.beams, wider)
        self.word_starts = word_starts
        self._word_starts = None if word_starts is None else torch.from_numpy(word_starts)
        self._criteria = criteria
        self.stops = self._stops if criteria is not None else None
        self.attends = bool(model.config.is_encoder_decoder)

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids."""
        return max(self._size, self.eos + 1)

    @property
    def bos(self) -> int:
        """Not used: the prompt is before the output."""
        return 0

    @property
    def eos(self) -> int:
        """The first of the tokens that end the output."""
        return self.ends[0]

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> State:  # noqa: ARG002
        """Take one row per sentence of what was prepared for all beams."""
        prompt, model = self._prompt, self._model
        if len(sources) != prompt.sentences:
            raise ModelError(f"{len(sources)} sources for a prompt of {prompt.sentences}")
        kwargs, ids = dict(prompt.model_kwargs), prompt.input_ids
        if model.config.is_encoder_decoder:  # it may be started again, for a draft
            kwargs |= {name: deepcopy(kwargs[name]) for name in CACHES if name in kwargs}
        sentences = np.arange(prompt.sentences)
        one_of_each = sentences * prompt.beams
        if _repeats_rows(model, kwargs):
            _take_rows(kwargs, torch.from_numpy(one_of_each), [*kwargs])
            return State(ids[:: prompt.beams], kwargs, sentences, sentences)
        return State(ids, kwargs, sentences, one_of_each)

    @torch.no_grad()
    def step(
        self,
        state: State,
        tokens: IntArray,  # shape: (rows,)
        parents: IntArray,  # shape: (rows,)
        ask: IntArray,  # shape: (rows, asked)
        ban: IntArray,  # shape: (rows, banned)
        top: int,
        hold: NDArray[np.bool_] | None = None,  # shape: (rows,)
        attention: bool = False,
    ) -> Scores:
        """Score the next token of every row."""
        is_first = not state.started
        if attention or WITH_ATTENTION in state.kwargs:
            state.kwargs[WITH_ATTENTION] = attention or None
        with plain_attention(self._model) if attention else nullcontext():
            logits = (
                self._next_logits(state, tokens, parents)
                if state.started
                else self._first_logits(state)
            )
        scores, norm = self._log_probs(state, logits, is_first)
        answer = self._answer(scores, norm, ask, ban, top, hold)
        return answer._replace(state=state, attention=state.attention if attention else None)

    @torch.no_grad()
    def attends_to(self, width: int) -> bool:
        """Return whether the model says where it looks in sources of so many tokens."""
        if not self.attends:
            return False
        state = self.start(range(self._prompt.sentences), [])
        state.kwargs[WITH_ATTENTION] = True
        with plain_attention(self._model):
            outputs = self._model._prefill(state.ids, self._prompt.generation_config, state.kwargs)
        if not gives_attention(outputs):
            return False
        attention = read_attention(self._model, outputs, self._alignment)
        return bool(attention.shape[1] == width)

    def _first_logits(self, state: State) -> Tensor:
        """Run the model over the prompt. # shape: (sentences, vocabulary)."""
        outputs = self._model._prefill(state.ids, self._prompt.generation_config, state.kwargs)
        logits = self._logits(state, outputs)
        if len(logits) != len(state.cache_rows):
            logits, state.ids = logits[state.cache_rows], state.ids[state.cache_rows]
            if state.attention is not None:
                state.attention = state.attention[state.cache_rows]
        state.started = True
        return logits

    def _next_logits(self, state: State, tokens: IntArray, parents: IntArray) -> Tensor:
        """Add a token to every row and run the model. # shape: (rows, vocabulary)."""
        model, device = self._model, state.ids.device
        rows = torch.from_numpy(np.ascontiguousarray(parents)).to(device)
        taken = torch.from_numpy(np.ascontiguousarray(tokens)).to(device)
        state.ids = torch.cat((state.ids.index_select(0, rows), taken[:, None]), dim=1)
        self._reorder(state, parents)
        one = {"next_sequence_length": 1} if _TOLD_LENGTH and state.kwargs.get("use_cache") else {}
        inputs = model.prepare_inputs_for_generation(state.ids, **one, **state.kwargs)
        return self._logits(state, model(**inputs, return_dict=True))

    def _logits(self, state: State, outputs: Any) -> Tensor:
        """Return the logits of the last token, and prepare the inputs of the next step."""
        model = self._model
        state.kwargs = model._update_model_kwargs_for_generation(
            outputs, state.kwargs, is_encoder_decoder=model.config.is_encoder_decoder
        )
        if state.kwargs.get(WITH_ATTENTION):
            state.attention = read_attention(model, outputs, self._alignment)
        logits: Tensor = outputs.logits[:, -1, :]
        return logits.to(state.ids.device)

    def _reorder(self, state: State, parents: IntArray) -> None:
        """Bring caches and inputs into the order of the new rows."""
        cache_rows, sentences = state.cache_rows[parents], state.sentences[parents]
        whole = np.arange(len(cache_rows))
        same_sentences = np.array_equal(sentences, state.sentences)
        state.cache_rows, state.sentences = whole, sentences
        if same_sentences and np.array_equal(cache_rows, whole):
            return
        rows = torch.from_numpy(cache_rows).to(state.ids.device)
        name = next((name for name in CACHES if state.kwargs.get(name) is not None), None)
        if name is not None:
            cache = state.kwargs[name]
            state.kwargs[name] = _reordered(self._model, cache, rows, same_sentences)
        if not same_sentences:
            _take_rows(state.kwargs, rows, [key for key in state.kwargs if key not in CACHES])

    def _log_probs(
        self, state: State, logits: Tensor, is_first: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return log-probabilities and None, or logits and their normaliser.

        # shape: (rows, vocabulary), (rows, 1). Only processors need the log-probabilities of all
        tokens; without them, one pass over the vocabulary is saved.
        """
        logits = logits.float()
        if self._processor is None and self._watch is None:
            return logits, logits.logsumexp(dim=1, keepdim=True)
        scores = torch.log_softmax(logits, dim=1)
        layout = self._layout
        layout.update(state.ids, state.sentences, is_first)
        if self._processor is not None:
            if self._row_by_row:
                scores = self._processor(state.ids, scores)
            else:
                scores = layout.process(self._processor, scores)
        if self._watch is not None:
            self._watch(layout.widen(logits), layout.widen(scores), is_first)
            scores = scores.clone()
        return scores, None

    def _answer(
        self,
        scores: Tensor,  # shape: (rows, vocabulary), changed on the way
        norm: Tensor | None,  # shape: (rows, 1)
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: NDArray[np.bool_] | None,
    ) -> Scores:
        size, device = scores.shape[1], scores.device
        none = (ask < 0) | (ask >= size)
        asked = scores.gather(1, torch.from_numpy(np.where(none, 0, ask)).to(device))
        if self.eos < size:
            scores[:, self.eos] = -torch.inf
        if ban.size:
            row, column = (ban != PAD).nonzero()
            hidden = torch.from_numpy(ban[row, column]).to(device)
            scores[torch.from_numpy(row).to(device), hidden] = -torch.inf
        if hold is not None and self._word_starts is not None:
            held = torch.from_numpy(hold)[:, None] & self._word_starts[:size]
            scores.masked_fill_(held.to(device), -torch.inf)
        best = scores.topk(min(top, size), dim=1)
        values = best.values
        if norm is not None:
            asked, values = asked - norm, values - norm
        ask_scores = np.where(none, -np.inf, asked.cpu().numpy())
        top_scores, top_ids = values.cpu().numpy(), best.indices.cpu().numpy()
        if size < top:
            missing = ((0, 0), (0, top - size))
            top_scores = np.pad(top_scores, missing, constant_values=-np.inf)
            top_ids = np.pad(top_ids, missing)
        return Scores(top_scores, top_ids, ask_scores, None)

    @torch.no_grad()
    def _stops(self, state: State, parents: IntArray, tokens: IntArray) -> NDArray[np.bool_]:
        """Return a mask of the outputs that the criteria stop, in the shape of ``tokens``."""
        assert self._criteria is not None
        device = state.ids.device
        rows = torch.from_numpy(parents.ravel()).to(device)
        taken = torch.from_numpy(np.maximum(tokens.ravel(), 0)).to(device)
        outputs = torch.cat((state.ids.index_select(0, rows), taken[:, None]), dim=1)
        stopped: NDArray[np.bool_] = self._criteria(outputs).cpu().numpy()
        return stopped.reshape(tokens.shape)


def output_size(model: PreTrainedModel) -> int:
    """Return the number of tokens that a model scores."""
    head = model.get_output_embeddings()
    weight = getattr(head, "weight", None)
    if weight is not None:
        return int(weight.shape[0])
    return int(model.config.get_text_config(decoder=True).vocab_size)


def _repeats_rows(model: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether the beams of a sentence are copies of one row, so that one is enough."""
    expand = getattr(type(model)._expand_inputs_for_generation, "__func__", None)
    own = expand or type(model)._expand_inputs_for_generation
    return own is GenerationMixin._expand_inputs_for_generation and (
        kwargs.get("mm_encoder_outputs") is None and _is_empty(kwargs.get("past_key_values"))
    )


def _is_empty(cache: Any) -> bool:
    return cache is None or not hasattr(cache, "get_seq_length") or cache.get_seq_length() == 0


def _take_rows(kwargs: dict[str, Any], rows: Tensor, keys: Sequence[str]) -> None:
    """Select rows of all inputs that have rows, the same inputs that ``generate`` repeats."""
    for key in keys:
        value = kwargs[key]
        if key in _WITHOUT_ROWS:
            continue
        if key == "encoder_outputs":
            kwargs[key] = type(value)(**{name: _rows_of(v, rows, 0) for name, v in value.items()})
        else:
            axis = 1 if key in _POSITIONS and isinstance(value, Tensor) and value.ndim == 3 else 0
            kwargs[key] = _rows_of(value, rows, axis)


def _rows_of(value: Any, rows: Tensor, axis: int) -> Any:
    if isinstance(value, Tensor) and value.ndim:
        return value.index_select(axis, rows.to(value.device))
    return value


def _reordered(model: Any, cache: Any, rows: Tensor, same_sentences: bool) -> Any:
    """Return a cache in the order of the rows, reordered by the library."""
    if hasattr(model, "_reorder_cache"):
        return model._reorder_cache(cache, rows)
    if not hasattr(cache, "reorder_cache"):
        raise ModelError(
            f"{type(model).__name__} keeps its cache in a {type(cache).__name__}, which can't be "
            "reordered: pass use_cache=False"
        )
    if same_sentences and isinstance(cache, EncoderDecoderCache):
        cache.self_attention_cache.reorder_cache(rows)  # the source of each row is as it was
    else:
        cache.reorder_cache(rows)
    return cache

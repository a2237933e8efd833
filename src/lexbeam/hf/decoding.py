"""`generate` and `constrained`: functions for ``model.generate(custom_generate=…)``.

``generate`` of transformers prepares everything (it runs the encoder, makes the cache, reads
the generation config, sets up logits processors and stopping criteria) and then calls the
function it was given for the decoding itself. Ours drives the search of all lexbeam models,
with the ending rules of the library: without constraints it returns what ``num_beams`` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteriaList,
)

from lexbeam.arguments import as_length, as_list
from lexbeam.errors import ConstraintError, InputError, SettingError, represented
from lexbeam.hf.alignment import find_alignment, read_alignment
from lexbeam.hf.config import (
    Plan,
    are_row_by_row,
    own_criteria,
    read_plan,
    refuse_fixed_cache,
)
from lexbeam.hf.output import Record, as_asked, fill_token, pack
from lexbeam.hf.sources import check_sources, read_source_ids
from lexbeam.hf.spelling import Spelled, Speller
from lexbeam.hf.ties import TextTies, is_tied
from lexbeam.models.engines.transformers import Prompt, TransformersEngine, output_size
from lexbeam.models.engines.transformers_attention import Alignment, plain_attention
from lexbeam.search.beam_search import Hypothesis, decode
from lexbeam.search.drafting import FindDisplaced
from lexbeam.search.ties import NARROW

Phrases = Sequence[Sequence[Any]]


def generate(
    model: PreTrainedModel,
    input_ids: Tensor,
    *,
    constraints: Phrases | None = None,
    avoid: Phrases | None = None,
    ties: Sequence[Mapping[int, Sequence[int]]] | None = None,
    alignment: Alignment | None = None,
    inputs_tensor: Tensor | None = None,
    **prepared: Any,
) -> Any:
    """Search for outputs that contain all phrases; to be passed as ``custom_generate``.

    ``constraints`` has a list of phrases for each sentence, each a list of token ids, that its
    output must have; ``avoid`` those that it must not have. ``ties`` has for each sentence the
    places of source tokens in the encoder's input that phrases translate, by the indices of the
    phrases; ``alignment`` is the decoder layer and head that say where the model attends. They
    are given to ``generate`` along with its own arguments; ``inputs_tensor`` and ``prepared`` are
    what that makes of them. Only new tokens count, never the prompt.

    Raises:
        SettingError: the generation config asks for sampling or another way of decoding.
        ConstraintError: a phrase is malformed, or can't be met whatever the model says.
    """
    given = _read_ties(ties)
    tying = Tying(read_alignment(alignment), lambda _: given, any(given.tokens))
    asked = Spelled(constraints, avoid)
    return _search(asked, tying, model, input_ids, inputs_tensor=inputs_tensor, **prepared)


def constrained(
    tokenizer: PreTrainedTokenizerBase,
    constraints: Sequence[Sequence[Any] | None] | None = None,
    avoid: Sequence[Sequence[Any] | None] | None = None,
    *,
    sources: Sequence[str] | None = None,
    ties: str = "on",
    alignment: Alignment | None = None,
) -> Callable[..., Any]:
    """Return a ``custom_generate`` that places phrases given as text, one list per sentence.

    They count as whole words wherever the tokenizer shows where words begin.

    Args:
        tokenizer: that of the model.
        constraints: for each sentence, what its output must have.
        avoid: for each sentence, what it must not have.
        sources: the texts that the model reads; constraints that name their ``source`` by
            offsets need them.
        ties: "off" searches as if no constraint had a source.
        alignment: the decoder layer and head that say where the model attends, counted from 0
            (None for the head: the mean over all); by default those that its card names, or all
            heads of the last layer.
    """
    if not (callable(tokenizer) and hasattr(tokenizer, "convert_ids_to_tokens")):
        raise SettingError(f"the tokenizer must be that of the model, not {represented(tokenizer)}")
    if ties not in ("on", "off"):
        raise SettingError(f"unknown ties {ties!r}; choose one of: on, off")
    asked, texts = Speller(tokenizer).spell(constraints, avoid), check_sources(sources)

    def tie(source_ids: Sequence[Sequence[int]]) -> TextTies:
        return TextTies(tokenizer, asked.asked, asked.phrases or (), texts, source_ids)

    is_asked = ties == "on" and any(map(is_tied, asked.asked))
    return partial(_search, asked, Tying(read_alignment(alignment), tie, is_asked))


class GivenTies(NamedTuple):
    """Ties that were given as tokens: which words they displace is not known."""

    tokens: Sequence[Mapping[int, Sequence[int]]]
    find_displaced: None = None


def _read_ties(given: Sequence[Mapping[int, Sequence[int]]] | None) -> GivenTies:
    if given is None:
        return GivenTies(())
    if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
        raise InputError(
            "ties must be a list with, for each sentence, the source tokens of phrases by their "
            "indices"
        )
    return GivenTies(given)


class Tying(NamedTuple):
    """How phrases are tied to the source."""

    alignment: Alignment | None
    """The layer and head that the caller names."""
    tie: Callable[[Sequence[Sequence[int]]], GivenTies | TextTies]
    """Returns the ties, given the tokens of the sources."""
    is_asked: bool
    """Whether any phrase is tied."""


def _search(
    asked: Spelled,
    tying: Tying,
    model: PreTrainedModel,
    input_ids: Tensor,
    logits_processor: LogitsProcessorList | None = None,
    stopping_criteria: StoppingCriteriaList | None = None,
    generation_config: GenerationConfig | None = None,
    synced_gpus: bool = False,
    inputs_tensor: Tensor | None = None,
    **model_kwargs: Any,
) -> Any:
    config, processors = generation_config, logits_processor or LogitsProcessorList()
    if config is None:
        raise InputError("give this to model.generate as custom_generate; don't call it directly")
    if synced_gpus:
        raise SettingError("synced_gpus can't be honoured by constrained search; leave it out")
    refuse_fixed_cache(model_kwargs)
    plan = read_plan(config, input_ids.shape[1])
    prompt = Prompt(input_ids, model_kwargs, config, plan.beams)
    _check(asked, plan, prompt.sentences)
    record, wider = Record(config), NARROW.wider if tying.is_asked else 1
    boundary, _ = asked.masks(output_size(model) + (not plan.ends), plan.ends)
    stop = own_criteria(stopping_criteria, config)
    engine = TransformersEngine(
        model,
        prompt,
        plan.ends,
        processor=processors or None,
        row_by_row=are_row_by_row(processors),
        criteria=None if stop is None else lambda ids: stop(ids, record.scores),
        word_starts=boundary,
        watch=record.add if record.is_wanted else None,
        alignment=tying.alignment or (find_alignment(model) if tying.is_asked else None),
        wider=wider,
    )
    if tying.is_asked:
        mask = model_kwargs.get("attention_mask")
        found = _decode_tied(engine, model, asked, plan, tying, inputs_tensor, mask)
    else:
        found = _decode(engine, range(prompt.sentences), asked, plan)
    found = [asked.clean_first(i, each) for i, each in enumerate(found)]
    slots = plan.beams * wider
    packed = pack(found, input_ids[:: plan.beams], slots, plan.returned, fill_token(config))
    return as_asked(config, packed, record, model.config.is_encoder_decoder)


def _decode_tied(
    engine: TransformersEngine,
    model: PreTrainedModel,
    asked: Spelled,
    plan: Plan,
    tying: Tying,
    inputs: Tensor | None,
    mask: Tensor | None,
) -> list[list[Hypothesis]]:
    """Search for the outputs of a batch with phrases that are tied to their sources.

    Where words that they displace leave no output, nothing is displaced. A model that can't say
    where it attends is searched as without ties.
    """
    if not model.config.is_encoder_decoder:
        raise InputError(
            f"{type(model).__name__} has no source beside its prompt that a phrase could be tied "
            "to: leave source out"
        )
    sources = read_source_ids(inputs, None if mask is None else mask[:: plan.beams])
    ties = tying.tie(sources)
    with plain_attention(model):
        if not engine.attends_to(max(map(len, sources), default=0)):
            return _decode(engine, sources, asked, plan)
        if ties.find_displaced is not None:
            with suppress(ConstraintError):
                found = _decode(engine, sources, asked, plan, ties.tokens, ties.find_displaced)
                if all(found):
                    return found
        return _decode(engine, sources, asked, plan, ties.tokens)


def _decode(
    engine: TransformersEngine,
    sources: Sequence[Any],
    asked: Spelled,
    plan: Plan,
    ties: Sequence[Mapping[int, Sequence[int]]] | None = None,
    find_displaced: FindDisplaced | None = None,
) -> list[list[Hypothesis]]:
    boundary, closing = asked.masks(engine.vocabulary_size, plan.ends)
    return decode(
        engine,
        sources,
        asked.phrases,
        asked.avoid,
        boundary=boundary,
        closing=closing,
        joining=asked.joins(engine.vocabulary_size),
        ties=ties,
        find_displaced=find_displaced,
        **plan.settings(len(sources)),
    )


def _check(asked: Spelled, plan: Plan, sentences: int) -> None:
    """Raise for lists of the wrong length, and for phrases with an end of sentence in them."""
    for name, lists in (("constraints", asked.phrases), ("avoid", asked.avoid)):
        if lists is None:
            continue
        if as_list(lists) is None or as_length(lists) is None:
            raise InputError(
                f"{name} must be a list with a list of phrases for each sentence, "
                f"not {represented(lists)}"
            )
        if len(lists) != sentences:
            raise InputError(
                f"{name} has {len(lists)} entries for {sentences} sentences; "
                "give one list a sentence, an empty one for none"
            )
        for i, phrases in enumerate(lists):
            for phrase in phrases if isinstance(phrases, list | tuple) else ():
                inside = [t for t in phrase if t in plan.ends] if _is_plain(phrase) else []
                if inside:
                    raise ConstraintError(
                        f"sentence {i}: {name} {list(phrase)} has the end-of-sentence token "
                        f"{inside[0]} in it"
                    )


def _is_plain(phrase: Any) -> bool:
    return isinstance(phrase, list | tuple)

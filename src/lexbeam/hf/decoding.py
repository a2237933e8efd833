"""`generate` and `constrained`: functions for ``model.generate(custom_generate=…)``.

``generate`` of transformers prepares everything (it runs the encoder, makes the cache, reads
the generation config, sets up logits processors and stopping criteria) and then calls the
function it was given for the decoding itself. Ours drives the search of all lexbeam models,
with the ending rules of the library: without constraints it returns what ``num_beams`` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteriaList,
)

from lexbeam.errors import ConstraintError, InputError, SettingError
from lexbeam.hf.config import (
    Plan,
    are_row_by_row,
    own_criteria,
    read_plan,
    refuse_fixed_cache,
)
from lexbeam.hf.output import Record, as_asked, fill_token, pack
from lexbeam.hf.spelling import Spelled, Speller
from lexbeam.models.engines.transformers import Prompt, TransformersEngine, output_size
from lexbeam.search.beam_search import decode

Phrases = Sequence[Sequence[Any]]


def generate(
    model: PreTrainedModel,
    input_ids: Tensor,
    *,
    constraints: Phrases | None = None,
    avoid: Phrases | None = None,
    **prepared: Any,
) -> Any:
    """Search for outputs that contain all phrases; to be passed as ``custom_generate``.

    ``constraints`` has a list of phrases for each sentence, each a list of token ids, that its
    output must have; ``avoid`` those that it must not have. They are given to ``generate``
    along with its own arguments; ``prepared`` is what that makes of them. Only new tokens
    count, never the prompt.

    Raises:
        SettingError: the generation config asks for sampling or another way of decoding.
        ConstraintError: a phrase is malformed, or can't be met whatever the model says.
    """
    return _search(Spelled(constraints, avoid), model, input_ids, **prepared)


def constrained(
    tokenizer: PreTrainedTokenizerBase,
    constraints: Sequence[Sequence[str] | None] | None = None,
    avoid: Sequence[Sequence[str] | None] | None = None,
) -> Callable[..., Any]:
    """Return a ``custom_generate`` that places phrases given as text, one list per sentence.

    They count as whole words wherever the tokenizer shows where words begin.
    """
    return partial(_search, Speller(tokenizer).spell(constraints, avoid))


def _search(
    asked: Spelled,
    model: PreTrainedModel,
    input_ids: Tensor,
    logits_processor: LogitsProcessorList | None = None,
    stopping_criteria: StoppingCriteriaList | None = None,
    generation_config: GenerationConfig | None = None,
    synced_gpus: bool = False,
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
    record = Record(config)
    boundary, closing = asked.masks(output_size(model) + (not plan.ends), plan.ends)
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
    )
    found = decode(
        engine,
        range(prompt.sentences),
        asked.phrases,
        asked.avoid,
        boundary=boundary,
        closing=closing,
        joining=asked.joins(engine.vocabulary_size),
        **plan.settings(prompt.sentences),
    )
    found = [asked.clean_first(i, each) for i, each in enumerate(found)]
    packed = pack(found, input_ids[:: plan.beams], plan.beams, plan.returned, fill_token(config))
    return as_asked(config, packed, record, model.config.is_encoder_decoder)


def _check(asked: Spelled, plan: Plan, sentences: int) -> None:
    """Raise for lists of the wrong length, and for phrases with an end of sentence in them."""
    for name, lists in (("constraints", asked.phrases), ("avoid", asked.avoid)):
        if lists is None:
            continue
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

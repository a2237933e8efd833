"""The settings of ``generate`` as settings of the search.

Every setting of a generation config that bears on beam search is honoured by its own name and
meaning; whatever asks for another way of decoding is refused, never ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from transformers import (
    EosTokenCriteria,
    GenerationConfig,
    LogitsProcessorList,
    MaxLengthCriteria,
    StoppingCriteriaList,
)
from transformers.cache_utils import StaticLayer
from transformers.generation import (
    ExponentialDecayLengthPenalty,
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    GenerationMode,
    InfNanRemoveLogitsProcessor,
    MinLengthLogitsProcessor,
    MinNewTokensLengthLogitsProcessor,
    NoBadWordsLogitsProcessor,
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    SuppressTokensAtBeginLogitsProcessor,
    SuppressTokensLogitsProcessor,
)

from lexbeam.errors import SettingError, represented

Number = TypeVar("Number", int, float)

_MODES = (GenerationMode.BEAM_SEARCH, GenerationMode.GREEDY_SEARCH)

_STOPS: dict[Any, str] = {True: "full", False: "now", "never": "bound"}
"""The search's names for the values of ``early_stopping``."""

_ROW_BY_ROW = {
    ExponentialDecayLengthPenalty,
    ForcedBOSTokenLogitsProcessor,
    ForcedEOSTokenLogitsProcessor,
    InfNanRemoveLogitsProcessor,
    MinLengthLogitsProcessor,
    MinNewTokensLengthLogitsProcessor,
    NoBadWordsLogitsProcessor,
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    SuppressTokensAtBeginLogitsProcessor,
    SuppressTokensLogitsProcessor,
}
"""Processors that treat each row by itself, so that they can be given live rows only."""


@dataclass(frozen=True)
class Plan:
    """How to search, read from a generation config."""

    beams: int
    returned: int
    stop: str
    length_penalty: float
    limit: int
    """The largest number of new tokens, without the end."""
    cut: bool
    """Whether an output may stop at the limit without an end."""
    ends: list[int]
    first: int | None
    """The token that every output begins with."""

    def settings(self, sentences: int) -> dict[str, Any]:
        """Return the arguments of `search.decode` that make it end as ``generate`` does."""
        return {
            "prefix": None if self.first is None else [[self.first]] * sentences,
            "beam_size": self.beams,
            "nbest": self.beams,
            "prune": None,
            "stop": self.stop,
            "length_penalty": self.length_penalty,
            "max_length": self.limit,
            "aside": True,
            "cut": self.cut,
        }


def read_plan(config: GenerationConfig, prompt_length: int) -> Plan:
    """Return what a config asks for; raise if it asks for another way of decoding."""
    refuse_other_ways(config)
    beams = _number("num_beams", config.num_beams or 1, int)
    returned = _number("num_return_sequences", config.num_return_sequences or 1, int)
    if returned > beams:
        raise SettingError(
            f"num_return_sequences is {returned}, but num_beams only {beams}: raise num_beams"
        )
    early = config.early_stopping if beams > 1 else True  # greedy search takes the first end
    if early not in _STOPS:
        raise SettingError(f'early_stopping must be True, False or "never", not {early!r}')
    ends, forced_end = _ids(config.eos_token_id), _ids(config.forced_eos_token_id)
    limit = int(config.max_length) - prompt_length
    # An end that is forced as the last token leaves room for one token fewer.
    closes = bool(forced_end) and forced_end[0] in ends
    if closes:
        ends = [forced_end[0], *(end for end in ends if end != forced_end[0])]
    forced_first = config.forced_bos_token_id if prompt_length == 1 else None
    first = None if forced_first is None else _number("forced_bos_token_id", forced_first, int)
    return Plan(
        beams=beams,
        returned=returned,
        stop=_STOPS[early],
        length_penalty=_number("length_penalty", config.length_penalty, float),
        limit=limit - 1 if closes else limit,
        cut=not closes,
        ends=ends,
        first=None if first is None or first in ends else first,
    )


def refuse_other_ways(config: GenerationConfig) -> None:
    """Raise if the config asks for something that constrained beam search does not do."""
    if config.do_sample:
        raise SettingError("do_sample=True: constrained search does not sample; leave it out")
    if not (config.use_cache is None or isinstance(config.use_cache, bool)):
        raise SettingError(f"use_cache must be True or False, not {represented(config.use_cache)}")
    mode = config.get_generation_mode()
    if mode not in _MODES:
        raise SettingError(
            f"these settings ask for {mode.value.replace('_', ' ')}; constrained search is beam "
            "search: set num_beams and leave out what asks for the other"
        )
    for name in ("output_attentions", "output_hidden_states", "low_memory", "token_healing"):
        if getattr(config, name, None):
            raise SettingError(f"{name} can't be honoured by constrained search; leave it out")


def refuse_fixed_cache(kwargs: dict[str, Any]) -> None:
    """Raise if the cache has a fixed number of rows; the search changes the number in each step."""
    cache = kwargs.get("past_key_values")
    parts = (cache, getattr(cache, "self_attention_cache", None))
    layers = [layer for part in parts for layer in getattr(part, "layers", ())]
    if any(isinstance(layer, StaticLayer) for layer in layers):
        raise SettingError(
            "a static cache has a fixed number of rows, constrained search has not; "
            "leave cache_implementation out"
        )


def own_criteria(
    criteria: StoppingCriteriaList | None, config: GenerationConfig
) -> StoppingCriteriaList | None:
    """Return the stopping criteria that the plan does not cover."""
    ends = set(_ids(config.eos_token_id))

    def is_planned(criterion: Any) -> bool:
        if type(criterion) is MaxLengthCriteria:
            return bool(criterion.max_length == config.max_length)
        return type(criterion) is EosTokenCriteria and set(_ids(criterion.eos_token_id)) <= ends

    others = [criterion for criterion in criteria or () if not is_planned(criterion)]
    return StoppingCriteriaList(others) if others else None


def are_row_by_row(processors: LogitsProcessorList) -> bool:
    """Return whether all processors treat each row by itself."""
    return all(type(processor) in _ROW_BY_ROW for processor in processors)


def _number(name: str, given: Any, kind: Callable[[Any], Number]) -> Number:
    try:
        return kind(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise SettingError(f"{name} must be a number, not {represented(given)}") from error


def _ids(given: Any) -> list[int]:
    """Return a list of token ids from a number, a list, a tensor or None."""
    if given is None:
        return []
    if hasattr(given, "tolist"):
        given = given.tolist()
    ids: Sequence[int] = given if isinstance(given, list | tuple) else [given]
    return list(dict.fromkeys(int(token) for token in ids))

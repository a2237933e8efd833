"""What `decode` is called with, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lexbeam.arguments import count_sources
from lexbeam.errors import InputError, SettingError, represented
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.request import Request, read_requests
from lexbeam.search.scorer import Scorer, can_hold, read_ends
from lexbeam.search.settings import Settings, read_flag


def read_settings(given: Any, arguments: Mapping[str, Any]) -> Settings:
    """Return settings with single fields changed."""
    if given is not None and not isinstance(given, Settings):
        raise SettingError(f"settings must be of the class Settings, not {represented(given)}")
    return replace(Settings() if given is None else given, **arguments)


def refuse_wrong_kinds(functions: tuple[Any, Any], *flags: Any) -> None:
    """Raise if an argument of `decode` is no function, or neither true nor false."""
    for name, function in zip(("observer", "find_displaced"), functions, strict=True):
        if function is not None and not callable(function):
            raise InputError(f"{name} must be a function, not {represented(function)}")
    for name, flag in zip(("aside", "cut", "align", "thorough", "insists"), flags, strict=True):
        read_flag(name, flag)


def read_words(scorer: Scorer, boundary: Any, closing: Any, *marks: Any) -> WordBoundaries | None:
    """Return where the words of a scorer's vocabulary begin and end, if that is given."""
    ends = [*read_ends(scorer)]
    return WordBoundaries.of(boundary, closing, scorer.vocabulary_size, ends, *marks)


def read_asked(
    scorer: Scorer,
    sources: Sequence[Any],
    phrases: Any,
    avoid: Any,
    prefix: Any,
    words: WordBoundaries | None,
    whole_prefix: Any,
) -> list[Request]:
    """Return what is asked of each sentence of a batch."""
    asked = phrases, avoid, prefix, scorer.vocabulary_size, read_ends(scorer), words, whole_prefix
    return read_requests(count_sources(sources), *asked, can_hold(scorer))

"""Upper and lower case: which spellings of a phrase will do, and how to find them in a text.

Three rules. ``exact``: as it is written. ``start``: a phrase that is written small may also be
capitalised where it is the first word of a sentence. ``any``: case does not matter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from lexbeam.text.word_boundaries import Span, are_glued, is_word_character, occurrences

Case = Literal["exact", "start", "any"]
CASES: tuple[Case, ...] = get_args(Case)


class Variant(NamedTuple):
    """One way to write a phrase; ``first``: only as the first word of a sentence."""

    text: str
    first: bool = False


def capitalised(phrase: str) -> str:
    """Return a phrase with its first letter large; as it is where that can't be done."""
    large = phrase[:1].title()
    return large + phrase[1:] if phrase[:1].islower() and len(large) == 1 else phrase


def variants(phrase: str, case: Case) -> list[Variant]:
    """Return the ways to write a phrase that a search can look for, the given one first."""
    if case == "exact":
        return [Variant(phrase)]
    large = capitalised(phrase)
    if case == "start":
        return [Variant(phrase)] + ([Variant(large, first=True)] if large != phrase else [])
    spellings = (phrase, phrase.lower(), capitalised(phrase.lower()), phrase.upper())
    return [Variant(spelling) for spelling in dict.fromkeys(spellings)]


def matches(text: str, phrase: str, case: Case, starts: Sequence[int] = (0,)) -> list[Span]:
    """Return where a phrase stands in a text as whole words, from left to right.

    ``starts`` says where the sentences of the text begin, in rising order.
    """
    if case == "any":
        return list(_folded_occurrences(text, phrase))
    spans = list(occurrences(text, phrase))
    large = capitalised(phrase)
    if case == "start" and large != phrase:
        spans += [span for span in occurrences(text, large) if _is_first(text, span[0], starts)]
    return sorted(spans)


def _is_first(text: str, place: int, starts: Sequence[int]) -> bool:
    """Tell whether no word stands between the start of a sentence and a place in it."""
    sentence = bisect_left(starts, place + 1) - 1
    return sentence >= 0 and not any(map(is_word_character, text[starts[sentence] : place]))


def _folded_occurrences(text: str, phrase: str) -> Iterator[Span]:
    """Yield where a phrase stands in a text as whole words, whatever their case."""
    folded, origin = _fold(text)
    wanted = phrase.casefold()
    at = folded.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        whole = origin[at] != origin[at - 1] if at else True
        if whole and (end == len(folded) or origin[end] != origin[end - 1]):
            span = origin[at], origin[end] if end < len(folded) else len(text)
            if _stands_alone(text, span):
                yield span
        at = folded.find(wanted, at + 1)


def _stands_alone(text: str, span: Span) -> bool:
    start, end = span
    begins = start == 0 or not are_glued(text[start - 1], text[start])
    return begins and (end == len(text) or not are_glued(text[end - 1], text[end]))


@lru_cache(maxsize=64)
def _fold(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text without case, and which character each of its characters came from."""
    folded = [character.casefold() for character in text]
    origin = tuple(i for i, piece in enumerate(folded) for _ in piece)
    return "".join(folded), origin

"""Upper and lower case: which spellings of a phrase will do, and how to find them in a text.

There are three rules. ``exact``: as it is written. ``start``: a phrase that is written small may
also be capitalised where it is the first word of a sentence. ``any``: case does not matter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from lexbeam.text.word_boundaries import Span, is_word_character, occurrences, stands_alone

Case = Literal["exact", "start", "any"]
CASES: tuple[Case, ...] = get_args(Case)


class Variant(NamedTuple):
    """One way to write a phrase.

    ``first`` says that it is written so only as the first word of a sentence.
    """

    text: str
    first: bool = False


def capitalised(phrase: str) -> str:
    """Return a phrase with a capital first letter, unchanged if it has no letter to capitalise."""
    large = phrase[:1].title()
    return large + phrase[1:] if phrase[:1].islower() and len(large) == 1 else phrase


def variants(phrase: str, case: Case) -> list[Variant]:
    """Return the ways to write a phrase that a rule allows, the given one first."""
    if case == "exact":
        return [Variant(phrase)]
    large = capitalised(phrase)
    if case == "start":
        return [Variant(phrase)] + ([Variant(large, first=True)] if large != phrase else [])
    spellings = (phrase, phrase.lower(), capitalised(phrase.lower()), phrase.upper())
    return [Variant(spelling) for spelling in dict.fromkeys(spellings)]


def matches(text: str, phrase: str, case: Case, starts: Sequence[int] = (0,)) -> list[Span]:
    """Return the spans at which a phrase stands in a text as whole words, from left to right.

    ``starts`` are the offsets at which the sentences of the text begin, in rising order.
    """
    if case == "any":
        return list(_folded_occurrences(text, phrase))
    spans = list(occurrences(text, phrase))
    large = capitalised(phrase)
    if case == "start" and large != phrase:
        spans += [span for span in occurrences(text, large) if _is_first(text, span[0], starts)]
    return sorted(spans)


def _is_first(text: str, offset: int, starts: Sequence[int]) -> bool:
    """Return whether no word stands between the start of a sentence and an offset in it."""
    sentence = bisect_left(starts, offset + 1) - 1
    return sentence >= 0 and not any(map(is_word_character, text[starts[sentence] : offset]))


def _folded_occurrences(text: str, phrase: str) -> Iterator[Span]:
    """Yield the spans at which a phrase stands in a text as whole words, in any case."""
    folded, origin = _fold(text)
    wanted = phrase.casefold()
    start = folded.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        # A character may fold into several: ß into ss. Half of it is no match.
        whole_start = start == 0 or origin[start] != origin[start - 1]
        if whole_start and (end == len(folded) or origin[end] != origin[end - 1]):
            span = origin[start], origin[end] if end < len(folded) else len(text)
            if stands_alone(text, span):
                yield span
        start = folded.find(wanted, start + 1)


@lru_cache(maxsize=64)
def _fold(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text without case, and the offset in the text of each of its characters."""
    folded = [character.casefold() for character in text]
    origin = tuple(i for i, piece in enumerate(folded) for _ in piece)
    return "".join(folded), origin

"""Upper and lower case: which spellings of a phrase will do, and how to find them in a text.

There are three rules. ``exact``: as it is written. ``start``: a phrase that is written small may
also be capitalised where it is the first word of a sentence. ``any``: case does not matter.
Inside compounds `lexbeam.text.compounds` says more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from lexbeam.text.compounds import (
    MIDDLE,
    begins_word,
    ends_word,
    goes_on_before,
    goes_on_behind,
    lowered,
    may_be_part,
)
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


def compound_spellings(phrase: str, case: Case) -> tuple[list[str], list[str]]:
    """Return how a phrase may be written as the first and as a later part of a compound.

    With ``any``, these are the likely ones; there are more.
    """
    if case == "any":
        whole = [variant.text for variant in variants(phrase, case)]
        return whole, whole
    first = [phrase] if case == "exact" else [phrase, capitalised(phrase)]
    return list(dict.fromkeys(first)), list(dict.fromkeys((phrase, lowered(phrase))))


def matches(
    text: str,
    phrase: str,
    case: Case,
    starts: Sequence[int] = (0,),
    compound: bool = False,
) -> list[Span]:
    """Return the spans at which a phrase stands in a text as whole words, from left to right.

    ``starts`` are the offsets at which the sentences of the text begin, in rising order. With
    ``compound``, also where it is part of a compound.
    """
    if compound and may_be_part(phrase):
        return sorted({*matches(text, phrase, case, starts), *_in_compounds(text, phrase, case)})
    if case == "any":
        return [s for s in _folded_spans(text, phrase) if stands_alone(text, s)]
    spans = list(occurrences(text, phrase)) if phrase in text else []
    if case == "start" and starts and phrase[:1].islower():
        large = capitalised(phrase)
        if large != phrase:
            spans += [span for span in occurrences(text, large) if _is_first(text, span[0], starts)]
    return sorted(spans)


def _is_first(text: str, offset: int, starts: Sequence[int]) -> bool:
    """Return whether no word stands between the start of a sentence and an offset in it."""
    sentence = bisect_left(starts, offset + 1) - 1
    return sentence >= 0 and not any(map(is_word_character, text[starts[sentence] : offset]))


def _in_compounds(text: str, phrase: str, case: Case) -> Iterator[Span]:
    """Yield the spans at which a phrase is the first, the last or a middle part of a compound."""
    first, later = compound_spellings(phrase, case)
    spans = _folded_spans(text, phrase) if case == "any" else _spans(text, {*first, *later})
    for start, end in spans:
        written = text[start:end]
        behind, before = goes_on_behind(text, end), goes_on_before(text, start)
        is_first = behind and begins_word(text, start)
        is_later = before and (ends_word(text, end) or (behind and may_be_part(phrase, MIDDLE)))
        if case != "any":
            is_first, is_later = is_first and written in first, is_later and written in later
        if is_first or is_later:
            yield start, end


def _spans(text: str, phrases: Collection[str]) -> Iterator[Span]:
    """Yield the spans at which phrases stand in a text, as whole words or not."""
    for phrase in phrases:
        start = text.find(phrase)
        while start >= 0:
            yield start, start + len(phrase)
            start = text.find(phrase, start + 1)


def _folded_spans(text: str, phrase: str) -> Iterator[Span]:
    """Yield the spans at which a phrase stands in a text in any case, as whole words or not."""
    folded, origin = _fold(text)
    wanted = phrase.casefold()
    start = folded.find(wanted) if wanted else -1
    while start >= 0:
        end = start + len(wanted)
        # A character may fold into several: ß into ss. Half of it is no match.
        whole_start = start == 0 or origin[start] != origin[start - 1]
        if whole_start and (end == len(folded) or origin[end] != origin[end - 1]):
            yield origin[start], origin[end] if end < len(folded) else len(text)
        start = folded.find(wanted, start + 1)


@lru_cache(maxsize=64)
def _fold(text: str) -> tuple[str, tuple[int, ...]]:
    """Return a text without case, and the offset in the text of each of its characters."""
    folded = [character.casefold() for character in text]
    origin = tuple(i for i, piece in enumerate(folded) for _ in piece)
    return "".join(folded), origin

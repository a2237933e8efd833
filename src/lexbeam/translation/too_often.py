"""What a text has more often than it may: terms where their sources stand, all else anywhere.

A term may not occur more often than its source does, so that none is doubled. Where other sentences
say the same words, these translate other words of the source, and nobody has forbidden them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lexbeam.constraints.matching import find_excess
from lexbeam.translation.document import Document
from lexbeam.translation.placement import sentences_of_sources
from lexbeam.translation.sentence import begun


def find_excessive(document: Document, text: str, starts: Sequence[int]) -> list[int]:
    """Return the numbers of the demands that a text meets more often than they allow.

    ``starts`` are the offsets of its sentences.
    """
    surfaces = [demand.surface for demand in document.demands]
    found = find_excess(text, surfaces, begun(document.sentences, starts))
    if len(document.sentences) == 1:
        return found
    spans = list(pairwise([*starts, len(text)]))
    parts = [text[start:end] for start, end in spans]
    return [number for number in found if _is_excessive(document, number, parts)]


def limits_of_term(document: Document, number: int) -> list[int | None] | None:
    """Return how often each sentence may say a term, all equal ones together; None: any number.

    None for all where it is not a term: its limit is one on the whole text.
    """
    if not _is_term(document, number):
        return None
    once = document.demands[number].surface.once
    equal = {i for i, demand in enumerate(document.demands) if demand.surface.once == once}
    limits = [0] * len(document.sentences)
    places: dict[int, set[int]] = {}
    starts = [sentence.part.start for sentence in document.sentences]
    asked = [demand.asked for demand in document.demands]
    for unit, place in sentences_of_sources(document.units, asked, starts).items():
        if document.units[unit] in equal:
            limits[place] += 1
            places.setdefault(document.units[unit], set()).add(place)
    for each, own in places.items():
        more = (asked[each].at_most or 0) - asked[each].count
        for place in own:
            limits[place] += more
    return [limit or None for limit in limits]


def _is_term(document: Document, number: int) -> bool:
    """Return whether something is demanded of its source, and not kept as it is there."""
    asked = document.demands[number].asked
    is_limited = asked.at_most is not None and asked.is_from_source
    return is_limited and bool(asked.source_spans) and not asked.is_source_in(document.text)


def _is_excessive(document: Document, number: int, parts: Sequence[str]) -> bool:
    """Return whether a sentence says more than it may of what the whole text has too often."""
    limits = limits_of_term(document, number)
    if limits is None:
        return True
    surface = document.demands[number].surface
    return any(
        limit is not None and len(surface.find(part, limit + 1, sentence.starts)) > limit
        for limit, part, sentence in zip(limits, parts, document.sentences, strict=True)
    )

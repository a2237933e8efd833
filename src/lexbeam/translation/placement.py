"""Which sentence of a text has to say what."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.matching import Occurrence


class Piece(NamedTuple):
    """What a sentence has to place of a constraint: the parts from ``first`` to before ``last``.

    A constraint that must be met n times is n units.
    """

    unit: int
    first: int
    last: int


def number_units(demanded: Sequence[Constraint]) -> list[int]:
    """Return the constraint of each unit; a text has one end, however often it is asked for.

    Prefixes are left out: they are no matter of choice.
    """
    return [
        number
        for number, constraint in enumerate(demanded)
        if not constraint.at_start and not (constraint.at_end and constraint in demanded[:number])
        for _ in range(constraint.count)
    ]


def where_sources_stand(
    units: Sequence[int], demanded: Sequence[Constraint], starts: Sequence[int]
) -> dict[int, int]:
    """Return the sentence of each unit of which it is known where its source stands.

    ``starts`` is where the sentences of the source begin.
    """
    sentences: dict[int, int] = {}
    used = Counter[int]()
    for unit, number in enumerate(units):
        places = demanded[number].source_offsets
        if used[number] < len(places):
            sentences[unit] = max(bisect_right(starts, places[used[number]]) - 1, 0)
        used[number] += 1
    return sentences


def find_owners(
    units: Sequence[int], places: Sequence[Sequence[Occurrence]], starts: Sequence[int]
) -> tuple[list[list[Piece]], list[int]]:
    """Return which sentence says what, and the units that none says.

    ``places`` are those of each constraint in the whole text, ``starts`` where its sentences
    begin. Parts of a constraint may stand in different sentences.
    """
    owned: list[list[Piece]] = [[] for _ in starts]
    missing = []
    remaining = [iter(found) for found in places]
    for unit, number in enumerate(units):
        place = next(remaining[number], None)
        if place is None:
            missing.append(unit)
            continue
        sentences = [bisect_right(starts, start) - 1 for start, _ in place]
        for sentence, parts in groupby(range(len(place)), key=sentences.__getitem__):
            first, *_ = numbers = list(parts)
            owned[sentence].append(Piece(unit, first, first + len(numbers)))
    return owned, missing


def share_out(
    missing: Sequence[tuple[int, Constraint]], gains: Mapping[Constraint, Mapping[int, float]]
) -> list[tuple[int, int]]:
    """Give each missing unit to the sentence that gains most, or loses least, by it.

    One that is asked for twice goes to two sentences. Returns pairs of unit and sentence.
    """
    given: Counter[tuple[Constraint, int]] = Counter()
    shared = []
    for unit, asked in missing:
        *_, best = min((given[asked, i], -gain, i) for i, gain in gains[asked].items())
        given[asked, best] += 1
        shared.append((unit, best))
    return shared

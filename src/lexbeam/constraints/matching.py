"""Whether a text keeps to its constraints: looked up in the text itself, and nowhere else.

The search works on tokens and has its own idea of what it has placed. What is reported comes
from here: a pure function of the text, so that anybody can check it with a text search.

- A constraint of a single form may overlap with itself, as a text search finds it: ``na na``
  stands twice in ``na na na``. Places of any other constraint follow one another.
- Parts of a chain follow one another without sharing characters. Those of a gap stand in one
  sentence; ``within`` counts the words between two neighbours.
- Different constraints may share words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from lexbeam.constraints.constraint import Constraint
from lexbeam.text.casing import matches
from lexbeam.text.word_boundaries import Span, are_glued, is_word_character

Place = tuple[Span, ...]
"""Where one occurrence of a constraint stands: a span for each of its parts."""

_SPACED_RUN = re.compile(r"(?<=\s)\S+")


def find_all(
    text: str, constraints: Sequence[Constraint], starts: Sequence[int] = (0,)
) -> list[list[Place]]:
    """Return the places of each constraint, at most as many as it asks for.

    Equal constraints get different places, the first ones first. ``starts`` says where the
    sentences of the text begin.
    """
    asked: Counter[Constraint] = Counter()
    for constraint in constraints:
        asked[constraint.once] += constraint.count
    found = {
        constraint: iter(find(text, constraint, times, starts))
        for constraint, times in asked.items()
    }
    return [list(islice(found[c.once], c.count)) for c in constraints]


def find(
    text: str, constraint: Constraint, times: int = 1, starts: Sequence[int] = (0,)
) -> list[Place]:
    """Return the first places where a text keeps to a constraint, at most ``times`` of them."""
    if constraint.kind == "prefix":
        return [_beginning(text, constraint)] * times if _begins(text, constraint) else []
    spans = [
        sorted({s for form in part for s in matches(text, form, constraint.case, starts)})
        for part in constraint.parts
    ]
    if constraint.kind == "suffix":
        ends: list[Place] = [(span,) for span in spans[0] if span[1] == len(text)]
        return ends[:1] * times
    if len(constraint.parts) == len(constraint.parts[0]) == 1:
        return [(span,) for span in spans[0][:times]]
    places: list[Place] = []
    while len(places) < times:
        place = _first_chain(text, constraint, spans, places[-1][-1][1] if places else 0, starts)
        if not place:
            break
        places.append(place)
    return places


def words_between(text: str, start: int, end: int) -> int:
    """Count the words that stand between two parts of a text: what begins after a space."""
    runs = _SPACED_RUN.findall(text[start:end])
    return sum(any(map(is_word_character, run)) for run in runs)


def _first_chain(
    text: str,
    constraint: Constraint,
    spans: Sequence[Sequence[Span]],
    after: int,
    starts: Sequence[int],
) -> Place | None:
    """Return the chain of parts that ends first, of those that begin at ``after`` or later.

    Of the parts that may stand before another, the one that ends last is the nearest: if it
    is too far away, so are all others. So one look back for each span is enough.
    """
    reached: list[Place] = [(span,) for span in spans[0] if span[0] >= after]
    for following in spans[1:]:
        reached.sort(key=lambda chain: chain[-1][1])
        ends = [chain[-1][1] for chain in reached]
        longer: list[Place] = []
        for span in following:
            before = bisect_right(ends, span[0]) - 1
            if before >= 0 and _near(text, constraint, ends[before], span[0], starts):
                longer.append((*reached[before], span))
        reached = longer
    return min(reached, key=lambda chain: chain[-1][1], default=None)


def _near(text: str, constraint: Constraint, end: int, start: int, starts: Sequence[int]) -> bool:
    if constraint.kind == "gap" and bisect_right(starts, end - 1) != bisect_right(starts, start):
        return False
    return constraint.within is None or words_between(text, end, start) <= constraint.within


def _begins(text: str, constraint: Constraint) -> bool:
    prefix = constraint.parts[0][0]
    whole = prefix.rstrip()
    if not text.startswith(whole):
        return False
    goes_on = len(text) > len(whole) and are_glued(whole[-1], text[len(whole)])
    return prefix == whole or not goes_on


def _beginning(text: str, constraint: Constraint) -> Place:
    return ((0, min(len(text), len(constraint.parts[0][0].rstrip()))),)

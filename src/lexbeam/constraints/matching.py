"""Where constraints occur in a text: looked up in the text itself, and nowhere else.

The search works on tokens and keeps its own record of what it has placed. What is reported
comes from here: a pure function of the text, so that anybody can check it with a text search.

- A constraint of a single form may overlap with itself, as a text search finds it: ``na na``
  occurs twice in ``na na na``. Occurrences of any other constraint follow one another.
- The parts of a constraint follow one another without sharing characters.
- Different constraints may share words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from lexbeam.text.casing import Case, matches
from lexbeam.text.word_boundaries import Span, is_word_character

if TYPE_CHECKING:
    from lexbeam.constraints.constraint import Constraint

Occurrence = tuple[Span, ...]
"""One occurrence of a constraint: the span of each of its parts."""

_RUN_AFTER_SPACE = re.compile(r"(?<=\s)\S+")


def find_all(
    text: str, constraints: Sequence[Constraint], starts: Sequence[int] = (0,)
) -> list[list[Occurrence]]:
    """Return the occurrences of each constraint, at most as many as it asks for.

    Equal constraints get different occurrences, the first constraint the first one. ``starts``
    are the offsets at which the sentences of the text begin.
    """
    asked: Counter[Constraint] = Counter()
    for constraint in constraints:
        asked[constraint.once] += constraint.count
    found = {
        constraint: iter(constraint.find(text, times, starts))
        for constraint, times in asked.items()
    }
    return [list(islice(found[c.once], c.count)) for c in constraints]


def find_excess(
    text: str, constraints: Sequence[Constraint], starts: Sequence[int] = (0,)
) -> list[int]:
    """Return the indices of the constraints that a text meets more often than they allow.

    Equal constraints may each be met as often as they say.
    """
    allowed: Counter[Constraint] = Counter()
    for constraint in constraints:
        most = constraint.at_most
        allowed[constraint.once] += len(text) + 1 if most is None else most
    limited = {each for each, most in allowed.items() if most <= len(text)}
    excessive = {
        each for each in limited if len(each.find(text, allowed[each] + 1, starts)) > allowed[each]
    }
    return [i for i, constraint in enumerate(constraints) if constraint.once in excessive]


def find_part(
    text: str, forms: Sequence[str], case: Case, starts: Sequence[int], compound: bool = False
) -> list[Span]:
    """Return where any of several forms stands in a text as whole words, from left to right.

    With ``compound``, also where it is part of a compound.
    """
    return sorted({span for form in forms for span in matches(text, form, case, starts, compound)})


def find_chains(
    spans: Sequence[Sequence[Span]], times: int, are_near: Callable[[int, int], bool]
) -> list[Occurrence]:
    """Return the first chains of parts that do not overlap, at most ``times`` of them.

    ``spans`` are those of each part. ``are_near`` says whether a part may begin at its second
    argument if the part before it ends at its first.
    """
    chains: list[Occurrence] = []
    while len(chains) < times:
        after = chains[-1][-1][1] if chains else 0
        chain = _first_chain(spans, after, are_near)
        if not chain:
            break
        chains.append(chain)
    return chains


def words_between(text: str, start: int, end: int) -> int:
    """Count the words between two offsets of a text: those that begin after a space."""
    runs = _RUN_AFTER_SPACE.findall(text[start:end])
    return sum(any(map(is_word_character, run)) for run in runs)


def _first_chain(
    spans: Sequence[Sequence[Span]], after: int, are_near: Callable[[int, int], bool]
) -> Occurrence | None:
    """Return the chain of parts that ends first, of those that begin at ``after`` or later.

    Of the parts that may stand before another, the one that ends last is the nearest: if it
    is too far away, so are all others. So one look back for each span is enough.
    """
    reached: list[Occurrence] = [(span,) for span in spans[0] if span[0] >= after]
    for following in spans[1:]:
        reached.sort(key=lambda chain: chain[-1][1])
        ends = [chain[-1][1] for chain in reached]
        longer: list[Occurrence] = []
        for span in following:
            before = bisect_right(ends, span[0]) - 1
            if before >= 0 and are_near(ends[before], span[0]):
                longer.append((*reached[before], span))
        reached = longer
    return min(reached, key=lambda chain: chain[-1][1], default=None)

"""How often constraints occur at least, and which of them a search can count.

A phrase may be limited (``exactly``, ``at_most``) and be in others that are demanded. What the
others need for certain is a matter of their texts alone, whatever the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from lexbeam.constraints.constraint import Constraint, Part
from lexbeam.constraints.matching import Occurrence, find_all
from lexbeam.errors import ConstraintError, quoted, times
from lexbeam.text.casing import capitalised
from lexbeam.text.word_boundaries import (
    are_glued,
    contains,
    needs_boundary,
    occurrences,
    stands_alone,
)


def share_limits(demanded: Sequence[Constraint]) -> list[Constraint]:
    """Return constraints of which equal ones share the limit that a caller has set.

    A limit is one on the whole text, and so is the count beside it: what a caller's equal
    constraints without a limit ask for, all together, is part of that count. What the source
    demands comes on top. Each keeps its own share, the first with the limit has the rest.

    Raises:
        ConstraintError: they ask for more than the limit.
    """
    equal: dict[Constraint, list[int]] = {}
    for number, each in enumerate(demanded):
        equal.setdefault(each.once, []).append(number)
    shared = list(demanded)
    for numbers in equal.values():
        limited = [i for i in numbers if demanded[i].is_limited_by_caller]
        if not limited or len(numbers) == 1:
            continue
        limit = min(demanded[i].at_most or 0 for i in limited)
        terms = sum(demanded[i].count for i in numbers if demanded[i].is_from_source)
        others = sum(demanded[i].count for i in numbers if i not in limited)
        count = terms + max(others - terms, *(demanded[i].count for i in limited))
        if count > limit:
            raise ConstraintError(
                f"{quoted(demanded[limited[0]].text)} may occur {times(limit)}, but is demanded "
                f"{times(count)}: drop one of them"
            )
        for i in numbers:
            own = 0 if i in limited else demanded[i].count
            shared[i] = replace(demanded[i], count=own, at_most=own)
        first = limited[0]
        shared[first] = replace(demanded[first], count=count - others, at_most=limit - others)
    return shared


def find_met(
    text: str, demanded: Sequence[Constraint], starts: Sequence[int] = (0,)
) -> list[list[Occurrence]]:
    """Return the occurrences of each constraint, at most as many as it asks for.

    Equal constraints get different occurrences; but one with a limit speaks of the whole text.
    """
    shared = share_limits(demanded)
    return [
        found if own.count == each.count else each.find(text, each.count, starts)
        for each, own, found in zip(demanded, shared, find_all(text, shared, starts), strict=True)
    ]


def least_inside(phrase: Constraint, other: Constraint) -> int:
    """Return how often a phrase occurs at least where another constraint is met.

    Only what is certain counts: what may be written in another case than the phrase need not be
    one, and what may overlap with itself can share occurrences.
    """
    if not may_be_inside(phrase, other):
        return 0
    copies = 1 if other.at_end else other.count
    if len(other.parts) == len(other.parts[0]) == 1:
        form = other.parts[0][0]
        ends = [found[-1][1] for found in _certain(phrase, form, other)]
        return len(ends) + (copies - 1) * min(
            sum(end > shared for end in ends) for shared in _shared_with_itself(form)
        )
    return copies * sum(
        min(sum(1 for _ in _certain(phrase, form, other)) for form in part) for part in other.parts
    )


def may_be_inside(phrase: Constraint, other: Constraint) -> bool:
    """Return whether the letters of a phrase are in another constraint, in whatever case.

    It is quickly said, and mostly no: of many constraints each is compared with each.
    """
    texts = [_folded(part) for part in other.parts]
    return any(form in text for form in _folded(phrase.parts[0]).split("\n") for text in texts)


@lru_cache(maxsize=1024)
def _folded(part: Part) -> str:
    """Return the forms of a part in lines, without case."""
    return "\n".join(part).casefold()


def _certain(phrase: Constraint, form: str, other: Constraint) -> Iterator[Occurrence]:
    """Yield where a phrase is in a form of another constraint, in whatever case that is written."""
    for found in phrase.find(form, len(form), starts=()):
        start, end = found[0][0], found[-1][1]
        written = form[start:end]
        is_changed = False
        if phrase.case != "any" and other.case == "any":
            is_changed = written.lower() != written.upper()
        elif phrase.case == "exact" and other.case == "start":
            is_changed = start == 0 and capitalised(form) != form
        if not is_changed:
            yield found


def _shared_with_itself(form: str) -> Iterator[int]:
    """Yield how many characters two occurrences of a form may share: whole words at its ends."""
    yield 0
    for length in range(1, len(form)):
        start = len(form) - length
        are_words = stands_alone(form, (start, len(form))) and stands_alone(form, (0, length))
        if are_words and form.startswith(form[start:]):
            yield length


def find_countable(demanded: Sequence[Constraint], prefix: str = "") -> list[bool]:
    """Return which constraints a search counts, so that they occur exactly so many times.

    Not so what is also part of a chain: a hypothesis that has said it too early could neither
    repeat it nor finish the chain. Nor alternatives that can share words: the search counts where
    they end, a text has them one behind the other. Nor what others, or the ``prefix``, have with a
    mark behind it that belongs to it: to the search it is said there, in the text it is not.
    """
    chained = [
        form for each in demanded if len(each.parts) > 1 for part in each.parts for form in part
    ]
    written = [prefix, *(form for each in demanded for part in each.parts for form in part)]
    unlimited = {each.once for each in demanded if each.at_most != each.count}
    return [
        each.at_most is not None
        and each.at_most == each.count
        and each.once not in unlimited
        and not (each.count > 1 and _can_share_words(each.parts[0]))
        and not any(contains(form, own) for own in each.parts[0] for form in chained)
        and not any(_goes_on(own, written) for own in each.parts[0])
        for each in demanded
    ]


def _goes_on(phrase: str, texts: Sequence[str]) -> bool:
    """Return whether a text has a phrase that no letter goes on, with a mark that does.

    Such are ``sein.`` and a combining accent behind it.
    """
    if needs_boundary(phrase):
        return False
    return any(
        found.end() < len(text) and are_glued(text[found.end() - 1], text[found.end()])
        for text in texts
        for found in re.finditer(re.escape(phrase), text)
    )


def _can_share_words(forms: Sequence[str]) -> bool:
    """Return whether an occurrence of one of several forms can begin or end within another.

    It may be one of the same form: only a phrase of a single form may overlap with itself, in the
    search and in a text.
    """
    if len(forms) == 1:
        return False
    folded = list(dict.fromkeys(form.casefold() for form in forms))
    all_forms = "\n".join(folded)
    if any(next(islice(occurrences(all_forms, form), 1, None), None) for form in folded):
        return True
    beginnings = {form[:end] for form in folded for end in range(1, len(form) + 1)}
    return any(
        form[start:] in beginnings and not are_glued(form[start - 1], form[start])
        for form in folded
        for start in range(1, len(form))
    )

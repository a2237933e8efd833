"""Phrases that have to share words: two that have something in them that may occur only so often.

Where each of them has all occurrences of a limited phrase, they overlap at these, and it is known
what is written then: ``a b`` and ``b c`` are *a b c* if ``b`` may occur once. They may contradict
each other there, or be something avoided.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.counting import least_inside
from lexbeam.errors import ConstraintError, quoted, times


def refuse_overlaps(
    phrase: Constraint, limit: int, demanded: Sequence[Constraint], avoided: Sequence[Constraint]
) -> None:
    """Raise if phrases that have to share a limited one can't, or not without what is avoided."""
    holders = [
        each
        for each in demanded
        if len(each.parts) == len(each.parts[0]) == 1
        and each.soft is None
        and not each.compound
        and not each.at_start
        and each.once != phrase
        and least_inside(phrase, each.once) == limit
    ]
    for one, other in combinations(dict.fromkeys(each.once for each in holders), 2):
        merged = _merged(phrase, one, other)
        both = f"{quoted(one.text)} and {quoted(other.text)}"
        if merged is None:
            raise ConstraintError(
                f"{quoted(phrase.text)} may occur {times(limit)}, but {both} need it in "
                "different places: drop one of them"
            )
        for each in avoided:
            if _is_certain(each, one, other) and not usable_forms((merged,), [each]):
                raise ConstraintError(
                    f"{quoted(phrase.text)} may occur {times(limit)}, so that {both} are "
                    f"{quoted(merged)}, which is avoided: drop one of them"
                )


def _merged(phrase: Constraint, one: Constraint, other: Constraint) -> str | None:
    """Return the text of two phrases that overlap at the first place of another; None if none is.

    Where only their case differs, the first is as good as the second.
    """
    texts = [each.parts[0][0] for each in (one, other)]
    at = [phrase.find(text, 1, starts=())[0][0][0] for text in texts]
    (first, start), (second, later) = sorted(
        zip(texts, at, strict=True), key=lambda found: -found[1]
    )
    offset = start - later
    shared = min(len(first) - offset, len(second))
    if first[offset : offset + shared].casefold() != second[:shared].casefold():
        return None
    return first + second[shared:]


def _is_certain(avoided: Constraint, one: Constraint, other: Constraint) -> bool:
    """Return whether what is avoided is so in every case that two phrases may be written in."""
    cases = {one.case, other.case}
    return (
        avoided.case == "any"
        or cases == {"exact"}
        or (avoided.case == "start" and "any" not in cases)
    )

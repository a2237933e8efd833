"""How often constraints occur at least, and which of them a search can count.

A phrase may be limited (``exactly``, ``at_most``) and be in others that are demanded. What the
others need for certain is a matter of their texts alone, whatever the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.matching import Occurrence
from lexbeam.text.casing import capitalised
from lexbeam.text.word_boundaries import are_glued, contains, occurrences, stands_alone


def least_inside(phrase: Constraint, other: Constraint) -> int:
    """Return how often a phrase occurs at least where another constraint is met.

    Only what is certain counts: what may be written in another case than the phrase need not be
    one, and what may overlap with itself can share occurrences.
    """
    times = 1 if other.at_end else other.count
    if len(other.parts) == len(other.parts[0]) == 1:
        form = other.parts[0][0]
        ends = [found[-1][1] for found in _certain(phrase, form, other)]
        return len(ends) + (times - 1) * min(
            sum(end > shared for end in ends) for shared in _shared_with_itself(form)
        )
    return times * sum(
        min(sum(1 for _ in _certain(phrase, form, other)) for form in part) for part in other.parts
    )


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


def find_countable(demanded: Sequence[Constraint]) -> list[bool]:
    """Return which constraints a search counts, so that they occur exactly so many times.

    Not so what is also part of a chain: a hypothesis that has said it too early could neither
    repeat it nor finish the chain. Nor alternatives that can share words: the search counts where
    they end, a text has them one behind the other.
    """
    chained = [
        form for each in demanded if len(each.parts) > 1 for part in each.parts for form in part
    ]
    unlimited = {each.once for each in demanded if each.at_most is None}
    countable = []
    for each in demanded:
        is_exact = each.at_most is not None and each.at_most == each.count
        is_free = each.once not in unlimited and not (
            each.count > 1 and _can_share_words(each.parts[0])
        )
        is_chained = any(contains(form, own) for own in each.parts[0] for form in chained)
        countable.append(is_exact and is_free and not is_chained)
    return countable


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

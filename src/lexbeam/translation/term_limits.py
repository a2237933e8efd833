"""How often the terms of a text may occur in its translation.

A term may not occur more often than its source does, so that none is doubled. Nobody has asked
for that limit: where others may need the same words as well, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.counting import least_inside
from lexbeam.text.word_boundaries import occurrences


def limit_terms(found: Sequence[Constraint], asked: Constraints) -> list[Constraint]:
    """Return the constraints of the source, without a limit where others may need more of them.

    Terms that share words each have a place of their own. What a caller asks for may stand in
    for a term, as far as both are in one sentence (`lift_limits` is for several).
    """
    limited = []
    for constraint in _without_shared(found, found):
        # Chains of the source are of what is kept, and have no more of it.
        phrases = [each for each in found if each.is_phrase]
        others = [each for each in (*asked.demanded, *phrases) if each.once != constraint.once]
        equal = sum(each.count for each in found if each.once == constraint.once)
        needed = sum(least_inside(constraint, each) for each in others)
        begun = sum(_count(form, asked.prefix) for form in constraint.parts[0])
        forms = set(constraint.parts[0])
        is_asked = any(each.is_phrase and forms & set(each.parts[0]) for each in asked.demanded)
        is_safe = needed + begun <= equal and not is_asked
        limited.append(constraint if is_safe else replace(constraint, at_most=None))
    return limited


def lift_limits(asked: Constraints, text: str) -> list[Constraint]:
    """Return what is demanded of a text of several sentences.

    Terms that others may have in them have no limit: a term goes to the sentence of its source,
    the prefix to the first one, and what a caller asks for to any. But what is kept stands as often
    as in the source: where a caller has it in what he asks for, it goes with that. And a caller's
    limit is one on the whole text: what terms share in it stays a limit, too.
    """
    lifted = _without_shared(asked.counted, asked.demanded, asked.prefix)
    limited = {each.once for each in asked.demanded if each.is_limited_by_caller}
    chains = [each for each in asked.demanded if not each.is_from_source and each.soft is None]
    return [
        replace(each, source_spans=())
        if each.at_most is not None
        and each.is_from_source
        and each.is_source_in(text)
        and 0 < sum(least_inside(each, chain) for chain in chains) <= each.count
        else (each if each.once in limited else without)
        for each, without in zip(asked.counted, lifted, strict=True)
    ]


def _without_shared(
    constraints: Sequence[Constraint], others: Iterable[Constraint], prefix: str = ""
) -> list[Constraint]:
    """Return constraints; those of the source have no limit if others may have them in them.

    Chains of the source do not count: they are of things that are kept, and in their places.
    """
    if not any(each.is_from_source and each.at_most is not None for each in constraints):
        return list(constraints)
    parts = [
        part
        for each in dict.fromkeys(each.once for each in others)
        if each.is_phrase or not each.is_from_source
        for part in each.parts
    ]
    written = "\n".join([prefix, *(form for part in parts for form in part)]).casefold()
    return [
        replace(each, at_most=None)
        if each.is_from_source and each.at_most is not None and _is_shared(each, written)
        else each
        for each in constraints
    ]


def _is_shared(phrase: Constraint, written: str) -> bool:
    """Return whether a phrase is in what is written, more often than in its own forms."""
    forms = {form.casefold() for form in phrase.parts[0]}
    own = "\n".join(phrase.parts[0]).casefold()
    return any(_count(form, written) > _count(form, own) for form in forms)


def _count(phrase: str, text: str) -> int:
    return sum(1 for _ in occurrences(text.casefold(), phrase.casefold()))

"""What the source demands beside what a caller demands already.

A phrase of the caller's takes the place of occurrences of a term, and stands for their sources:
else it would be said where it fits best, maybe in another sentence, and the term be missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lexbeam.constraints.constraint import Constraint, SourceSpans
from lexbeam.constraints.constraint_set import Constraints


def is_firm_phrase(constraint: Constraint) -> bool:
    """Return whether a constraint is one phrase, in any of its forms, and not soft."""
    return constraint.is_phrase and constraint.soft is None


def put_beside(
    asked: Constraints, found: Sequence[Constraint]
) -> tuple[list[Constraint], list[Constraint]]:
    """Return what a caller demands, with the sources it stands for, and what the source does.

    A phrase that is asked for n times takes the place of n occurrences of a term. If the term has
    more forms than the phrase, one word of the output could be taken for both. So the term is
    demanded as often as before then, unless a limit of the caller's leaves no room for that.
    """
    takers = [_Taker(each) for each in asked.counted if is_firm_phrase(each)]
    limits = _Limits([taker.phrase for taker in takers])
    besides = []
    for term in found:
        spans, count = list(term.source_spans), term.count
        if is_firm_phrase(term):
            forms = frozenset(term.parts[0])
            own = [taker for taker in takers if taker.left and taker.forms <= forms]
            may_share = any(taker.forms < forms and taker.has_room(count) for taker in own)
            for taker in own:
                count -= taker.use_up(count, [] if may_share else spans)
            if may_share and count:
                count = term.count
            count = limits.take(term, count)
        if count == term.count:
            besides.append(term)
        elif count:
            besides.append(_with_count(term, count, tuple(spans)))
    sources = iter(takers)
    demanded = [
        next(sources).with_sources(each) if is_firm_phrase(each) else each
        for each in asked.demanded
    ]
    return demanded, besides


class _Taker:
    """A phrase of the caller's that takes the place of occurrences of terms."""

    def __init__(self, phrase: Constraint) -> None:
        self.phrase = phrase
        self.forms = frozenset(phrase.parts[0])
        self.left = phrase.count
        self._taken: list[tuple[int, int]] = []

    def has_room(self, count: int) -> bool:
        """Return whether the phrase may occur so often."""
        return self.phrase.at_most is None or self.phrase.at_most >= count

    def use_up(self, count: int, spans: list[tuple[int, int]]) -> int:
        """Take the place of at most ``count`` occurrences; return of how many.

        ``spans`` are where their sources stand; those that are taken are removed: the ones that
        the phrase itself names, then the first.
        """
        used = min(self.left, count)
        self.left -= used
        spans.sort(key=lambda span: span not in self.phrase.source_spans)
        self._taken += spans[:used]
        del spans[:used]
        spans.sort()
        return used

    def with_sources(self, demanded: Constraint) -> Constraint:
        """Return what the caller demands with the sources that it stands for, if it names none."""
        if demanded.source_spans or not self._taken:
            return demanded
        return replace(demanded, source_spans=tuple(sorted(self._taken)))


class _Limits:
    """How often terms may be demanded beside the phrases that a caller limits."""

    def __init__(self, asked: Sequence[Constraint]) -> None:
        self._most: Counter[Constraint] = Counter()
        self._counts: Counter[Constraint] = Counter()
        for phrase in asked:
            if phrase.at_most is not None:
                self._most[phrase.once] += phrase.at_most
                self._counts[phrase.once] += phrase.count

    def take(self, term: Constraint, count: int) -> int:
        """Return how often a term may be demanded, at most ``count`` times, and take that away.

        A phrase with the forms of the term alone is another of its occurrences; one that has more
        forms may be written as the term.
        """
        forms = set(term.parts[0])
        around = [
            phrase
            for phrase in self._most
            if forms <= set(phrase.parts[0]) and (term.case != "any" or phrase.case == "any")
        ]
        for phrase in around:
            own = self._counts[phrase] if forms == set(phrase.parts[0]) else 0
            count = min(count, self._most[phrase] - own)
        for phrase in around:
            self._most[phrase] -= count
        return count


def _with_count(constraint: Constraint, count: int, spans: SourceSpans) -> Constraint:
    """Return a term that is demanded less often, of the first of the sources that are left."""
    shape = {key: value for key, value in constraint.given.items() if key != "count"}
    given = shape if count == 1 else {**shape, "count": count}
    at_most = None if constraint.at_most is None else count
    return replace(
        constraint, count=count, at_most=at_most, given=given, source_spans=spans[:count]
    )

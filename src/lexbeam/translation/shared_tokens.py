"""How often tokens must occur, so that every phrase has some of its own.

To the search a phrase is tokens. Two phrases with different unknown characters may be the same
tokens, and one occurrence of them would do for both. The text can show only one of them there
(`lexbeam.text.shown_phrases`). So the search is asked for one occurrence for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.text.shown_phrases import count_inside
from lexbeam.text.spelling import Spelling
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.spelled import (
    SpelledConstraint,
    SpelledPrefix,
    forms_of,
    phrase_pattern,
)

Forms = tuple[Form, ...]
"""The spellings of a part as the search knows them."""


class DemandedPart(NamedTuple):
    """A part of a demand that a sentence has to say."""

    demand: SpelledConstraint
    spellings: tuple[Spelling, ...]
    is_firm: bool

    @property
    def forms(self) -> Forms:
        """Its spellings as the search knows them."""
        return forms_of(self.spellings)

    @property
    def pattern(self) -> Tokens | Pattern:
        """Return what the search has to place for an occurrence of this part alone."""
        return phrase_pattern(self.forms)


def required_occurrences(parts: Sequence[DemandedPart], prefix: SpelledPrefix) -> dict[Forms, int]:
    """Return how often unknown characters must occur, for those that phrases can't share.

    Phrases share an occurrence where they show the same characters.
    """
    unknown = [part for part in parts if all(each.pieces for each in part.spellings)]
    begun = [way for way in prefix.spellings[:1] if way.pieces]
    required: dict[Forms, int] = {}
    for part in unknown:
        if part.forms in required:
            continue
        alike = [other for other in unknown if other.forms == part.forms]
        longer = [other.spellings[0] for other in unknown if other.forms != part.forms]
        inside = sum(
            count_inside(part.spellings, outer)
            for outer in [*longer, *begun]
            if not all(contains(outer.surface, other.spellings[0].surface) for other in alike)
        )
        shown = _most_shown(alike)
        if inside or len(shown) > 1:
            required[part.forms] = sum(shown.values()) + inside
    return required


def _most_shown(parts: Sequence[DemandedPart]) -> Counter[tuple[str, ...]]:
    """Return how often each surface must be shown: as often as one constraint asks for it."""
    most: Counter[tuple[str, ...]] = Counter()
    asked = Counter(
        (part.demand.surface, tuple(s.surface for s in part.spellings)) for part in parts
    )
    for (_, surfaces), times in asked.items():
        most[surfaces] = max(most[surfaces], times)
    return most


def occurrences_of(spellings: Sequence[Spelling], tokens: Sequence[int]) -> int:
    """Count where any of several spellings begins among tokens."""
    return len({i for each in spellings for i in find_subsequence(tokens, each.ids)})

"""How often tokens must occur, so that the text shows every phrase.

To the search a phrase is tokens. Where words are joined by rules, two phrases may be the same
tokens, of which the text can show only one. So the search is asked for one occurrence for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.text.phrases import Spelling
from lexbeam.text.subsequences import find_subsequence
from lexbeam.translation.spelled import (
    SpelledConstraint,
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


def occurrences_of(spellings: Sequence[Spelling], tokens: Sequence[int]) -> int:
    """Count where any of several spellings begins among tokens."""
    return len({i for each in spellings for i in find_subsequence(tokens, each.ids)})

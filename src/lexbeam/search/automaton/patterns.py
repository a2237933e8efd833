"""What may be demanded of an output, as tokens.

A plain phrase is a sequence of tokens. A `Pattern` is everything else: several spellings of
which any will do, parts in order with something between them, a position at the beginning or the
end, a penalty for which it is given up. The automaton compiles both to the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexbeam.errors import represented
from lexbeam.search.arrays import Tokens


@dataclass(frozen=True)
class Form:
    """One spelling of a part."""

    tokens: Tokens
    first: bool = False
    """It counts only as the beginning of the output."""
    apart: bool = False
    """It counts only where no word goes on before it: after a token that ends a word whatever
    follows (``closing``: an opening quotation mark, a hyphen), or at the beginning of the output.
    Without word boundaries it counts anywhere."""
    inside: bool = False
    """It counts only as the last part of a compound: after a token that ``ENDS`` with enough
    letters of a word, with at most a ``SHORT`` one between (`whole_words`). It is then neither
    ``first`` nor ``apart``."""
    goes_on: bool = False
    """It counts as a part before others, too: before a token that goes on with its word for
    ``LONG`` enough, with at most a ``SHORT`` one between. These are its own where several
    occurrences of a pattern could share tokens and may not."""

    @property
    def is_anywhere(self) -> bool:
        """Whether it counts wherever it stands."""
        return not (self.first or self.apart or self.inside)

    @property
    def in_compounds(self) -> bool:
        """Whether it counts as a part of a compound."""
        return self.inside or self.goes_on


@dataclass(frozen=True)
class Pattern:
    """Parts that must follow one another without sharing tokens, each in any of its forms.

    A pattern given n times must occur n times, each time after the time before; one of a single
    part that ``may_overlap`` counts as a plain phrase does, whose occurrences may share tokens. One
    that begins or ends the output is met once by that, however often it is given.
    """

    parts: tuple[tuple[Form, ...], ...]
    within: int | None = None
    """Most words between two neighbouring parts; None: anything may stand between them."""
    last: bool = False
    """The last part must be the end of the output."""
    penalty: float | None = None
    """The pattern is given up if meeting it costs more log-probability than this; None: never."""
    may_overlap: bool = False
    """Its forms are spellings of one phrase: occurrences are counted as those of a phrase."""
    exact: bool = False
    """It may not occur more often than it is given; only for a pattern that ``may_overlap``."""

    demand: int = 0
    """Tells patterns apart that are alike, but are demanded each by itself."""

    @property
    def strict(self) -> bool:
        """Whether the output has to begin with it, and may go on with its last word."""
        alone = len(self.parts) == 1 and self.penalty is None and not self.last
        return alone and all(form.first for form in self.parts[0])

    @property
    def is_phrase(self) -> bool:
        """Whether it is one phrase in several spellings, to stand anywhere."""
        return (
            self.may_overlap
            and len(self.parts) == 1
            and self.penalty is None
            and not self.last
            and not self.strict
        )

    @property
    def tokens(self) -> set[int]:
        """All tokens of all forms."""
        return {token for part in self.parts for form in part for token in form.tokens}


class Beginning(tuple[int, ...]):
    """An avoided phrase that must not even be the beginning of a longer word."""

    __slots__ = ()


TokenConstraint = Tokens | Pattern
"""A constraint of the search: a plain phrase or a pattern."""


def tokens_of(constraint: TokenConstraint) -> Sequence[int]:
    """Return the tokens of a constraint, in whatever form."""
    return sorted(constraint.tokens) if isinstance(constraint, Pattern) else constraint


def show_constraint(constraint: TokenConstraint) -> str:
    """Return how an error shows a constraint where nothing but its tokens is known."""
    if not isinstance(constraint, Pattern):
        return represented(list(constraint))
    parts = ("|".join(represented(list(form.tokens)) for form in part) for part in constraint.parts)
    return " … ".join(parts)

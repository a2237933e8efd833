"""One sentence of a text: what its translation has to say, and what was found for it so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lexbeam.constraints.constraint import Constraint
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form
from lexbeam.search.beam import Hypothesis
from lexbeam.text.sentence_splitter import Part
from lexbeam.translation.reading import Reading, TermInSource
from lexbeam.translation.spelled_prefix import SpelledPrefix


class Piece(NamedTuple):
    """What a sentence has to say of a constraint: the parts from ``first`` to before ``last``.

    A constraint that must be met n times is n units.
    """

    unit: int
    first: int
    last: int


def number_units(demanded: Sequence[Constraint]) -> list[int]:
    """Return the constraint of each unit; a text has one end, however often it is asked for.

    Prefixes are left out: which sentence they begin is no matter of choice.
    """
    return [
        number
        for number, constraint in enumerate(demanded)
        if not constraint.at_start and not (constraint.at_end and constraint in demanded[:number])
        for _ in range(constraint.count)
    ]


@dataclass
class SentenceState:
    """A sentence on its way through the search."""

    part: Part
    source: Tokens
    prefix: SpelledPrefix
    """What its translation begins with: nothing unless it is the first of the text."""
    avoid: list[Tokens]
    """The token sequences that its translation must not have."""
    required: dict[tuple[Form, ...], int] = field(default_factory=dict)
    """How often tokens must occur that phrases would share, which its text can't show twice."""
    repeated: Counter[Piece] = field(default_factory=Counter)
    """How often more something of several parts must occur, for the same reason."""
    assigned: list[Piece] = field(default_factory=list)
    """What it has to say."""
    uncounted: Counter[Constraint] = field(default_factory=Counter)
    """How often it says something limited in tokens that the search does not count."""
    covered: set[int] = field(default_factory=set)
    """The units that need not be searched for: they are in others, and not counted there."""
    searched: list[Piece] = field(default_factory=list)
    """What it had to say when its hypotheses were found."""
    dropped: list[Piece] = field(default_factory=list)
    """The soft demands among them that were given up."""
    terms: dict[int, TermInSource] = field(default_factory=dict)
    """The units that the model reads in place of their sources."""
    scored: dict[Tokens, Hypothesis | None] = field(default_factory=dict)
    """Outputs that were found with such terms, with their scores for the source as given."""
    readings: dict[tuple[TermInSource, ...], Reading] = field(default_factory=dict)
    """How it is read with such terms, or without any, once that was asked for."""
    displaced: list[Tokens] | None = None
    """What the model would say for the sources of tied constraints, once known: avoided as well."""
    left: set[int] = field(default_factory=set)
    """The units that are left to the model, which has one word for their source and the next."""
    untied: set[int] = field(default_factory=set)
    """The units that its draft says in a compound: they need not be tied to their sources."""
    free: Hypothesis | None = None
    """Its translation without constraints, if that was searched for."""
    edited: set[Tokens] = field(default_factory=set)
    """Outputs that are this translation, with terms in it."""
    other_uses: dict[int, int] = field(default_factory=dict)
    """How often its draft says limited terms for other words than their sources."""
    hypotheses: list[Hypothesis] = field(default_factory=list)

    @property
    def starts(self) -> tuple[int, ...]:
        """Where a sentence begins in it: nowhere if it goes on with one that was too long."""
        return () if self.part.goes_on else (0,)

    @property
    def sought(self) -> list[Piece]:
        """What it is to be searched with."""
        return [piece for piece in self.assigned if piece.unit not in self.covered]

    @property
    def best(self) -> Hypothesis:
        """The best hypothesis."""
        return self.hypotheses[0]

    @property
    def is_free(self) -> bool:
        """Whether that was found without constraints, though it may have all that was asked for."""
        return len(self.best.met) <= len(self.prefix.patterns)

    def take(self, hypotheses: list[Hypothesis], searched: Sequence[Piece]) -> None:
        """Keep what was found, and what it was searched with."""
        self.hypotheses = hypotheses
        self.searched = list(searched)

    def add(self, hypotheses: Sequence[Hypothesis], most: int) -> None:
        """Keep the best of what was found before and what was found besides, at most so many."""
        found: dict[Tokens, Hypothesis] = {}
        for each in (*self.hypotheses, *hypotheses):
            found.setdefault(tuple(each.tokens), each)
        self.hypotheses = sorted(found.values(), key=lambda each: -each.score)[:most]


def begun(sentences: Sequence[SentenceState], starts: Sequence[int]) -> list[int]:
    """Return those of the offsets of translated parts at which a sentence begins, too."""
    parts = zip(starts, sentences, strict=True)
    return [start for start, sentence in parts if not sentence.part.goes_on]

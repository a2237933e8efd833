"""A sentence as the model reads it: with terms in place of the words that they translate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lexbeam.search.arrays import Tokens
from lexbeam.text.spelling import SourceText
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.text_edits import Edit, Edits


class TermInSource(NamedTuple):
    """A term, and where the words that it translates stand in a sentence."""

    start: int
    end: int
    text: str


class Reading(NamedTuple):
    """The tokens of a sentence with terms, and where they stand in the sentence as it is given."""

    tokens: Tokens
    spans: list[Span]
    """The tokens of a term stand where its source does."""

    @classmethod
    def of(cls, text: str, terms: Sequence[TermInSource], source: SourceText) -> Reading:
        """Read a sentence with terms, which do not overlap."""
        edits = Edits(Edit(term.start, term.end - term.start, term.text) for term in terms)
        read, to_given = edits.apply(text), edits.inverse(text)
        spans = [to_given.moved(span) for span in source.token_spans(read)]
        return cls(tuple(source.encode(read)), spans)

"""A sentence as the model reads it: with terms in place of the words that they translate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lexbeam.search.arrays import Tokens
from lexbeam.text.spelling import SourceText
from lexbeam.text.word_boundaries import Span


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
        """Read a sentence with terms, which are given from left to right and do not overlap."""
        written, places = _write(text, terms)
        spans = [_in_given(span, terms, places) for span in source.token_spans(written)]
        return cls(tuple(source.encode(written)), spans)


def _write(text: str, terms: Sequence[TermInSource]) -> tuple[str, list[Span]]:
    """Return a sentence with terms in place of their sources, and where they stand in it."""
    written, at, places = "", 0, []
    for term in terms:
        written += text[at : term.start]
        places.append((len(written), len(written) + len(term.text)))
        written += term.text
        at = term.end
    return written + text[at:], places


def _in_given(span: Span, terms: Sequence[TermInSource], places: Sequence[Span]) -> Span:
    """Return where a token of a sentence with terms stands in the sentence as it was given."""
    moved = 0
    for term, (start, end) in zip(terms, places, strict=True):
        if span[0] < end and span[1] > start:
            return term.start, term.end
        if span[0] >= end:
            moved = term.end - end
    return span[0] + moved, span[1] + moved

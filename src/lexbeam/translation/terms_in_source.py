"""Terms that the model reads in the source, in place of the words that they translate.

A model that was trained so (`lexbeam.train.inserted_terms`) knows a term before it says the
article, and the place of the term in the sentence. The search demands the term as ever. Only what
a draft lacks is put into the source: what the model says by itself needs no help.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

SAID = 0.3
"""The share of attention from which on a term of a draft translates its source."""


class _Term(NamedTuple):
    """A term and where its source stands in a sentence."""

    start: int
    end: int
    text: str


def read_terms(document: Document, sentence: SentenceState, draft: Hypothesis) -> None:
    """Let a sentence be read with the tied terms that its draft does not say for their sources."""
    terms = _lacking(document, sentence, draft)
    if not terms:
        return
    text, places = _with_terms(sentence.part.text, terms)
    spans = document.source.token_spans(text)
    sentence.source = tuple(document.source.encode(text))
    sentence.token_spans = [_place_in_given(span, terms, places) for span in spans]


def _lacking(document: Document, sentence: SentenceState, draft: Hypothesis) -> list[_Term]:
    """Return the terms that a draft does not say for their sources, none over another."""
    terms: list[_Term] = []
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        piece = sentence.assigned[index]
        asked = document.demand(piece.unit).asked
        if len(asked.parts) > 1 or asked.is_source_in(document.text):
            continue
        if not _says(document, sentence, draft, piece.unit, tokens):
            spans = [document.token_spans(sentence)[token] for token in tokens]
            start, end = min(start for start, _ in spans), max(end for _, end in spans)
            terms.append(_Term(start, end, asked.parts[0][0]))
    apart: list[_Term] = []
    for term in sorted(terms):
        if not apart or apart[-1].end <= term.start:
            apart.append(term)
    return apart


def _says(
    document: Document,
    sentence: SentenceState,
    draft: Hypothesis,
    unit: int,
    source: Tokens,
) -> bool:
    """Return whether a draft says a term where it attends to the source of the term."""
    if draft.attention is None:
        return False
    text = document.text_of(sentence, draft)
    spans = document.target.token_spans(draft.tokens)
    for occurrence in document.demand(unit).surface.find(text, len(text)):
        places = tokens_in(spans, occurrence[0])
        attention = draft.attention[places][:, list(source)].sum(axis=1)
        if float(attention.max(initial=0.0)) >= SAID:
            return True
    return False


def _with_terms(text: str, terms: Sequence[_Term]) -> tuple[str, list[Span]]:
    """Return a sentence with terms in place of their sources, and where they stand in it."""
    written, at, length, places = [], 0, 0, []
    for term in terms:
        before = text[at : term.start]
        length += len(before)
        places.append((length, length + len(term.text)))
        length += len(term.text)
        written += [before, term.text]
        at = term.end
    return "".join([*written, text[at:]]), places


def _place_in_given(span: Span, terms: Sequence[_Term], places: Sequence[Span]) -> Span:
    """Return where a token of the sentence with terms stands in the sentence as it was given.

    The tokens of a term stand where its source does.
    """
    moved = 0
    for term, (start, end) in zip(terms, places, strict=True):
        if span[0] < end and span[1] > start:
            return term.start, term.end
        if span[0] >= end:
            moved = term.end - end
    return span[0] + moved, span[1] + moved

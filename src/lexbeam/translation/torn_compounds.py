"""Terms that stand beside a word with which they should be one compound: *Client Rechner*.

A model that reads a term in the source takes it over as a word, and may leave it so where its
language writes one word for two of the source. Only terms that may be in compounds are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import Span, stands_alone
from lexbeam.translation.displaced import CLEAR
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

_WORD_BEFORE = re.compile(r"(\w{3,}) $")
_POLITE = re.compile(r"Ihr(?:e[mnrs]?)?|Ihnen|Sie")
"""German words with a capital that are no nouns."""


def find_torn(document: Document, sentence: SentenceState, hypothesis: Hypothesis) -> list[Tokens]:
    """Return the tokens of terms that are torn from a compound, with the word before each.

    That word has a capital, as nouns have, a space behind it, and translates the word before the
    source of the term.
    """
    if hypothesis.attention is None:
        return []
    text = document.text_of(sentence, hypothesis)
    spans = document.target.token_spans(hypothesis.tokens)
    found: list[Tokens] = []
    for index, source in document.ties(sentence, sentence.assigned).items():
        demand = document.demand(sentence.assigned[index].unit)
        before = _source_before(document, sentence, source) if demand.asked.compound else []
        for part, *_ in demand.surface.find(text, len(text)) if before else ():
            word = _noun_before(text, part)
            if word is None:
                continue
            attention = hypothesis.attention[tokens_in(spans, word)][:, before].sum(axis=1)
            if float(attention.max(initial=0.0)) >= CLEAR:
                torn = tokens_in(spans, (word[0], part[1]))
                found.append(tuple(hypothesis.tokens[min(torn) : max(torn) + 1]))
    return found


def _noun_before(text: str, part: Span) -> Span | None:
    """Return the word with a capital before a part of a text, unless the text begins with it."""
    word = _WORD_BEFORE.search(text[: part[0]])
    if word is None or word.start() == 0 or not stands_alone(text, part):
        return None
    is_noun = word[1][0].isupper() and not _POLITE.fullmatch(word[1])
    return word.span(1) if is_noun else None


def _source_before(document: Document, sentence: SentenceState, source: Sequence[int]) -> list[int]:
    """Return the tokens of the word before some source tokens; none if it is not right there."""
    spans = document.token_spans(sentence, sentence.assigned)
    start = min(spans[token][0] for token in source)
    word = _WORD_BEFORE.search(sentence.part.text[:start])
    return tokens_in(spans, word.span(1)) if word else []

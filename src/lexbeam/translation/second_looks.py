"""Which sentences are searched a second time for the sake of words around their tied constraints.

A second look takes as long as the first one, and there may be several. It is meant for terms in a
sentence. Where a few words have to say much that is not in them, or where hundreds of forms would
have to be compiled again, it betters little and takes many times as long as a free translation.
"""

from __future__ import annotations

from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spoilt import may_search_again

_TIMES = 2
_MORE = 12
"""An output of more than so many times the tokens of its draft, and so many more, says much that is
not in its source."""

_FORMS = 16
"""So many forms are compiled in the time that a token of a free translation takes, or in less."""

_LEAST = 8
"""Shorter sentences are taken to have so many tokens."""


def is_worth_a_second_look(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence that has been searched is short and simple enough for another."""
    if not may_search_again(document, sentence):
        return False
    draft = sentence.best.draft
    if draft is not None and len(sentence.best.tokens) > _TIMES * len(draft.tokens) + _MORE:
        return False
    forms = len(sentence.prefix.spellings) + sum(
        len(spellings)
        for piece in sentence.assigned
        for spellings in document.demand(piece.unit).parts[piece.first : piece.last]
    )
    return forms <= _FORMS * max(len(sentence.source), _LEAST)

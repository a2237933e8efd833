"""Whether a translation is so much longer than it would have to be that it is of no use."""

from __future__ import annotations

from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

_TIMES = 2
_MORE = 8
"""A translation of so many times the tokens of its draft and of all that is demanded, and so many
more, ran on to no purpose: there are words in it that translate nothing."""


def is_spoilt(document: Document, sentence: SentenceState) -> bool:
    """Return whether the best translation of a sentence is far longer than draft and demands.

    A search of the same demands in another way would run on in the same way, and takes as long.
    """
    draft = sentence.best.draft
    if draft is None:
        return False
    demanded = sum(
        min((len(each.ids) for each in spellings), default=0)
        for piece in sentence.assigned
        for spellings in document.demand(piece.unit).parts[piece.first : piece.last]
    )
    prefix = max((len(each.ids) for each in sentence.prefix.spellings), default=0)
    return len(sentence.best.tokens) > _TIMES * (len(draft.tokens) + demanded + prefix) + _MORE

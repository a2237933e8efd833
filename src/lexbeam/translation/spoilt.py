"""Whether a search ran on so much longer than it would have to that another one is of no use."""

from __future__ import annotations

from functools import partial

from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

_TIMES = 1.5
_MORE = 8
"""A search of so many times the tokens of its source and of all that is demanded, and so many more,
ran on to no purpose: there are words in it that translate nothing."""


def may_search_again(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence may be searched again for the sake of a better translation.

    If only a free translation ran on, a search with what is demanded need not.
    """
    make_job = partial(document.job, sentence, sentence.sought)
    allowed = document.effort.allows_another(make_job, sentence.best)
    return allowed and (sentence.is_free or not is_spoilt(document, sentence))


def is_spoilt(document: Document, sentence: SentenceState) -> bool:
    """Return whether the search of a sentence took far more steps than source and demands have.

    A search of the same demands in another way would run on in the same way, and takes as long.
    """
    demanded = sum(
        min((len(each.ids) for each in spellings), default=0)
        for piece in sentence.assigned
        for spellings in document.demand(piece.unit).parts[piece.first : piece.last]
    )
    prefix = max((len(each.ids) for each in sentence.prefix.spellings), default=0)
    steps = max(sentence.best.steps, len(sentence.best.tokens))
    return steps > _TIMES * (len(sentence.source) + demanded + prefix) + _MORE

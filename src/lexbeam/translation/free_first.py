"""The first search of a text: a free translation that has everything is taken as it is.

What the source itself demands, such as its placeholders, is mostly in the free translation
already. A search with constraints divides the beam and may find something worse.
"""

from __future__ import annotations

from functools import partial

from lexbeam.translation.completeness import has_everything
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.ties import competes, search_tied


def search_sentences(document: Document) -> JobGenerator[None]:
    """Search for the sentences of a text with what is assigned to them.

    Where a tied constraint may compete with a word of the model, a draft inside the search shows
    the word. Only if the draft has everything is a free translation tried.
    """
    tied = [each for each in document.sentences if competes(document, each)]
    yield from search_tied(document, tied, partial(_may_be_free, document))
    tried = [
        each for each in document.sentences if not each.hypotheses and _may_be_free(document, each)
    ]
    found = (yield [document.job(each, []) for each in tried]) if tried else []
    for sentence, hypotheses in zip(tried, found, strict=True):
        if hypotheses:
            sentence.take(hypotheses, [])
            if has_everything(document, sentence, sentence.best):
                sentence.searched = list(sentence.assigned)
            else:
                sentence.hypotheses = []
    yield from document.search([each for each in document.sentences if not each.hypotheses])


def _may_be_free(document: Document, sentence: SentenceState) -> bool:
    """Return whether all that a sentence has to say comes from the source, and only one is asked.

    What may be part of a compound counts as well: the model may write the compound in pieces by
    which the search does not know it. What has to be written into the text afterwards is never in
    a free translation.
    """
    if document.settings.nbest > 1 or not sentence.assigned:
        return False
    demands = [document.demand(piece.unit) for piece in sentence.assigned]
    return all(
        (demand.asked.is_from_source or demand.asked.compound)
        and demand.asked.soft is None
        and not any(spelling.is_rewritten for spelling in demand.spellings)
        for demand in demands
    )

"""The first search of a text: a free translation that has everything is taken as it is.

What the source itself demands, such as its placeholders, is mostly in the free translation
already. A search with constraints divides the beam and may find something worse.
"""

from __future__ import annotations

from lexbeam.constraints.matching import find_all, find_excess
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.ties import competes, search_tied


def search_sentences(document: Document) -> JobGenerator[None]:
    """Search for the sentences of a text with what is assigned to them.

    Where a tied constraint may compete with a word of the model, a draft shows the word. Only if
    the draft has everything is a free translation tried.
    """
    drafted = [each for each in document.sentences if competes(document, each)]
    found = (yield [document.draft(each) for each in drafted]) if drafted else []
    drafts = {id(s): each[0] for s, each in zip(drafted, found, strict=True) if each}
    tried = [
        each
        for each in document.sentences
        if _may_be_free(document, each)
        and (id(each) not in drafts or _has_everything(document, each, drafts[id(each)]))
    ]
    found = (yield [document.job(each, []) for each in tried]) if tried else []
    for sentence, hypotheses in zip(tried, found, strict=True):
        if hypotheses:
            sentence.take(hypotheses, [])
    kept = [e for e in tried if e.hypotheses and _has_everything(document, e, e.best)]
    for sentence in kept:
        sentence.searched = list(sentence.assigned)
    left = [each for each in document.sentences if each not in kept]
    yield from search_tied(
        document, left, {i: drafts[id(each)] for i, each in enumerate(left) if id(each) in drafts}
    )


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


def _has_everything(document: Document, sentence: SentenceState, hypothesis: Hypothesis) -> bool:
    """Return whether a hypothesis has what is assigned, and nothing too often or avoided."""
    text = document.text_of(sentence, hypothesis)
    if document.avoidance.find(text):
        return False
    demands = {piece.unit: document.demand(piece.unit) for piece in sentence.assigned}
    wanted = [
        document.demand(piece.unit).surface.cut(piece.first, piece.last)
        for piece in sentence.assigned
    ]
    if not all(find_all(text, wanted)):
        return False
    return not find_excess(text, list({demand.surface: None for demand in demands.values()}))

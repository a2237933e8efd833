"""The first search of a text: a free translation that has everything is taken as it is.

A search with constraints divides the beam and may find something worse, though the words are there
anyway; and the model may write a word in other pieces than the search knows it by. What the source
itself demands, such as its placeholders, or has, such as names, is mostly in the free translation
already. So may be a word alone where the source has words behind quotation marks, brackets or
slashes, where vocabularies write words in other pieces. For all else a draft, the quick translation
without constraints that a search for several words begins with, shows whether it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from lexbeam.constraints.matching import find_all
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.completeness import has_everything
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spelled import SpelledConstraint
from lexbeam.translation.ties import competes, search_tied

_BEHIND_A_MARK = re.compile(
    r"[\"“”„«»‹›‘‚《》〈〉「」『』【】()（）\[\]{}<>`]|(?<!\w)[^\w\s]\w|\w[/=|]\w"
)
"""Quotation marks, brackets, and whatever else a word touches that is no part of it."""


def search_sentences(document: Document) -> JobGenerator[None]:
    """Search for the sentences of a text with what is assigned to them.

    Where a tied constraint may compete with a word of the model, a draft inside the search shows
    the word. Only if the draft has everything is a free translation tried.
    """
    tied = [each for each in document.sentences if competes(document, each)]
    yield from search_tied(document, tied, partial(_may_be_free, document))
    left = [each for each in document.sentences if not each.hypotheses]
    tried = [each for each in left if _may_be_free(document, each)]
    drafted: list[SentenceState] = []
    if POLICIES[document.settings.algorithm].needs_future_cost:  # others are studied as they are
        tried += [each for each in left if each not in tried and _is_likely_there(document, each)]
        drafted = [each for each in left if each not in tried and _may_be_there(document, each)]
    yield from _search_unless_drafted(document, drafted)
    tried += [each for each in drafted if not each.hypotheses]
    found = (yield [document.job(each, []) for each in tried]) if tried else []
    for sentence, hypotheses in zip(tried, found, strict=True):
        if hypotheses:
            sentence.take(hypotheses, [])
            if has_everything(document, sentence, sentence.best):
                sentence.searched = list(sentence.assigned)
            else:
                sentence.hypotheses = []
    yield from document.search([each for each in document.sentences if not each.hypotheses])


@dataclass(frozen=True)
class _Completeness:
    """Looks whether a draft has everything; nothing is displaced by what is not tied."""

    document: Document = field(compare=False, repr=False)
    sentence: SentenceState = field(compare=False, repr=False)

    def find(self, draft: Hypothesis) -> list[Tokens] | None:
        """Return that nothing is displaced; None: the draft has everything."""
        return None if has_everything(self.document, self.sentence, draft) else []


def _search_unless_drafted(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[None]:
    """Search for sentences, except for those whose drafts have everything."""
    jobs = [
        document.job(each, each.assigned, displacement=_Completeness(document, each))
        for each in sentences
    ]
    found = (yield jobs) if jobs else []
    for sentence, hypotheses in zip(sentences, found, strict=True):
        if hypotheses:
            sentence.take(hypotheses, sentence.assigned)


def _may_be_free(document: Document, sentence: SentenceState) -> bool:
    """Return whether all that a sentence has to say comes from the source, and only one is asked.

    What may be part of a compound counts as well: the model may write the compound in pieces by
    which the search does not know it.
    """
    return _may_be_there(
        document, sentence, lambda demand: demand.asked.is_from_source or demand.asked.compound
    )


def _is_likely_there(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence has all that its translation has to say, as a text search finds it.

    Names, numbers and words behind tags are copied by most models. Of a sentence with words behind
    marks that is taken for granted if only one thing is demanded: there is no draft to show it.
    """
    if not _may_be_there(document, sentence):
        return False
    wanted = [document.demand(piece.unit).surface for piece in sentence.assigned]
    alone = len(wanted) == 1 and len(wanted[0].parts) == 1
    text = sentence.part.text
    return all(find_all(text, wanted)) or (alone and bool(_BEHIND_A_MARK.search(text)))


def _may_be_there(
    document: Document,
    sentence: SentenceState,
    also: Callable[[SpelledConstraint], bool] = lambda _: True,
) -> bool:
    """Return whether a free translation may have all that a sentence has to say.

    What has to be written into the text afterwards is never in it. Of a sentence with nothing to
    say, or of which several translations are asked for, it is not taken.
    """
    if document.settings.nbest > 1 or not sentence.assigned:
        return False
    demands = [document.demand(piece.unit) for piece in sentence.assigned]
    return all(
        also(demand)
        and demand.asked.soft is None
        and not any(spelling.is_rewritten for spelling in demand.spellings)
        for demand in demands
    )

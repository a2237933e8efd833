"""Terms for whose source a free translation has no word at all.

Small models leave out words. Where a term is just what was missing, it costs next to nothing to
say it: *Objekt-Explorer-Knoten* is nearly as probable as *Objekt-Explorer*. Where it costs much,
there is no place for it in the sentence as the model sees it, and to say it spoils the rest. So
such a term is demanded first, and left out if the output with it is much less probable than the
free translation is. Only terms of glossaries that may be in compounds are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from lexbeam.translation.completeness import has_everything
from lexbeam.translation.displaced import find_displaced, shares_of, split_words
from lexbeam.translation.document import Document
from lexbeam.translation.drafted_compounds import UNSAID_SHARE, may_be_left, soften
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.replaced_words import given_sources
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.terms_in_source import score_as_given

UNSAID = 2.0
"""The log-probability that a term may cost for which the free translation has no word."""

REPLACING = 5.0
"""The log-probability that any other term may cost beside one, before that one is left out."""

REASON = "the model has no word for its source here"
"""What the report says of a term that is left out."""


def leave_unsaid(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[list[SentenceState]]:
    """Leave out terms that free translations have no words for, where they cost much.

    Where the free translation has all that is demanded then, it is taken. The other sentences are
    returned: they have to be searched once more.
    """
    asked = [(each, _find_unsaid(document, each)) for each in sentences if each.free]
    asked = [(sentence, lacking) for sentence, lacking in asked if any(lacking.values())]
    scored = yield from score_as_given(document, [(each, each.best) for each, _ in asked])
    again = []
    for (sentence, lacking), best in zip(asked, scored, strict=True):
        free = sentence.free
        assert free is not None
        allowed = sum(UNSAID if is_unsaid else REPLACING for is_unsaid in lacking.values())
        length = (len(free.tokens) + 1) ** document.settings.length_penalty
        if (free.score - best.score) * length <= allowed:
            continue
        _leave(document, sentence, {unit for unit, is_unsaid in lacking.items() if is_unsaid})
        if has_everything(document, sentence, free, sentence.left):
            sentence.take([free], [])
            sentence.searched = list(sentence.assigned)
        else:
            again.append(sentence)
    return again


def _find_unsaid(document: Document, sentence: SentenceState) -> dict[int, bool]:
    """Return the units that a free translation lacks, and whether it has no word for their source.

    Nothing for a sentence of which several translations are asked for.
    """
    free = sentence.free
    if free is None or free.attention is None or document.settings.nbest > 1:
        return {}
    text = document.text_of(sentence, free)
    words = split_words(document.target.pieces(free.tokens))
    lacking = {}
    for unit, tokens in given_sources(document, sentence).items():
        demand = document.demand(unit)
        if not demand.surface.find(text, 1):
            is_unsaid = max(shares_of(free.attention, tokens, words)) < UNSAID_SHARE
            lacking[unit] = is_unsaid and may_be_left(demand.asked)
    return lacking


def _leave(document: Document, sentence: SentenceState, units: set[int]) -> None:
    """Take some terms from a sentence, which is as it was before it was searched then."""
    soften(document, units, 0.0, REASON)
    sentence.left |= units
    sentence.assigned = [piece for piece in sentence.assigned if piece.unit not in units]
    sentence.terms, sentence.hypotheses = {}, []
    free = sentence.free
    assert free is not None
    sentence.displaced = find_displaced(document, sentence, free)

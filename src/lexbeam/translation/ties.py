"""Constraints that are tied to the words of the source they translate.

A glossary knows which words of the source a term translates, and so may a caller (``source``).
The search then says the term where the model translates these words (`lexbeam.search.ties`). What
the model would have said there instead is found in a draft, a quick translation without
constraints, and avoided: a term replaces a word and does not stand beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from lexbeam.constraints.constraint import Constraint, SourceSpans
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.kinds.phrase import Phrase
from lexbeam.errors import ConstraintError, quoted
from lexbeam.search.beam import Hypothesis
from lexbeam.text.casing import matches
from lexbeam.text.compounds import word_around
from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import are_glued, is_word_character
from lexbeam.translation.avoided import Avoidance
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.sentence import SentenceState

CLEAR = 0.5
"""The share of attention from which on a word of a draft is taken to translate a source."""

POOR = 1.0
"""How far a translation's score may lie below that of the draft before it is searched again."""

WIDER = 3
"""How many times as wide the beam is then."""

_SHORT = 3  # letters of a word that is more likely to go with a term than to be replaced by it


def find_sources(constraints: Constraints, text: str) -> Constraints:
    """Return constraints that know where in a text stand the sources that callers name.

    Raises:
        ConstraintError: a source is not in the text.
    """
    if all(each.source is None or each.source_spans for each in constraints.demanded):
        return constraints
    found = tuple(
        replace(each, source_spans=_spans_of(each, text)) if each.source is not None else each
        for each in constraints.demanded
    )
    return replace(constraints, demanded=found)


def _spans_of(constraint: Constraint, text: str) -> SourceSpans:
    """Return where the source of a constraint stands, one span per count."""
    source = constraint.source
    if isinstance(source, str):
        spans = sorted(matches(text, source, "any", starts=(0,)))
        if not spans:
            raise ConstraintError(
                f"the source {quoted(source)} of {quoted(constraint.text)} is not in the text"
            )
    else:
        assert source is not None
        spans = [source]
        if source[1] > len(text):
            raise ConstraintError(
                f"the source {list(source)} of {quoted(constraint.text)} is outside the text, "
                f"which has {len(text)} characters"
            )
    spans += spans[-1:] * (constraint.count - len(spans))
    return tuple(spans[: constraint.count])


def search_tied(
    document: Document, sentences: Sequence[SentenceState], drafts: Mapping[int, Hypothesis]
) -> JobGenerator[None]:
    """Search for sentences; terms replace what the drafts of some sentences say for their source.

    ``drafts`` are given by the index of the sentence. Where there is no way to meet everything
    without what the drafts say, nothing is avoided on account of ties.
    """
    drafted = [(sentences[index], draft) for index, draft in drafts.items()]
    for sentence, draft in drafted:
        sentence.untied = _said_in_compounds(document, sentence, draft)
        sentence.displaced = find_displaced(document, sentence, draft)
    try:
        yield from document.search(sentences)
    except ConstraintError:
        if not any(sentence.displaced for sentence, _ in drafted):
            raise
        for sentence, _ in drafted:
            sentence.displaced = []
        yield from document.search(sentences)
    yield from _search_wider(document, drafted)


def _search_wider(
    document: Document, drafted: Sequence[tuple[SentenceState, Hypothesis]]
) -> JobGenerator[None]:
    """Search again with a wider beam where a translation is far worse than the free one.

    What stands beside a term is decided before the term is said: a narrow beam may have lost it.
    """
    poor = [each for each, draft in drafted if each.best.score < draft.score - POOR]
    settings = document.settings.of_ties
    settings = replace(settings, beam_size=WIDER * settings.beam_size)
    found = yield [document.job(each, each.assigned, settings) for each in poor] if poor else []
    for sentence, hypotheses in zip(poor, found, strict=True):
        if hypotheses and hypotheses[0].score > sentence.best.score:
            sentence.take(hypotheses, sentence.assigned)


def find_displaced(
    document: Document, sentence: SentenceState, draft: Hypothesis
) -> list[tuple[int, ...]]:
    """Return the tokens of what a draft says for the sources of tied constraints."""
    if draft.attention is None:
        return []
    words = split_words(document.target.pieces(draft.tokens))
    texts = [document.target.decode(draft.tokens[start:end]).strip() for start, end in words]
    demanded = _demanded_words(document)
    demanded |= {text.casefold() for text in texts if _has_part(document, sentence, text)}
    displaced: list[str] = []
    for tokens in document.ties(sentence, sentence.assigned).values():
        share = np.asarray(draft.attention[:, list(tokens)].sum(axis=1), np.float64)
        shares = [float(share[start:end].max()) for start, end in words]
        several = _has_several_words(document, sentence, tokens)
        displaced += _said_for(texts, shares, several)
    known = [text.casefold() for text in texts]
    usable = [
        word
        for word in dict.fromkeys(displaced)
        if word.casefold() not in demanded and known.count(word.casefold()) == 1
    ]
    phrases = tuple(Phrase(((word,),), case="any") for word in usable)
    # Behind a hyphen, too: a word that is replaced should not come back as part of a compound.
    unspaced = [way.ids for word in usable for way in document.vocabulary.spell_all(word)]
    return list(dict.fromkeys((*Avoidance.spell(phrases, document.vocabulary).tokens, *unspaced)))


def _said_in_compounds(document: Document, sentence: SentenceState, draft: Hypothesis) -> set[int]:
    """Return the units that may be in compounds and that a draft has; let the search know them.

    A compound is said where the model attends to the sources of all its parts. And its pieces may
    be others than the search knows: one for the whole compound.
    """
    text = document.text_of(sentence, draft)
    units = set()
    for piece in sentence.assigned:
        demand = document.demand(piece.unit)
        for part, *_ in demand.surface.find(text) if demand.asked.compound else ():
            tokens = document.target.tokens_at(draft.tokens, word_around(text, part))
            document.demands[document.units[piece.unit]] = demand.also(tokens, text[slice(*part)])
            units.add(piece.unit)
    return units


def _has_part(document: Document, sentence: SentenceState, word: str) -> bool:
    """Return whether a word is a compound with something demanded that may be in one."""
    demands = (document.demand(piece.unit).surface for piece in sentence.assigned)
    return any(each.compound and bool(each.find(word)) for each in demands)


def _said_for(texts: Sequence[str], shares: Sequence[float], several: bool) -> list[str]:
    """Return the words that attend to a source: the best one, or all for several words."""
    clear = [
        (share, text)
        for share, text in zip(shares, texts, strict=True)
        if share >= CLEAR and any(map(is_word_character, text))
    ]
    longer = [(share, text) for share, text in clear if len(text) > _SHORT]
    if several:
        return [text for _, text in longer]
    return [max(longer or clear)[1]] if clear else []


def competes(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence has a tied constraint that is not the source itself, kept."""
    for index in document.ties(sentence, sentence.assigned):
        asked = document.demand(sentence.assigned[index].unit).asked
        sources = {document.text[start:end] for start, end in asked.source_spans}
        if not all(form in sources for part in asked.parts for form in part):
            return True
    return False


def _has_several_words(document: Document, sentence: SentenceState, tokens: Sequence[int]) -> bool:
    """Return whether there is a space between source tokens."""
    spans = document.token_spans(sentence)
    start, end = spans[min(tokens)][0], spans[max(tokens)][1]
    return " " in sentence.part.text[start:end].strip()


def _demanded_words(document: Document) -> set[str]:
    """Return all words of what is demanded, in any sentence and form, in lower case.

    What has no place yet may come to be placed in any sentence: nothing of it may be avoided.
    """
    forms = [
        form.casefold()
        for demand in document.demands
        for part in demand.asked.parts
        for form in part
    ]
    return {word for form in forms for word in (form, *form.split(), *re.findall(r"\w+", form))}


def split_words(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Return the words that pieces make up, each as its first piece and the one after its last."""
    starts = [
        i
        for i, piece in enumerate(pieces)
        if i == 0 or piece.startswith(SPACE) or not _goes_on(pieces[i - 1], piece)
    ]
    return list(pairwise([*starts, len(pieces)]))


def _goes_on(before: str, piece: str) -> bool:
    """Return whether a piece goes on with the word of the piece before it."""
    left, right = before.replace(SPACE, " "), piece.replace(SPACE, " ")
    return bool(left and right) and are_glued(left[-1], right[0])

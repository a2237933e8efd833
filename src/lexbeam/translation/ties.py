"""Constraints that are tied to the words of the source they translate.

A glossary knows which words of the source a term translates, and so may a caller (``source``).
The search then says the term where the model translates these words (`lexbeam.search.ties`). What
the model would have said there instead is found in a draft, a quick translation without
constraints, and avoided: a term replaces a word and does not stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lexbeam.constraints.constraint import Constraint, SourceSpans
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import ConstraintError, InputError, quoted, represented
from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.casing import matches
from lexbeam.text.subsequences import find_subsequence
from lexbeam.translation.completeness import has_everything
from lexbeam.translation.displaced import CLEAR, count_other_uses, find_displaced
from lexbeam.translation.document import Document
from lexbeam.translation.drafted_compounds import keep_compounds
from lexbeam.translation.drafted_verbs import leave_verbs, may_have_verbs
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.left_neighbours import search_with_other_neighbours
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.replaced_words import find_places
from lexbeam.translation.second_looks import is_worth_a_second_look
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spoilt import is_spoilt
from lexbeam.translation.terms_in_source import search_with_terms_read
from lexbeam.translation.unsaid_terms import leave_unsaid

COSTLY = 13.0
"""How much less probable, in logarithms, each tied constraint may make an output than its draft is
before the sentence is searched once more."""

_RUNS_ON = 1.3
"""How many times as many steps a thorough search takes as the one before it, roughly."""


def find_sources(constraints: Constraints, source: ReadableSource) -> Constraints:
    """Return constraints that know where in a text stand the sources that callers name.

    Words are looked for in what the model reads, and then in the text as it was given; offsets are
    those of the given text.

    Raises:
        ConstraintError: a source is not in the text.
    """
    if all(each.source is None or each.source_spans for each in constraints.demanded):
        return constraints
    found = tuple(
        replace(each, source_spans=_spans_of(each, source)) if each.source is not None else each
        for each in constraints.demanded
    )
    return replace(constraints, demanded=found)


def _spans_of(constraint: Constraint, text: ReadableSource) -> SourceSpans:
    """Return where the source of a constraint stands, one span per count."""
    source = constraint.source
    if isinstance(source, str):
        spans = sorted(matches(text.text, source, "any", starts=(0,)))
        if not spans:  # a tag may stand in a word
            there = sorted(matches(text.given, source, "any", starts=(0,)))
            spans = [span for span in map(text.to_read, there) if span[0] < span[1]]
            if there and not spans:
                return ()
        if not spans:
            raise ConstraintError(
                f"the source {quoted(source)} of {quoted(constraint.text)} is not in the text"
            )
    else:
        assert source is not None
        if source[1] > len(text.given):
            raise ConstraintError(
                f"the source {represented(list(source))} of {quoted(constraint.text)} is outside "
                f"the text, which has {len(text.given)} characters"
            )
        if not text.given[slice(*source)].strip():
            raise ConstraintError(
                f"the source {list(source)} of {quoted(constraint.text)} is only white space"
            )
        spans = [text.to_read(source)]
        if not text.text[slice(*spans[0])].strip():
            return ()  # it is in a tag
    spans += spans[-1:] * (constraint.count - len(spans))
    return tuple(spans[: constraint.count])


@dataclass(frozen=True)
class DisplacedWords:
    """Finds what the tied constraints of a sentence displace; the search shows it a draft."""

    may_be_free: bool
    """Whether a free translation will do if the draft has everything."""
    document: Document = field(compare=False, repr=False)
    sentence: SentenceState = field(compare=False, repr=False)

    def find(self, draft: Hypothesis) -> list[Tokens] | None:
        """Return the tokens of what a draft says for the sources; None: it has everything."""
        document, sentence = self.document, self.sentence
        other_uses = count_other_uses(document, sentence, draft)
        if self.may_be_free and not other_uses and has_everything(document, sentence, draft):
            return None
        sentence.other_uses = other_uses
        sentence.displaced = find_displaced(document, sentence, draft)
        return sentence.displaced


def search_tied(
    document: Document,
    sentences: Sequence[SentenceState],
    may_be_free: Callable[[SentenceState], bool],
) -> JobGenerator[None]:
    """Search for sentences with tied constraints, which replace what drafts say for their source.

    Sentences whose drafts have everything are not searched if they may be free. Where there is no
    way to meet everything without what a draft says, nothing is avoided on account of ties.
    """
    yield from _draft(document, sentences, may_be_free)
    sentences = [each for each in sentences if not each.hypotheses]
    yield from _search_drafted(document, sentences, may_be_free)
    again = yield from leave_unsaid(document, [each for each in sentences if each.hypotheses])
    yield from _search_drafted(document, again, may_be_free)


def _search_drafted(
    document: Document,
    sentences: Sequence[SentenceState],
    may_be_free: Callable[[SentenceState], bool],
) -> JobGenerator[None]:
    """Search for sentences with tied constraints that are not answered by their drafts."""
    jobs = [
        document.job(
            each,
            each.assigned,
            displacement=None
            if each.displaced is not None
            else DisplacedWords(may_be_free(each), document, each),
        )
        for each in sentences
    ]
    displaces = any(each.displaced for each in sentences)
    try:
        found = (yield jobs) if jobs else []
    except ConstraintError:
        if not displaces:  # What drafts displace is left to them by the search itself.
            raise
        for each in sentences:
            each.displaced = []
        yield from document.search(sentences)
        return
    for sentence, hypotheses in zip(sentences, found, strict=True):
        if hypotheses:
            sentence.take(hypotheses, sentence.assigned)
            draft = hypotheses[0].draft
            if draft is not None and sentence.displaced is None:
                # The search was not made for this sentence.
                sentence.displaced = find_displaced(document, sentence, draft)
                sentence.other_uses = count_other_uses(document, sentence, draft)
    again = [each for each in sentences if each.other_uses]
    if again:
        yield from _search_with_other_uses(document, again)
    searched = [
        each for each in sentences if each.hypotheses and is_worth_a_second_look(document, each)
    ]
    # Else the free translation with its terms will be there to compare.
    alone = [
        each for each in searched if not (document.reads_terms and find_places(document, each))
    ]
    yield from _search_thoroughly(document, alone)
    yield from search_with_other_neighbours(document, alone)
    for sentence in searched:
        _add_draft(document, sentence)
    if document.reads_terms:
        yield from search_with_terms_read(document, searched)


def _draft(
    document: Document,
    sentences: Sequence[SentenceState],
    may_be_free: Callable[[SentenceState], bool],
) -> JobGenerator[None]:
    """Draft the sentences of which something may be in a compound, or the source may be a verb.

    The draft is a free translation: where it has everything, it is taken as it is.
    """
    some = [
        each
        for each in sentences
        if _may_be_in_compounds(document, each) or may_have_verbs(document, each)
    ]
    found = (yield [document.draft(each) for each in some]) if some else []
    for sentence, hypotheses in zip(some, found, strict=True):
        if not hypotheses:
            continue
        draft = sentence.free = hypotheses[0]
        leave_verbs(document, sentence, draft)
        if _may_be_in_compounds(document, sentence):
            keep_compounds(document, sentence, draft)
            sentence.displaced = find_displaced(document, sentence, draft)
        elif sentence.assigned:
            continue
        _take_free(document, sentence, hypotheses, may_be_free)


def _take_free(
    document: Document,
    sentence: SentenceState,
    hypotheses: list[Hypothesis],
    may_be_free: Callable[[SentenceState], bool],
) -> None:
    """Take a free translation that has everything, but for terms that are left to the model."""
    assigned = sentence.assigned
    sentence.assigned = [piece for piece in assigned if piece.unit not in sentence.left]
    is_free = may_be_free(sentence) or not (sentence.assigned or document.settings.nbest > 1)
    if is_free and has_everything(document, sentence, hypotheses[0]):
        sentence.take(hypotheses, [])
        sentence.searched = list(assigned)
    sentence.assigned = assigned


def _may_be_in_compounds(document: Document, sentence: SentenceState) -> bool:
    """Return whether something that a sentence has to say may be part of a compound."""
    return any(document.demand(piece.unit).asked.compound for piece in sentence.assigned)


def _search_with_other_uses(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[None]:
    """Search once more where drafts say terms for other words as well: so often more.

    Else a term would be met by what translates another word.
    """
    for sentence in sentences:
        for number, count in sentence.other_uses.items():
            document.demands[number] = document.demands[number].allow_more(count)
            piece = next(p for p in sentence.assigned if document.units[p.unit] == number)
            sentence.repeated[piece] += count
    try:
        yield from document.search(sentences)
    except InputError:  # there is no room for that
        for sentence in sentences:
            sentence.repeated.clear()
        yield from document.search(sentences)


def _cost(document: Document, sentence: SentenceState) -> float:
    """Return how much less probable each tied constraint makes a sentence than its draft is.

    That is not counted per token: in a long sentence a term that is out of place costs little of
    the mean. Without a draft or ties it is 0.
    """
    draft = sentence.best.draft
    if draft is None:
        return 0.0
    ties = len(document.ties(sentence, sentence.assigned))
    return (draft.log_prob - sentence.best.log_prob) / max(ties, 1)


def _has_places(document: Document, sentence: SentenceState) -> bool:
    """Return whether a draft says something for the source of each tied constraint.

    Where it does not, it shows neither what the constraint costs nor when it is due.
    """
    draft = sentence.best.draft
    if draft is None or draft.attention is None:
        return True
    sources = document.ties(sentence, sentence.assigned).values()
    return all(draft.attention[:, source].sum(axis=1).max() >= CLEAR for source in sources)


def _search_thoroughly(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[None]:
    """Search once more where terms cost much, with a wider beam; keep what has the better score.

    What has to stand before a term is mostly found at once. Where it is not, the output is much
    worse than it would have to be, and reads so. The same where a draft does not show when a term
    is due. What has yet to say the term must not be dropped for its lag then. An output that
    runs on is not made good by that, and what has to stand before parts of a pattern, such as a
    gap, is another matter.
    """
    keeps_all = replace(document.settings.of_search, lag=None)
    costly = [
        each
        for each in sentences
        if _cost(document, each) > COSTLY or not _has_places(document, each)
    ]
    costly = [
        each
        for each in costly
        if not is_spoilt(document, each) and not _has_parts_tied(document, each)
    ]
    looks = [
        (each, document.job(each, each.assigned, keeps_all, thorough=True, insists=False))
        for each in costly
    ]
    looks = document.effort.affordable(
        ((each, look), _RUNS_ON * document.effort.cost(look, [each.best])) for each, look in looks
    )
    try:
        found = (yield [look for _, look in looks]) if looks else []
    except InputError:  # with what ties displace there is no way
        return
    for (sentence, _), hypotheses in zip(looks, found, strict=True):
        sentence.add(hypotheses, document.settings.nbest)


def _has_parts_tied(document: Document, sentence: SentenceState) -> bool:
    """Return whether a tied constraint of a sentence has several parts."""
    tied = [sentence.assigned[index] for index in document.ties(sentence, sentence.assigned)]
    return any(piece.last - piece.first > 1 for piece in tied)


def _add_draft(document: Document, sentence: SentenceState) -> None:
    """Let the draft of a sentence count as found if it has every term in its place."""
    draft = next((each.draft for each in sentence.hypotheses if each.draft is not None), None)
    if draft is None or not draft.finished or sentence.other_uses:
        return
    if any(find_subsequence(draft.tokens, each) for each in sentence.displaced or ()):
        return
    if draft.score > sentence.hypotheses[-1].score and has_everything(document, sentence, draft):
        sentence.add([draft], document.settings.nbest)


def competes(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence has a tied constraint that is not the source itself, kept."""
    for index in document.ties(sentence, sentence.assigned):
        if not document.demand(sentence.assigned[index].unit).asked.is_source_in(document.text):
            return True
    return False

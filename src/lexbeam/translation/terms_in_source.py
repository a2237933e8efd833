"""Terms that the model reads in the source, in place of the words that they translate.

A model that was trained so (`lexbeam.train.inserted_terms`) knows a term before it says the
article, and the place of the term in the sentence. The search demands the term as ever. Only what
a draft lacks is put into the source: what the model says by itself needs no help. What is reported
in the end is the score of the output for the source as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexbeam.errors import InputError
from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import stands_alone
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import Hypotheses, Job, JobGenerator
from lexbeam.translation.reading import TermInSource
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.torn_compounds import find_torn

SAID = 0.3
"""The share of attention from which on a term of a draft translates its source."""

MOST = 12
"""A sentence that has to say more than so much is not searched a second time."""


def search_with_terms_read(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[None]:
    """Search once more for sentences with the terms in their sources; keep what is better.

    What the sentence says and what its terms are, neither alone tells which output is better: the
    scores for both sources, as given and with the terms, are added up.
    """
    reading = [each for each in sentences if _read_terms(document, each)]
    found = yield from _search(document, [(each, ()) for each in reading])
    pairs = [(each, new) for each, new in zip(reading, found, strict=True) if new]
    pairs = yield from _without_torn(document, pairs)
    new_as_given = yield from score_as_given(document, [(each, new[0]) for each, new in pairs])
    old_as_read = (yield [_score_as_read(document, each) for each, _ in pairs]) if pairs else []
    compared = zip(pairs, new_as_given, old_as_read, strict=True)
    better = {
        id(sentence): new
        for (sentence, new), as_given, old in compared
        if not old or is_better((as_given.score, new[0].score), (sentence.best.score, old[0].score))
    }
    for sentence in reading:
        if id(sentence) in better:
            sentence.take(better[id(sentence)], sentence.assigned)
        else:
            sentence.terms.clear()


def _search(
    document: Document, sentences: Sequence[tuple[SentenceState, Sequence[Tokens]]]
) -> JobGenerator[list[Hypotheses]]:
    """Search for sentences as they are read, each without some tokens besides."""
    jobs = [document.job(each, each.assigned) for each, _ in sentences]
    jobs = [
        replace(job, avoid=(*job.avoid, *more), align=True)
        for job, (_, more) in zip(jobs, sentences, strict=True)
    ]
    try:
        return (yield jobs) if jobs else []
    except InputError:  # with what is avoided there is no way
        return [[] for _ in jobs]


def _without_torn(
    document: Document, pairs: Sequence[tuple[SentenceState, Hypotheses]]
) -> JobGenerator[list[tuple[SentenceState, Hypotheses]]]:
    """Search once more where terms are torn from compounds; leave out what stays so."""
    torn = [find_torn(document, sentence, new[0]) for sentence, new in pairs]
    again = [(sentence, each) for (sentence, _), each in zip(pairs, torn, strict=True) if each]
    found = iter((yield from _search(document, again)))
    mended = [
        (sentence, next(found) if each else new)
        for (sentence, new), each in zip(pairs, torn, strict=True)
    ]
    return [
        (sentence, new)
        for (sentence, new), each in zip(mended, torn, strict=True)
        if not each or (new and not find_torn(document, sentence, new[0]))
    ]


def is_better(new: tuple[float, float], old: tuple[float, float]) -> bool:
    """Compare the scores of two outputs, each for the source as given and with the terms."""
    return sum(new) > sum(old)


def _read_terms(document: Document, sentence: SentenceState) -> bool:
    """Let a sentence be read with the tied terms that its draft does not say for their sources.

    Of terms whose sources overlap, the first is read. What may be given up is not: the model
    would say it at any price. Returns whether there are such terms; none are looked for where
    much is demanded.
    """
    draft = sentence.best.draft
    if draft is None or len(sentence.assigned) > MOST:
        return False
    lacking: dict[int, TermInSource] = {}
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        unit = sentence.assigned[index].unit
        asked = document.demand(unit).asked
        if len(asked.parts) > 1 or asked.soft is not None or asked.is_source_in(document.text):
            continue
        if not _says(document, sentence, draft, unit, tokens):
            spans = [document.token_spans(sentence)[token] for token in tokens]
            start, end = min(start for start, _ in spans), max(end for _, end in spans)
            lacking[unit] = TermInSource(start, end, _form(document, sentence, unit))
    end = 0
    for unit, term in sorted(lacking.items(), key=lambda each: each[1]):
        if end <= term.start < term.end:
            sentence.terms[unit] = term
            end = term.end
    return bool(sentence.terms)


def _form(document: Document, sentence: SentenceState, unit: int) -> str:
    """Return the form of a term that is read: the one that was found, unless in a compound.

    The search for the given source knows whether its words are singular or plural. A term in its
    first form would hide that.
    """
    text, demand = document.text_of(sentence, sentence.best), document.demand(unit)
    for part, *_ in demand.surface.find(text, len(text)):
        if stands_alone(text, part):
            return text[slice(*part)]
    return demand.asked.parts[0][0]


def _says(
    document: Document, sentence: SentenceState, draft: Hypothesis, unit: int, source: Tokens
) -> bool:
    """Return whether a draft says a term where it attends to the source of the term."""
    if draft.attention is None:
        return False
    text = document.text_of(sentence, draft)
    spans = document.target.token_spans(draft.tokens)
    for part, *_ in document.demand(unit).surface.find(text, len(text)):
        attention = draft.attention[tokens_in(spans, part)][:, list(source)].sum(axis=1)
        if float(attention.max(initial=0.0)) >= SAID:
            return True
    return False


def score_sentences(document: Document) -> JobGenerator[None]:
    """Give the outputs of sentences that were read with terms their scores for the given source."""
    for sentence in document.sentences:
        if sentence.terms:
            found = [(sentence, each) for each in sentence.hypotheses]
            scored = yield from score_as_given(document, found)
            sentence.hypotheses = sorted(scored, key=lambda each: -each.score)


def score_as_given(
    document: Document, found: Sequence[tuple[SentenceState, Hypothesis]]
) -> JobGenerator[list[Hypothesis]]:
    """Return hypotheses with their scores for the sources as they were given."""
    unknown = {
        (id(sentence), tuple(each.tokens)): sentence
        for sentence, each in found
        if sentence.terms and each.finished and tuple(each.tokens) not in sentence.scored
    }
    jobs = [_score(document, each.source, key[1]) for key, each in unknown.items()]
    scored = (yield jobs) if jobs else []
    for ((_, tokens), sentence), hypotheses in zip(unknown.items(), scored, strict=True):
        # Nothing is found where the model rules out what terms in the source allow.
        sentence.scored[tokens] = hypotheses[0] if hypotheses else None
    return [_with_score(each, sentence) for sentence, each in found]


def _score_as_read(document: Document, sentence: SentenceState) -> Job:
    """Return what scores the output of a sentence for the source with its terms."""
    source = document.tokens_read(sentence, sentence.assigned)
    return _score(document, source, tuple(sentence.best.tokens))


def _score(document: Document, source: Tokens, tokens: Tokens) -> Job:
    """Return a search that can find nothing but some tokens."""
    return Job(
        source=source,
        prefix=tokens,
        max_length=max(len(tokens), 1),
        settings=replace(document.settings.of_search, beam_size=1, nbest=1),
        aliases=document.target.aliases,
    )


def _with_score(hypothesis: Hypothesis, sentence: SentenceState) -> Hypothesis:
    scored = sentence.scored.get(tuple(hypothesis.tokens)) if sentence.terms else None
    if scored is None:
        return hypothesis
    return replace(hypothesis, score=scored.score, log_prob=scored.log_prob)

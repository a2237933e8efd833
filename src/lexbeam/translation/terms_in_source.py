"""Terms that the model reads in the source, in place of the words that they translate.

A model that was trained so (`lexbeam.train.inserted_terms`) knows a term before it says the
article, and the place of the term in the sentence. The search demands the term as ever. Only what
a draft lacks is put into the source: what the model says by itself needs no help. What is reported
in the end is the score of the output for the source as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.token_offsets import tokens_in
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import Job, JobGenerator
from lexbeam.translation.reading import TermInSource
from lexbeam.translation.sentence import SentenceState

SAID = 0.3
"""The share of attention from which on a term of a draft translates its source."""


def read_terms(document: Document, sentence: SentenceState, draft: Hypothesis) -> None:
    """Let a sentence be read with the tied terms that its draft does not say for their sources.

    Of terms whose sources overlap, the first is read. What may be given up is not: the model
    would say it at any price.
    """
    lacking: dict[int, TermInSource] = {}
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        unit = sentence.assigned[index].unit
        asked = document.demand(unit).asked
        if len(asked.parts) > 1 or asked.soft is not None or asked.is_source_in(document.text):
            continue
        if not _says(document, sentence, draft, unit, tokens):
            spans = [document.token_spans(sentence)[token] for token in tokens]
            start, end = min(start for start, _ in spans), max(end for _, end in spans)
            lacking[unit] = TermInSource(start, end, asked.parts[0][0])
    end = 0
    for unit, term in sorted(lacking.items(), key=lambda each: each[1]):
        if end <= term.start < term.end:
            sentence.terms[unit] = term
            end = term.end


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
    jobs = [
        _score(document, sentence, tuple(each.tokens))
        for sentence, each in found
        if sentence.terms and each.finished
    ]
    scored = iter((yield jobs) if jobs else [])
    return [
        _with_score(each, next(scored)) if sentence.terms and each.finished else each
        for sentence, each in found
    ]


def _score(document: Document, sentence: SentenceState, tokens: Tokens) -> Job:
    """Return a search of a sentence that can find nothing but some tokens."""
    return Job(
        source=sentence.source,
        prefix=tokens,
        max_length=max(len(tokens), 1),
        settings=replace(document.settings.of_search, beam_size=1, nbest=1),
        aliases=document.target.aliases,
    )


def _with_score(hypothesis: Hypothesis, scored: Sequence[Hypothesis]) -> Hypothesis:
    if not scored:  # the model rules something out that terms in the source allow
        return hypothesis
    return replace(hypothesis, score=scored[0].score, log_prob=scored[0].log_prob)

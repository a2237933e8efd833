"""Terms that the model reads in the source, in place of the words that they translate.

A model that was trained so (`lexbeam.train.inserted_terms`) knows a term before it says the
article, and the place of the term in the sentence. The search demands the term as ever. Only what
a draft lacks is put into the source: what the model says by itself needs no help. What is reported
in the end is the score of the output for the source as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lexbeam.errors import InputError
from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.text.agreement import has_agreement
from lexbeam.text.german_agreement import is_possible
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import Span, stands_alone
from lexbeam.translation.displaced import SAID, behind_hyphens
from lexbeam.translation.document import Document
from lexbeam.translation.edited_drafts import search_edited
from lexbeam.translation.jobs import Hypotheses, Job, JobGenerator
from lexbeam.translation.output_choice import Output, choose, count_changes
from lexbeam.translation.reading import TermInSource
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.torn_compounds import find_torn

COMPARED = 4
"""Outputs that are found with terms in the source, and compared."""

AS_GOOD = 0.05
"""How much less the score for the source with terms may be of what is compared."""

_REST_OF_WORD = re.compile(r"[\w-]*\w")
_BEFORE = 4
"""Words before a term that may have to agree with it, and a preposition."""

MOST = 12
"""A sentence that has to say more than so much is not searched a second time."""


class _Trial(NamedTuple):
    """A sentence, and terms that it is read with."""

    sentence: SentenceState
    terms: dict[int, TermInSource]

    def begin(self) -> SentenceState:
        """Let the sentence be read with these terms."""
        self.sentence.terms = self.terms
        return self.sentence


def search_with_terms_read(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[None]:
    """Search once more for sentences with the terms in their sources; keep what is better.

    Outputs are compared by their scores for both sources (`lexbeam.translation.output_choice`).
    """
    trials = document.effort.affordable(
        (trial, _cost(document, trial)) for each in sentences for trial in _trials(document, each)
    )
    found = yield from _search(document, [(trial, ()) for trial in trials])
    pairs = [(trial, new) for trial, new in zip(trials, found, strict=True) if new]
    pairs = yield from _without_torn(document, pairs)
    pairs = yield from _with_edited(document, trials, pairs)
    scored = yield from _score_both(document, pairs)
    for trial in trials:
        trial.sentence.terms = {}
    chosen: list[tuple[float, _Trial, Hypotheses]] = []
    for trial, old, others in scored:
        best = choose(old, others, _finds_terms(document, trial))
        worse = [each for each in others if each.as_given < best.as_given]
        kept = [each.hypothesis for each in (best, *worse)][: document.settings.nbest]
        chosen.append((best.worth, trial, [] if best is old else kept))
    taken: set[int] = set()
    for _, trial, hypotheses in sorted(chosen, key=lambda each: -each[0]):
        if hypotheses and id(trial.sentence) not in taken:
            trial.begin().take(hypotheses, trial.sentence.assigned)
        taken.add(id(trial.sentence))


def _cost(document: Document, trial: _Trial) -> float:
    """Return what it counts to search with some terms read, and to score what is compared."""
    sentence, effort = trial.sentence, document.effort
    search = effort.cost(document.job(trial.begin(), sentence.assigned), [sentence.best])
    score = effort.cost(_score(document, sentence.source, ()), [sentence.best])
    sentence.terms = {}
    return search + COMPARED * score


def _score_both(
    document: Document, pairs: Sequence[tuple[_Trial, Hypotheses]]
) -> JobGenerator[list[tuple[_Trial, Output, list[Output]]]]:
    """Return for each trial the output for the given source, and what was found, with both scores.

    What the source with terms finds worse than the former can't be better, and is left out.
    """
    as_read = yield from _score_old(document, pairs)
    compared, outputs = [], []
    for (trial, new), score in zip(pairs, as_read, strict=True):
        several = document.settings.nbest > 1
        least = score - AS_GOOD
        good = [
            each
            for each in new
            if several or each.score >= least or tuple(each.tokens) in trial.sentence.edited
        ]
        compared.append((trial, score, good))
        outputs += [(trial.begin(), each) for each in good]
        trial.sentence.scored[tuple(trial.sentence.best.tokens)] = trial.sentence.best
    as_given = iter((yield from score_as_given(document, outputs)))
    scored = []
    for trial, score, new in compared:
        old, output = trial.sentence.best, partial(_output, document, trial)
        others = [output(each, next(as_given).score, each.score) for each in new]
        scored.append((trial, output(old, old.score, score), others))
    return scored


def _output(
    document: Document, trial: _Trial, hypothesis: Hypothesis, as_given: float, as_read: float
) -> Output:
    """Return an output of a sentence with its scores.

    One that is the free translation but for its terms, and yet not among those in which all
    agrees, is no better for being close to it.
    """
    text = document.text_of(trial.begin(), hypothesis)
    edited = trial.sentence.edited
    is_edited = tuple(hypothesis.tokens) in edited
    changes = 0 if is_edited else _changes(document, trial, hypothesis)
    if not changes and edited and not is_edited:
        changes = None
    faults = _count_faults(document, trial, text)
    return Output(hypothesis, text, as_given, as_read, changes, is_edited, faults)


def _count_faults(document: Document, trial: _Trial, text: str) -> int:
    """Return before how many terms stand words that can't agree with them."""
    if not has_agreement(document.vocabulary.language):
        return 0
    faults = 0
    for unit in trial.terms:
        forms = tuple(document.demand(unit).asked.parts[0])
        for (start, end), *_ in document.demand(unit).surface.find(text, len(text)):
            *before, joined = (text[:start] + "x").split()
            rest = _REST_OF_WORD.match(text, end)
            noun = (joined[:-1] + text[start:end] + (rest[0] if rest else "")).split()[-1]
            if text[start].isupper():
                is_glued = joined[-2:-1].isalpha()  # *dasProgramm*
                faults += is_glued or not is_possible(before[-_BEFORE:], noun, forms)
    return faults


def _changes(document: Document, trial: _Trial, hypothesis: Hypothesis) -> int | None:
    """Return in how many words an output differs from the free translation, besides the terms."""
    free = trial.sentence.free
    if free is None:
        return None
    text = partial(document.text_of, trial.begin())
    changes = count_changes(text(free).split(), text(hypothesis).split())
    return max(changes - len(trial.terms), 0)


def _score_old(
    document: Document, pairs: Sequence[tuple[_Trial, Hypotheses]]
) -> JobGenerator[list[float]]:
    """Return the scores for the sources with terms of what was found for the given sources.

    What was found for both has one.
    """
    known = [
        next((e.score for e in new if list(e.tokens) == list(trial.sentence.best.tokens)), None)
        for trial, new in pairs
    ]
    unknown = [trial for (trial, _), score in zip(pairs, known, strict=True) if score is None]
    jobs = [_score_as_read(document, trial, tuple(trial.sentence.best.tokens)) for trial in unknown]
    found = iter((yield jobs) if jobs else [])
    return [
        next((each.score for each in next(found)), -np.inf) if score is None else score
        for score in known
    ]


def _search(
    document: Document, trials: Sequence[tuple[_Trial, Sequence[Tokens]]]
) -> JobGenerator[list[Hypotheses]]:
    """Search for sentences as they are read, each without some tokens besides.

    What ties displace need not be avoided: its source is not there any more. A space between a
    hyphen and a term is.
    """
    settings = document.settings.of_search
    settings = replace(settings, nbest=max(settings.nbest, COMPARED))
    jobs = []
    for trial, more in trials:
        job = document.job(trial.begin(), trial.sentence.assigned, settings)
        avoid = (*trial.sentence.avoid, *behind_hyphens(document, trial.sentence), *more)
        jobs.append(replace(job, avoid=avoid, align=True))
    try:
        return (yield jobs) if jobs else []
    except InputError:  # with what is avoided there is no way
        return [[] for _ in jobs]


def _without_torn(
    document: Document, pairs: Sequence[tuple[_Trial, Hypotheses]]
) -> JobGenerator[list[tuple[_Trial, Hypotheses]]]:
    """Search once more where terms are torn from compounds; leave out what stays so."""
    torn = [find_torn(document, trial.begin(), new[0]) for trial, new in pairs]
    again = [(trial, each) for (trial, _), each in zip(pairs, torn, strict=True) if each]
    found = iter((yield from _search(document, again)))
    mended = [
        (trial, next(found) if each else new)
        for (trial, new), each in zip(pairs, torn, strict=True)
    ]
    return [
        (trial, new)
        for (trial, new), each in zip(mended, torn, strict=True)
        if not each or (new and not find_torn(document, trial.begin(), new[0]))
    ]


def _with_edited(
    document: Document, trials: Sequence[_Trial], pairs: Sequence[tuple[_Trial, Hypotheses]]
) -> JobGenerator[list[tuple[_Trial, Hypotheses]]]:
    """Add to what was found the free translations with the terms in them."""
    for trial in trials:
        trial.sentence.terms = {}
    sentences = list({id(trial.sentence): trial.sentence for trial in trials}.values())
    edited = yield from search_edited(document, sentences)
    of_sentence = {id(each): new for each, new in zip(sentences, edited, strict=True)}
    for sentence, new in zip(sentences, edited, strict=True):
        sentence.scored |= {tuple(each.tokens): each for each in new}
        sentence.edited = {tuple(each.tokens) for each in new}
    asked = [(trial, each) for trial in trials for each in of_sentence[id(trial.sentence)]]
    jobs = [_score_as_read(document, trial, tuple(each.tokens)) for trial, each in asked]
    scored = (yield jobs) if jobs else []
    known = {id(trial): {tuple(each.tokens): each for each in new} for trial, new in pairs}
    for (trial, each), found in zip(asked, scored, strict=True):
        if found:
            read = replace(each, score=found[0].score, log_prob=found[0].log_prob)
            known.setdefault(id(trial), {}).setdefault(tuple(each.tokens), read)
    return [(trial, list(known[id(trial)].values())) for trial in trials if known.get(id(trial))]


def _finds_terms(document: Document, trial: _Trial) -> Callable[[str], bool]:
    """Return what finds the terms of a trial in the words of an output, by their last words."""
    asked = [document.demand(unit).asked for unit in trial.terms]
    ends = {form.split()[-1].casefold() for each in asked for form in each.parts[0]}
    return lambda word: any(end in word.casefold() for end in ends)


def _trials(document: Document, sentence: SentenceState) -> list[_Trial]:
    """Return how a sentence may be read with the tied terms that its draft does not say.

    Terms are read in their first form; and where their sources are not in the forms that a
    glossary has, in the form that the search for the given source has found, since it knows
    whether the source is singular or plural. Of terms whose sources overlap, the first is read.
    What may be given up is not read: the model would say it at any price. Where much is demanded,
    nothing is read.
    """
    draft = sentence.free or sentence.best.draft
    if draft is None or len(sentence.assigned) > MOST:
        return []
    lacking: dict[int, Span] = {}
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        unit = sentence.assigned[index].unit
        asked = document.demand(unit).asked
        if len(asked.parts) > 1 or asked.soft is not None or asked.is_source_in(document.text):
            continue
        if not _says(document, sentence, draft, unit, tokens):
            spans = [document.token_spans(sentence)[token] for token in tokens]
            lacking[unit] = min(start for start, _ in spans), max(end for _, end in spans)
    apart: dict[int, Span] = {}
    end = 0
    for unit, span in sorted(lacking.items(), key=lambda each: each[1]):
        if end <= span[0] < span[1]:
            apart[unit], end = span, span[1]
    first = {unit: document.demand(unit).asked.parts[0][0] for unit in apart}
    found = {unit: _form(document, sentence, unit) or first[unit] for unit in apart}
    found |= {unit: first[unit] for unit in apart if document.demand(unit).asked.is_as_in_glossary}
    forms = [found, first] if found != first else [first]
    return [
        _Trial(sentence, {unit: TermInSource(*apart[unit], text[unit]) for unit in apart})
        for text in (forms if apart else [])
    ]


def _form(document: Document, sentence: SentenceState, unit: int) -> str:
    """Return the form of a term that was found; nothing if it is part of a compound."""
    text = document.text_of(sentence, sentence.best)
    for part, *_ in document.demand(unit).surface.find(text, len(text)):
        if stands_alone(text, part):
            return text[slice(*part)]
    return ""


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
    read = [sentence for sentence in document.sentences if sentence.terms]
    found = [(sentence, each) for sentence in read for each in sentence.hypotheses]
    scored = iter((yield from score_as_given(document, found)))
    for sentence in read:
        with_scores = [next(scored) for _ in sentence.hypotheses]
        sentence.hypotheses = sorted(with_scores, key=lambda each: -each.score)


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


def _score_as_read(document: Document, trial: _Trial, tokens: Tokens) -> Job:
    """Return what scores an output of a sentence for the source with terms."""
    source = document.tokens_read(trial.begin(), trial.sentence.assigned)
    return _score(document, source, tokens)


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

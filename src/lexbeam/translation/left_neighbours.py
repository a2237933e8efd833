"""What stands before a term, proposed by the model.

An article is chosen before its noun is said. Where the model finds a term very improbable behind
what stands before it, the word before may be a wrong one that no search of usual width gets rid
of: *a município*, where *o* has a probability of e^-12 until *município* has been said. So the
model is asked which token it would rather have there if the term comes next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from lexbeam.errors import InputError
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.text.phrases import Spelling
from lexbeam.text.subsequences import find_subsequence
from lexbeam.translation.displaced import split_words
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import Job, JobGenerator
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spelled_prefix import SpelledPrefix

UNLIKELY = -17.0
"""The log-probability of a token of a term below which something is wrong before it."""

ASKED = 32
"""How many tokens are looked at in place of the word before a term."""

TRIED = 1
"""How many of them are tried out, with the rest of the sentence."""


class _Place(NamedTuple):
    """A term in an output, and the word before it."""

    sentence: SentenceState
    before: Tokens
    """What stands before that word."""
    term: Tokens
    said: Tokens
    """All up to the end of the term."""
    log_prob: float
    """Of all that."""


def search_with_other_neighbours(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[None]:
    """Search once more with what the model would rather have before terms; keep what is better."""
    places = document.effort.affordable(
        (place, _cost(document, place))
        for each in sentences
        for place in _find_places(document, each)
    )
    if not places:
        return
    try:
        answers = yield [_ask(document, place) for place in places]
        tries = {
            (id(place.sentence), tuple(found.tokens)): place.sentence
            for place, hypotheses in zip(places, answers, strict=True)
            for found in [each for each in hypotheses if _is_rather(place, each.tokens)][:TRIED]
            if found.log_prob > place.log_prob
        }
        jobs = [_go_on(document, sentence, tokens) for (_, tokens), sentence in tries.items()]
        found = (yield jobs) if jobs else []
    except InputError:  # with what ties displace there is no way
        return
    for sentence, hypotheses in zip(tries.values(), found, strict=True):
        sentence.add(hypotheses, document.settings.nbest)


def _find_places(document: Document, sentence: SentenceState) -> Iterator[_Place]:
    """Yield the tied terms that are very improbable behind what stands before them."""
    tokens, log_probs = tuple(sentence.best.tokens), sentence.best.log_probs
    if log_probs is None or min(log_probs) > UNLIKELY:
        return
    begins = [start for start, _ in split_words(document.target.pieces(tokens))]
    for index in document.ties(sentence, sentence.assigned):
        piece = sentence.assigned[index]
        pattern = document.demand(piece.unit).pattern(piece.first, piece.last)
        spans = ((at, at + len(f)) for f in _forms(pattern) for at in find_subsequence(tokens, f))
        start, end = min(spans, key=lambda span: min(log_probs[slice(*span)]), default=(0, 0))
        earlier = [begin for begin in begins if sentence.prefix.longest <= begin < start]
        if earlier and min(log_probs[start:end]) < UNLIKELY:
            term, said = tokens[start:end], tokens[:end]
            yield _Place(sentence, tokens[: earlier[-1]], term, said, sum(log_probs[:end]))


def _forms(pattern: Tokens | Pattern) -> list[Tokens]:
    """Return the tokens of what is one phrase, and firm."""
    if not isinstance(pattern, Pattern):
        return [pattern]
    if len(pattern.parts) > 1 or pattern.penalty is not None or pattern.last:
        return []
    return [form.tokens for form in pattern.parts[0] if not (form.inside or form.first)]


def _ask(document: Document, place: _Place) -> Job:
    """Return the search for what stands best between the words before and a term."""
    settings = replace(
        document.settings.of_search, beam_size=ASKED, nbest=ASKED, prune=None, lag=None
    )
    sentence = place.sentence
    return Job(
        source=document.tokens_read(sentence, sentence.assigned),
        phrases=(place.term,),
        avoid=(*sentence.avoid, *(sentence.displaced or ())),
        prefix=place.before,
        whole_prefix=sentence.prefix.whole and len(place.before) <= sentence.prefix.longest,
        max_length=len(place.before) + 1 + len(place.term),
        settings=settings,
        cut=True,
        aliases=document.target.aliases,
    )


def _cost(document: Document, place: _Place) -> float:
    """Return what it counts to ask what stands best at a place, and to search once with that."""
    sentence, effort = place.sentence, document.effort
    job = document.job(sentence, sentence.assigned)
    ask = _ask(document, place)
    return effort.weight(ask) * ask.max_length + effort.cost(job, [sentence.best])


def _is_rather(place: _Place, tokens: Sequence[int]) -> bool:
    """Return whether something else than what was said stands before the term."""
    return tuple(tokens[-len(place.term) :]) == place.term and tuple(tokens) != place.said


def _go_on(document: Document, sentence: SentenceState, tokens: Tokens) -> Job:
    """Return the search of a sentence whose output begins with some tokens.

    What is said in them need not be tied any more.
    """
    prefix = SpelledPrefix((Spelling(tokens, ""),))
    job = document.job(sentence, sentence.assigned, prefix=prefix, insists=False)
    open_ties = {
        index: source
        for index, source in job.ties.items()
        if not any(find_subsequence(tokens, form) for form in _forms(job.phrases[index]))
    }
    return replace(job, ties=open_ties)

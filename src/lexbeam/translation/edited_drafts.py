"""The free translation with terms in place of the words that the model would rather have said.

Whoever puts a term into a translation by hand replaces one word, and the article or the ending
before it, and leaves the rest alone. A search with a term may say the whole sentence in another
way, and worse. So the free translation with its terms is compared with what was found: what stands
before a word that is replaced stays, and so does what stands behind it. The few words right before
it, which may have to agree with the term, are searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
from dataclasses import replace
from typing import NamedTuple

from lexbeam.errors import InputError
from lexbeam.search.arrays import ScoreArray, Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.text.subsequences import outside_of
from lexbeam.text.vocabulary import SPACE
from lexbeam.translation.completeness import has_everything
from lexbeam.translation.displaced import SHORT, shares_of, split_words
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import Hypotheses, Job, JobGenerator
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spelled import forms_of

BEFORE = 3
"""Words before a term that may have to agree with it: article, adverb, adjective."""

MORE = 2
"""Tokens that these may have more than in the free translation."""

BEAM = 12
"""Beam of the search for them."""

FOUND = 8
"""Outputs that are looked at."""

KEPT = 2
"""Outputs that are kept of those that differ in nothing else."""

SAID = 0.3
"""The share of attention from which on a word is taken to translate a source."""

SMALL = 5
"""Letters of small words, such as articles, that may take the place of others, at most."""

ENDING = 3
"""Letters at the end of words that say how they agree with others, at most."""

PART = 3
"""Letters of a part of a compound, at least."""


class Place(NamedTuple):
    """What of a translation a term replaces: the tokens from ``start`` to before ``end``."""

    unit: int
    start: int
    """Where the words begin that may have to agree with the term."""
    word: int
    """Where the word begins that is replaced."""
    end: int


def search_edited(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[list[Hypotheses]]:
    """Return for each sentence its free translation with its terms, in several ways.

    Nothing where the free translation is not known, or has no word for one of the terms.
    """
    places = [_find_places(document, each) for each in sentences]
    pairs = zip(sentences, places, strict=True)
    jobs = [_edit(document, sentence, found) for sentence, found in pairs if found]
    try:
        answers = iter((yield jobs) if jobs else [])
    except InputError:  # there is no way to say so
        return [[] for _ in sentences]
    edited: list[Hypotheses] = []
    for sentence, found in zip(sentences, places, strict=True):
        outputs = next(answers) if found else []
        good = [
            each
            for each in outputs
            if each.finished
            and _is_small_change(document, sentence, each, found)
            and has_everything(document, sentence, each)
        ]
        edited.append(good[:KEPT])
    return edited


def _edit(document: Document, sentence: SentenceState, places: Sequence[Place]) -> Job:
    """Return the search for the free translation of a sentence with terms at some places."""
    assert sentence.free is not None
    tokens = tuple(sentence.free.tokens)
    phrases: list[Pattern] = []
    longest = places[0].start
    for place, behind in zip(places, [*places[1:], None], strict=True):
        rest = tokens[place.end : behind.start if behind else len(tokens)]
        forms = _forms_before(document, place, rest)
        phrases.append(Pattern((forms,), demand=len(phrases)))
        longest += place.end - place.start + MORE + max(len(form.tokens) for form in forms)
    settings = document.settings.of_search
    return Job(
        source=sentence.source,
        phrases=tuple(phrases),
        avoid=(*sentence.avoid, *outside_of(sentence.displaced or (), _kept(tokens, places))),
        prefix=tokens[: places[0].start],
        whole_prefix=True,
        max_length=longest,
        settings=replace(settings, beam_size=BEAM, nbest=FOUND, prune=None, lag=None),
        align=document.settings.alignments,
        aliases=document.target.aliases,
    )


def _kept(tokens: Tokens, places: Sequence[Place]) -> list[Tokens]:
    """Return what of a translation stays as it is: before, between and behind some places."""
    starts = [0, *(place.end for place in places)]
    ends = [*(place.start for place in places), len(tokens)]
    return [tokens[start:end] for start, end in zip(starts, ends, strict=True)]


def _is_small_change(
    document: Document, sentence: SentenceState, hypothesis: Hypothesis, places: Sequence[Place]
) -> bool:
    """Return whether an output differs from the free translation in no more than has to agree."""
    assert sentence.free is not None
    tokens, free = tuple(hypothesis.tokens), tuple(sentence.free.tokens)
    at, behind = 0, _kept(free, places)[1:]
    for place, rest in zip(places, behind, strict=True):
        at = place.start if place is places[0] else at
        forms = [form.tokens for form in _forms_before(document, place, rest)]
        ends = [
            (start, start + len(form))
            for form in forms
            for start in range(at, len(tokens) - len(form) + 1)
            if tokens[start : start + len(form)] == form
        ]
        if not ends:
            return False
        start, end = min(ends)
        words = document.target.decode(tokens[at : end - len(rest)]).split()
        before = document.target.decode(free[place.start : place.word]).split()
        replaced = document.target.decode(free[place.word : place.end]).strip()
        said = document.target.decode(tokens[start : end - len(rest)]).strip()
        if not words or not _agrees(words, before, replaced, said):
            return False
        at = end
    return True


def _agrees(words: Sequence[str], before: Sequence[str], replaced: str, term: str) -> bool:
    """Return whether words are those before one that is replaced, in other forms, and a term.

    Small words may take the place of others. A term that is part of a compound is so only in
    place of another part.
    """
    *small, last = words
    first_part = last.removesuffix(term)
    if first_part and first_part != last:
        rest = replaced.removeprefix(first_part)
        if len(rest) < PART or rest == replaced:
            return False
    if len(small) > len(before) + 1:
        return False
    lowered = [word.lower() for word in before]
    kept = [word for word in before if len(word) > SMALL]
    return all(
        len(word) <= SMALL and word[:1].islower() or any(_are_forms(word.lower(), b) for b in lowered)
        for word in small
    ) and all(any(_are_forms(word.lower(), each.lower()) for each in small) for word in kept)


def _are_forms(word: str, other: str) -> bool:
    """Return whether two words differ in nothing but their endings."""
    same = len(commonprefix((word, other)))
    return same >= min(SHORT, len(word)) and max(len(word), len(other)) - same <= ENDING


def _forms_before(document: Document, place: Place, rest: Tokens) -> tuple[Form, ...]:
    """Return the forms of the term of a place, each with what stands behind it."""
    forms = forms_of(document.demand(place.unit).spellings)
    whole = [
        replace(form, tokens=form.tokens + rest, goes_on=False)
        for form in forms
        if not (form.first and place.start)
    ]
    return tuple(dict.fromkeys(whole))


def _find_places(document: Document, sentence: SentenceState) -> list[Place]:
    """Return what terms replace in a free translation, in its order; nothing if one has no place."""
    free = sentence.free
    if free is None or free.attention is None or not free.finished:
        return []
    pieces = document.target.pieces(free.tokens)
    words = split_words(pieces)
    text = document.text_of(sentence, free)
    found = []
    for unit, source in _sources(document, sentence).items():
        if document.demand(unit).surface.find(text, 1):
            continue
        word = _word_for(free.attention, words, pieces, source)
        if word is None:
            return []
        start = words[_first_before(pieces, words, word)][0]
        found.append(Place(unit, start, *words[word]))
    apart: list[Place] = []
    for place in sorted(found, key=lambda place: place.end):
        before = apart[-1].end if apart else 0
        if place.end == before:
            return []  # one word for two terms
        apart.append(place._replace(start=max(place.start, before)))
    return apart


def _sources(document: Document, sentence: SentenceState) -> dict[int, Tokens]:
    """Return the tokens of the sources of tied terms, as they are given, by their units."""
    terms, sentence.terms = sentence.terms, {}
    ties = document.ties(sentence, sentence.assigned)
    sentence.terms = terms
    return {sentence.assigned[index].unit: tokens for index, tokens in ties.items()}


def _word_for(
    attention: ScoreArray,
    words: Sequence[tuple[int, int]],
    pieces: Sequence[str],
    source: Tokens,
) -> int | None:
    """Return the word of a translation that attends most to a source; None if none does much."""
    shares = shares_of(attention, source, words)
    letters = [sum(map(str.isalnum, "".join(pieces[slice(*word)]))) for word in words]
    said = [i for i, share in enumerate(shares) if share >= SAID and letters[i]]
    long = [i for i in said if letters[i] > SHORT]
    return max(long or said, key=lambda i: shares[i], default=None)


def _first_before(pieces: Sequence[str], words: Sequence[tuple[int, int]], at: int) -> int:
    """Return the first of the words right before one that may have to agree with it."""
    first = at
    while first and at - first < BEFORE:
        text = "".join(pieces[slice(*words[first - 1])]).strip(SPACE)
        if not text.isalpha() or not (text.islower() or first == 1):
            break
        first -= 1
    return first

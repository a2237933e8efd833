"""The free translation with terms in place of the words that the model would rather have said.

Whoever puts a term into a translation by hand replaces one word, and the article or the endings
before it, and leaves the rest alone. A search with a term may say the whole sentence in another
way, and worse. So the free translation with its terms is one of the outputs that are compared.
The words before a term, and a relative pronoun behind it, are taken in the forms that they may
have (`lexbeam.text.agreement`); the search finds those that the model likes best.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product

from lexbeam.errors import InputError
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.text.agreement import forms_before_noun, forms_in_number, forms_of_relative
from lexbeam.text.german_agreement import agrees
from lexbeam.text.vocabulary import SPACE
from lexbeam.translation.completeness import has_everything
from lexbeam.translation.displaced import split_words
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import Hypotheses, Job, JobGenerator
from lexbeam.translation.replaced_words import Place, find_places
from lexbeam.translation.sentence import SentenceState

MOST = 120
"""Ways to say a term with the words before it, at most."""

BEAM = 8
"""Beam of the search for the best of them."""

FOUND = 8
"""Outputs that are looked at."""

KEPT = 4
"""Outputs that are kept."""

_EARLIER = 2
"""Words before those that may change: a preposition says which case follows."""


def search_edited(
    document: Document, sentences: Sequence[SentenceState]
) -> JobGenerator[list[Hypotheses]]:
    """Return for each sentence its free translation with its terms, in the best ways.

    Nothing where the free translation is not known, or has no word for one of the terms.
    """
    patterns = [_pattern(document, each, find_places(document, each)) for each in sentences]
    pairs = zip(sentences, patterns, strict=True)
    jobs = [_job(document, sentence, *found) for sentence, found in pairs if found]
    try:
        answers = iter((yield jobs) if jobs else [])
    except InputError:  # there is no way to say so
        return [[] for _ in sentences]
    edited: list[Hypotheses] = []
    for sentence, found in zip(sentences, patterns, strict=True):
        outputs = next(answers) if found else []
        made = [each for each in outputs if each.finished and found and _is_edited(each, *found)]
        good = [each for each in made if has_everything(document, sentence, each, sentence.left)]
        edited.append(good[:KEPT])
    return edited


def _pattern(
    document: Document, sentence: SentenceState, places: Sequence[Place]
) -> tuple[Tokens, Pattern] | None:
    """Return what stands before the first of some places, and all that follows, in its forms."""
    free = sentence.free
    if not places or free is None:
        return None
    tokens = tuple(free.tokens)
    parts: list[tuple[Form, ...]] = []
    for place, behind in zip(places, [*places[1:], None], strict=True):
        ways = _ways(document, tokens, place)
        nouns = {noun for _, noun in ways}
        rest = tokens[place.end : behind.start if behind else len(tokens)]
        if not ways:
            return None
        parts.append(tuple(Form(way) for way, _ in ways))
        if rest:
            parts.append(tuple(map(Form, _with_relative(document, rest, nouns))))
    return tokens[: places[0].start], Pattern(tuple(parts), last=True)


def _job(document: Document, sentence: SentenceState, before: Tokens, pattern: Pattern) -> Job:
    """Return the search for the best forms of a pattern behind what stands before it."""
    longest = sum(max(len(form.tokens) for form in part) for part in pattern.parts)
    settings = document.settings.of_search
    return Job(
        source=sentence.source,
        phrases=(pattern,),
        avoid=tuple(sentence.avoid),
        prefix=before,
        whole_prefix=bool(before),
        max_length=len(before) + longest,
        settings=replace(settings, beam_size=BEAM, nbest=FOUND, prune=None, lag=None),
        align=document.settings.alignments,
        aliases=document.target.aliases,
    )


def _is_edited(hypothesis: Hypothesis, before: Tokens, pattern: Pattern) -> bool:
    """Return whether an output is made of the parts of a pattern, and nothing else."""
    reached = {len(before)}
    tokens = tuple(hypothesis.tokens)
    for part in pattern.parts:
        reached = {
            at + len(form.tokens)
            for at in reached
            for form in part
            if tokens[at : at + len(form.tokens)] == form.tokens
        }
    return len(tokens) in reached


def _ways(document: Document, tokens: Tokens, place: Place) -> list[tuple[Tokens, str]]:
    """Return the ways to say a term at a place, with the words before it, and the term itself.

    Those in which all agree, in the case and number of what they replace; all, if there is none.
    """
    decode = document.target.decode
    earlier = decode(tokens[: place.start]).split()[-_EARLIER:]
    words = decode(tokens[place.start : place.head]).split()
    replaced = [*earlier, *words], decode(tokens[place.head : place.end]).strip()
    as_it_is, *others = forms_before_noun(words)
    assert as_it_is == words
    before = [(words, tokens[place.start : place.head])]
    is_spaced = document.target.pieces(tokens[place.start : place.start + 1])[0].startswith(SPACE)
    before += [(each, _spell(document, each, is_spaced)) for each in others]
    terms = {term: decode(term).strip() for term in _terms(document, tokens, place)}
    forms = tuple(document.demand(place.unit).asked.parts[0])
    found = list(product(before, terms))
    agreeing = [
        (left, term)
        for left, term in found
        if agrees([*earlier, *left[0]], terms[term], *replaced, forms)
    ]
    return [(left + term, terms[term]) for (_, left), term in agreeing or found][:MOST]


def _terms(document: Document, tokens: Tokens, place: Place) -> Iterator[Tokens]:
    """Yield the ways to say a term at a place, with what stands before it in the same word."""
    joined = tokens[place.head : place.word]
    demand = document.demand(place.unit)
    asked = demand.asked
    fitting = forms_in_number(asked.parts[0], not asked.is_as_in_glossary)
    shown = {form.casefold() for form in fitting}
    for way in demand.spellings:
        if way.first and place.start:
            continue
        is_fitting = way.surface.casefold() in shown
        if way.inside:
            yield from (joined + part + way.ids for part in place.first if is_fitting)
        elif way.spaced != bool(joined):
            if is_fitting and (joined or not place.is_compound):
                yield joined + way.ids
            if way.goes_on:
                yield from (joined + way.ids + part for part in place.last)


def _with_relative(document: Document, rest: Tokens, nouns: Collection[str]) -> list[Tokens]:
    """Return what stands behind a noun, with a relative pronoun behind a comma in its forms."""
    words = split_words(document.target.pieces(rest))
    if not words or document.target.decode(rest[slice(*words[0])]).strip() != ",":
        return [rest]
    for start, end in words[1:3]:
        forms = forms_of_relative(document.target.decode(rest[start:end]).strip(), nouns)
        if forms:
            return [rest[:start] + _spell(document, [form]) + rest[end:] for form in forms]
    return [rest]


def _spell(document: Document, words: Sequence[str], is_spaced: bool = True) -> Tokens:
    """Return the tokens of words with a space before each, but for the first if so asked."""
    found: list[int] = []
    for word in words:
        ways = document.vocabulary.spell_all(word)
        wanted = is_spaced or bool(found)
        found += next((way.ids for way in ways if way.spaced == wanted), ways[0].ids)
    return tuple(found)

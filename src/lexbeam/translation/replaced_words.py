"""The words of a free translation that terms are to replace, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lexbeam.search.arrays import ScoreArray, Tokens
from lexbeam.text.agreement import has_agreement, is_determiner
from lexbeam.text.compounds import PART
from lexbeam.text.spelling import spell_inside
from lexbeam.text.vocabulary import SPACE
from lexbeam.translation.displaced import SAID, SHORT, shares_of, split_words
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

BEFORE = 3
"""Words before a term that may have to agree with it: article, adverb, adjective."""

ALONE = 0.4
"""The share of attention from which on a word says another word of the source, too."""


class Place(NamedTuple):
    """What of a translation a term replaces: the tokens from ``word`` to before ``end``."""

    unit: int
    start: int
    """Where the words begin that may have to agree with the term."""
    head: int
    """Where what has no space in it begins, with the word that is replaced at its end."""
    word: int
    end: int
    first: tuple[Tokens, ...]
    """What may stay of the word before the term, if it is a compound."""
    last: tuple[Tokens, ...]
    """What may stay of it behind the term."""
    is_compound: bool
    """Whether it says another word of the source, too, so that a part of it has to stay."""


def find_places(document: Document, sentence: SentenceState) -> list[Place]:
    """Return what terms replace in a free translation, in its order; nothing if one has no place.

    Only in a language of which it is known how words agree.
    """
    free = sentence.free
    if free is None or free.attention is None or not free.finished:
        return []
    if not has_agreement(document.vocabulary.language):
        return []
    pieces = document.target.pieces(free.tokens)
    words = split_words(pieces)
    text = document.text_of(sentence, free)
    found = []
    for unit, source in given_sources(document, sentence).items():
        if document.demand(unit).surface.find(text, 1):
            continue
        shares = shares_of(free.attention, source, words)
        is_noun = document.demand(unit).asked.parts[0][0][:1].isupper()
        word = _word_for(shares, [_text(pieces[slice(*each)]) for each in words], is_noun)
        if word is None:
            return []
        place = _place(unit, pieces, words, word)
        others = _says_others(document, sentence, free.attention, words[word], source)
        first, last = _parts(document, sentence, free.tokens[slice(*words[word])], source)
        found.append(place._replace(is_compound=others, first=first, last=last))
    apart: list[Place] = []
    for place in sorted(found, key=lambda place: place.end):
        before = apart[-1].end if apart else 0
        if place.head < before:
            return []  # one word for two terms
        apart.append(place._replace(start=max(place.start, before)))
    return apart


def given_sources(document: Document, sentence: SentenceState) -> dict[int, Tokens]:
    """Return the tokens of the sources of tied terms, as they are given, by their units."""
    terms, sentence.terms = sentence.terms, {}
    ties = document.ties(sentence, sentence.assigned)
    sentence.terms = terms
    return {sentence.assigned[index].unit: tokens for index, tokens in ties.items()}


def _place(unit: int, pieces: Sequence[str], words: Sequence[tuple[int, int]], at: int) -> Place:
    """Return the place of a word, with what stands before it."""
    start, end = words[at]
    first = at
    while first and not pieces[words[first][0]].startswith(SPACE):
        first -= 1
    head = words[first][0]
    before = first
    while before and first - before < BEFORE:
        text = _text(pieces[slice(*words[before - 1])])
        if not text.isalpha() or not (text.islower() or is_determiner(text)):
            break
        before -= 1
    return Place(unit, words[before][0], head, start, end, (), (), is_compound=False)


def _parts(
    document: Document, sentence: SentenceState, word: Sequence[int], source: Tokens
) -> tuple[tuple[Tokens, ...], tuple[Tokens, ...]]:
    """Return the tokens of what may be the first part of a word, and of what may be the last.

    A part ends where a token does, or where the word of the source itself begins or ends.
    """
    pieces = document.target.pieces(word)
    joints = [
        i
        for i in range(1, len(word))
        if _letters(pieces[:i]) >= PART and _letters(pieces[i:]) >= PART
    ]
    first, last = [tuple(word[:i]) for i in joints], [tuple(word[i:]) for i in joints]
    spans = document.token_spans(sentence)
    said = sentence.part.text[spans[min(source)][0] : spans[max(source)][1]].strip()
    text = document.target.decode(word).strip()
    start = text.casefold().rfind(said.casefold())
    end = start + len(said)
    if start >= PART > len(text) - end and pieces[0].startswith(SPACE):
        first.append(document.vocabulary.spell_prefix(text[:start]).ids)
    if start == 0 and len(text) - end >= PART:
        last += [way.ids for way in spell_inside(document.vocabulary, text[end:])]
    return tuple(dict.fromkeys(first)), tuple(dict.fromkeys(last))


def _letters(pieces: Sequence[str]) -> int:
    return sum(map(str.isalnum, "".join(pieces)))


def _word_for(shares: Sequence[float], words: Sequence[str], is_noun: bool) -> int | None:
    """Return the word of a translation that attends most to a source; None if none does much.

    A noun takes the place of a word with a capital only.
    """
    said = [
        i
        for i, (share, word) in enumerate(zip(shares, words, strict=True))
        if share >= SAID and len(word) >= PART and (word[0].isupper() or not is_noun)
    ]
    return max(said, key=lambda i: shares[i], default=None)


def _text(pieces: Sequence[str]) -> str:
    return "".join(pieces).strip(SPACE)


def _says_others(
    document: Document,
    sentence: SentenceState,
    attention: ScoreArray,
    word: tuple[int, int],
    source: Tokens,
) -> bool:
    """Return whether a word says something of the source besides, which no other word says."""
    here = attention[slice(*word)].max(axis=0)
    there = attention[: word[0]].max(axis=0, initial=0.0)
    there = there.clip(attention[word[1] : -1].max(axis=0, initial=0.0))
    spans, text = document.token_spans(sentence), sentence.part.text
    return any(
        here[i] >= ALONE > there[i]
        and i not in source
        and sum(map(str.isalpha, text[slice(*spans[i])])) > SHORT
        for i in range(min(len(spans), len(here)))
    )

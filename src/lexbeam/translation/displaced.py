"""What tied constraints displace: the words that a draft says for their sources.

A draft is a quick translation without constraints. A term is to replace the word that the model
would have said, so that this word is avoided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from lexbeam.constraints.constraint import Constraint, Part
from lexbeam.search.arrays import ScoreArray, Tokens
from lexbeam.search.automaton.patterns import Beginning
from lexbeam.search.beam import Hypothesis
from lexbeam.text.casing import variants
from lexbeam.text.spelling import TargetText, spell_inside, token_of
from lexbeam.text.subsequences import outside_of
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import are_glued, is_word_character
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

CLEAR = 0.5
"""The share of attention from which on a word of a draft is taken to translate a source."""

SAID = 0.3
"""The share from which on it is taken to do so where less is at stake than that it is avoided."""

FAINT = 0.15
"""The share of attention up to which a word of a draft does not translate a source."""

SHORT = 3
"""Letters of a word that is more likely to go with a term than to be replaced by it."""


def find_displaced(
    document: Document, sentence: SentenceState, draft: Hypothesis
) -> list[tuple[int, ...]]:
    """Return the tokens of what a draft says for the sources of tied constraints."""
    if draft.attention is None:
        return []
    pieces = document.target.pieces(draft.tokens)
    words = split_words(pieces)
    written = ["".join(pieces[start:end]).strip(SPACE).casefold() for start, end in words]
    demanded = _demanded_words(document)
    displaced: dict[str, None] = {}
    ties = document.ties(sentence, sentence.assigned)
    tied = [at for tokens in ties.values() for at in tokens]
    of_ties = shares_of(draft.attention, sorted(set(tied)), words)
    elsewhere = {word for word, share in zip(written, of_ties, strict=True) if share < CLEAR}
    for tokens in ties.values():
        shares = shares_of(draft.attention, tokens, words)
        clear = [
            (share, document.target.decode(draft.tokens[start:end]).strip())
            for word, (start, end), share in zip(written, words, shares, strict=True)
            if share >= CLEAR and word not in elsewhere
        ]
        several = _has_several_words(document, sentence, tokens)
        displaced |= dict.fromkeys(said_for(clear, several))
    usable = [
        word
        for word in displaced
        if word.casefold() not in demanded and not _has_part(document, sentence, word)
    ]
    found = dict.fromkeys(
        way
        for word in usable
        for way in _ways_to_say(word, document.vocabulary, not _begins_another(word, written))
    )
    # What is inside of something demanded can't be avoided, here or in a later search.
    ways = [w.ids for p in sentence.assigned for w in document.demand(p.unit).spellings]
    return list(dict.fromkeys((*outside_of(found, ways), *behind_hyphens(document, sentence))))


def count_other_uses(
    document: Document, sentence: SentenceState, draft: Hypothesis
) -> dict[int, int]:
    """Return how often a draft says terms for other words than their sources, by their numbers.

    *Nation* is *nação*, too, where *nação* is the term for *country*. What is kept as it is in the
    source has no other use, and what callers limit stays so. A term that translates two words of
    the source, each as a term of its own, has no other use at either.
    """
    if draft.attention is None:
        return {}
    numbers: set[int] = set()
    sources: dict[Part, set[int]] = {}
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        number = document.units[sentence.assigned[index].unit]
        numbers.add(number)
        sources.setdefault(document.demands[number].surface.parts[0], set()).update(tokens)
    text, spans = document.text_of(sentence, draft), document.target.token_spans(draft.tokens)
    limited = {each.once for each in document.given if each.is_limited_by_caller}
    uses: dict[int, int] = {}
    for number in sorted(numbers):
        demand = document.demands[number]
        asked = demand.asked
        is_fixed = not asked.is_from_source or asked.once in limited
        if asked.compound or is_fixed or asked.is_source_in(document.text):
            continue
        said = [tokens_in(spans, part) for part, *_ in demand.surface.find(text, len(text))]
        tied = sorted(sources[demand.surface.parts[0]])
        uses[number] = sum(_is_for_others(draft.attention[place], tied) for place in said)
    return {number: count for number, count in uses.items() if count}


def _is_for_others(attention: ScoreArray, tied: Sequence[int]) -> bool:
    """Return whether tokens attend clearly, and not to some source. # shape: (tokens, source)."""
    own = float(attention[:, tied].sum(axis=1).max(initial=0.0))
    return own < FAINT and float(attention.max(initial=0.0)) >= CLEAR


def behind_hyphens(document: Document, sentence: SentenceState) -> list[Tokens]:
    """Return the tokens of what is tied with a hyphen and a space before: *Core- Projekt*.

    Without what is inside of something demanded.
    """
    hyphen = token_of(document.vocabulary, "-")
    if hyphen is None:
        return []
    ways = [document.demand(piece.unit).spellings for piece in sentence.assigned]
    tied = (way for index in document.ties(sentence, sentence.assigned) for way in ways[index])
    torn = dict.fromkeys((hyphen, *way.ids) for way in tied if way.spaced)
    return outside_of(torn, [way.ids for each in ways for way in each])


def shares_of(
    attention: ScoreArray, tokens: Sequence[int], words: Sequence[tuple[int, int]]
) -> list[float]:
    """Return how much each word of a draft attends to some source tokens at most."""
    share = np.asarray(attention[:, list(tokens)].sum(axis=1), np.float64)
    return [float(share[start:end].max()) for start, end in words]


def _begins_another(word: str, written: Sequence[str]) -> bool:
    """Return whether a draft has a longer word that begins with one: it may stay."""
    return any(each != word.casefold() and each.startswith(word.casefold()) for each in written)


@lru_cache(maxsize=1 << 14)
def _ways_to_say(word: str, target: TargetText, with_longer: bool) -> list[Tokens]:
    """Return the tokens of a word in any case, and ``with_longer`` words that begin with it.

    Without a space before it, too: a word that is replaced should not come back behind a hyphen,
    as part of a compound.
    """
    spaced = [target.spell_prefix(each.text) for each in variants(word, "any")]
    ways = [way for way in (*spaced, *spell_inside(target, word)) if not way.pieces]
    found = dict.fromkeys(way.ids for way in ways)
    # Else a longer word may come up that says the same, or is none: *computerss*.
    return [Beginning(each) if with_longer and len(word) > SHORT else each for each in found]


def _has_part(document: Document, sentence: SentenceState, word: str) -> bool:
    """Return whether a word is a compound with something demanded that may be in one."""
    demands = (document.demand(piece.unit).surface for piece in sentence.assigned)
    return any(each.compound and bool(each.find(word)) for each in demands)


def said_for(clear: Sequence[tuple[float, str]], several: bool) -> list[str]:
    """Return the words that are said for a source: the best one, or all for several words.

    ``clear`` has the words that attend to it, and how much.
    """
    words = [(share, text) for share, text in clear if any(map(is_word_character, text))]
    longer = [(share, text) for share, text in words if len(text) > SHORT]
    if several:
        return [text for _, text in longer]
    return [max(longer or words)[1]] if words else []


def _has_several_words(document: Document, sentence: SentenceState, tokens: Sequence[int]) -> bool:
    """Return whether there is a space between source tokens."""
    spans = document.token_spans(sentence)
    start, end = spans[min(tokens)][0], spans[max(tokens)][1]
    return " " in sentence.part.text[start:end].strip()


def _demanded_words(document: Document) -> set[str]:
    """Return all words of what is demanded, in any sentence and form, in lower case.

    What has no place yet may come to be placed in any sentence: nothing of it may be avoided.
    """
    return words_of([demand.asked for demand in document.demands])


def words_of(demanded: Sequence[Constraint]) -> set[str]:
    """Return all words of what is demanded, in any form, in lower case."""
    forms = [form.casefold() for each in demanded for part in each.parts for form in part]
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

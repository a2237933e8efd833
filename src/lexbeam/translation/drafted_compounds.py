"""Compounds of a draft that have what is demanded as one of their parts.

A term that may be part of a compound (`lexbeam.text.compounds`) and is one in a draft, a quick
translation without constraints, is left there. A term that would have to be torn out of one word
for two of the source is let go of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

import numpy as np

from lexbeam.constraints.constraint import Constraint
from lexbeam.search.arrays import ScoreArray
from lexbeam.search.beam import Hypothesis
from lexbeam.text.compounds import compound_around, stem_of_infinitive
from lexbeam.text.word_boundaries import stands_alone
from lexbeam.translation.displaced import split_words
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import SentenceState

JOINED = 2.0
"""The log-probability that a term may cost whose source is joined with another word."""

JOINED_SHARE = 0.35
"""The share of attention to another source from which on a word of a draft translates both."""

REASON = "a compound has its stem"
"""What the report says of an infinitive that is left out because of that."""

UNSAID_SHARE = 0.3
"""The share of attention up to which no word of a draft translates a source."""


def keep_compounds(document: Document, sentence: SentenceState, draft: Hypothesis) -> None:
    """Let a sentence keep the compounds of its draft that have what is demanded.

    What the search has to know of such a compound depends on the draft, so that the draft has to
    be there before the search.
    """
    sentence.left |= _leave_stems(document, sentence, draft)
    sentence.left |= _leave_joined(document, sentence, draft)
    sentence.untied = _said_in_compounds(document, sentence, draft) | sentence.left


def _said_in_compounds(document: Document, sentence: SentenceState, draft: Hypothesis) -> set[int]:
    """Return the units that may be in compounds and that a draft has; let the search know them.

    A compound is said where the model attends to the sources of all its parts. And its pieces may
    be others than the search knows: one for the whole compound. Of several copies of a term all
    are returned if there is one: to the search they are the same.
    """
    text = document.text_of(sentence, draft)
    units = set()
    for piece in sentence.assigned:
        demand = document.demand(piece.unit)
        for part, *_ in demand.surface.find(text, len(text)) if demand.asked.compound else ():
            if not stands_alone(text, part):
                tokens = document.target.tokens_at(draft.tokens, compound_around(text, part))
                demand = demand.also(tokens, text[slice(*part)])
            units.add(piece.unit)
        document.demands[document.units[piece.unit]] = demand
    return units


def _leave_joined(document: Document, sentence: SentenceState, draft: Hypothesis) -> set[int]:
    """Let go, for a small price, of terms that a draft has no word of its own for.

    *Command prompt* is *Eingabeaufforderung*: to tear *Befehl* out of that would spoil it. And
    where the source has a word twice, the draft may say it once. Only terms of glossaries that may
    be in compounds are let go of, and of each no more than the draft lacks. The units are returned.
    """
    if draft.attention is None:
        return set()
    words = split_words(document.target.pieces(draft.tokens))
    joined: dict[Constraint, list[int]] = {}
    unsaid: dict[Constraint, list[int]] = {}
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        unit = sentence.assigned[index].unit
        term = document.demand(unit).surface
        if not may_be_left(document.demand(unit).asked):
            continue
        if _is_joined(
            draft.attention, words, tokens, _next_word(document, sentence, tokens)
        ) or _is_copied(document, sentence, draft, tokens):
            joined.setdefault(term, []).append(unit)
        elif _is_unsaid(draft.attention, words, tokens):
            unsaid.setdefault(term, []).append(unit)
    text, left = document.text_of(sentence, draft), set[int]()
    surfaces = [document.demand(piece.unit).surface for piece in sentence.assigned]
    for term in {**joined, **unsaid}:
        asked = [
            piece.unit
            for piece, surface in zip(sentence.assigned, surfaces, strict=True)
            if surface == term
        ]
        lacking = len(asked) - len(term.find(text, len(asked)))
        units = [*joined.get(term, ()), *(unsaid.get(term, ()) if lacking < len(asked) else ())]
        left.update(units[: max(lacking, 0)])
    soften(document, left, JOINED)
    return left


def _leave_stems(document: Document, sentence: SentenceState, draft: Hypothesis) -> set[int]:
    """Take from a sentence the infinitives whose stems are in compounds of a draft.

    *Debugging workflow* is *Debugworkflow*: that is how German has *Debuggen* in a compound, and
    *Debuggensworkflow* is no word. The units are returned.
    """
    words = split_words(document.target.pieces(draft.tokens))
    if draft.attention is None or not words:
        return set()
    text, spans = document.text_of(sentence, draft), document.token_spans(sentence)
    left = set[int]()
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        unit = sentence.assigned[index].unit
        demand = document.demand(unit)
        source = sentence.part.text[spans[min(tokens)][0] : spans[max(tokens)][1]]
        stem = stem_of_infinitive(demand.asked.parts[0][0]) if source.endswith("ing") else ""
        if not stem or not may_be_left(demand.asked) or demand.surface.find(text, 1):
            continue
        start, end = _word_for(draft.attention, words, tokens)
        word = document.target.decode(draft.tokens[start:end]).strip()
        rest = word.removeprefix(stem)
        if len(word) > len(rest) > 2 and not rest.startswith("ung"):
            left.add(unit)
    soften(document, left, 0.0, REASON)
    sentence.assigned = [piece for piece in sentence.assigned if piece.unit not in left]
    return left


def soften(document: Document, left: Set[int], soft: float, because: str | None = None) -> None:
    """Make units soft, and put them behind others of the same term, in the whole text.

    What is found in the text counts for the first of equal constraints first. What is wanted
    several times as one constraint stays as it is. ``because`` says why they are left out.
    """
    often = Counter(document.units)
    single = [unit for unit, number in enumerate(document.units) if often[number] == 1]
    for term in {document.demand(unit).surface for unit in left}:
        units = [unit for unit in single if document.demand(unit).surface == term]
        numbers = [document.units[unit] for unit in units]
        for unit in left & set(units):
            demand = document.demand(unit)
            asked = replace(demand.asked, soft=soft, left_because=because)
            document.demands[document.units[unit]] = replace(demand, asked=asked)
        units.sort(key=document.is_soft)
        demands = [document.demand(unit) for unit in units]
        for number, unit, demand in zip(sorted(numbers), units, demands, strict=True):
            document.demands[number] = demand
            document.units[unit] = number


def may_be_left(asked: Constraint) -> bool:
    """Return whether a constraint is a term of a glossary that may be in compounds."""
    return asked.is_from_source and asked.compound and asked.soft is None and asked.count == 1


def _next_word(document: Document, sentence: SentenceState, tokens: Sequence[int]) -> list[int]:
    """Return the source tokens of the word behind others; none if something is between them."""
    spans, text = document.token_spans(sentence), sentence.part.text
    end = spans[max(tokens)][1]
    found = re.match(r" ?(\w{4,})", text[end:])
    if not found or not text[end - 1 : end + 1].strip():
        return []
    start, stop = end + found.start(1), end + found.end(1)
    return [i for i, (first, last) in enumerate(spans) if first < stop and last > start]


def _is_joined(
    attention: ScoreArray,
    words: Sequence[tuple[int, int]],
    tokens: Sequence[int],
    following: Sequence[int],
) -> bool:
    """Return whether the word of a draft that attends most to some tokens does to others, too."""
    if not following or not words:
        return False
    start, end = _word_for(attention, words, tokens)
    return float(attention[start:end, list(following)].sum(axis=1).max()) >= JOINED_SHARE


def _is_copied(
    document: Document, sentence: SentenceState, draft: Hypothesis, tokens: Sequence[int]
) -> bool:
    """Return whether a draft has copied a source and the word before it as one word: *Flatfile*."""
    spans, text = document.token_spans(sentence), sentence.part.text
    start, end = spans[min(tokens)][0], spans[max(tokens)][1]
    before = re.search(r"(\w{3,}) $", text[: start + (text[start] == " ")])
    if before is None:
        return False
    both = (before[1] + text[start:end].strip()).casefold()
    return both in document.text_of(sentence, draft).casefold()


def _word_for(
    attention: ScoreArray, words: Sequence[tuple[int, int]], tokens: Sequence[int]
) -> tuple[int, int]:
    """Return the word of a draft that attends most to some tokens."""
    here = [float(attention[a:b, list(tokens)].sum(axis=1).max()) for a, b in words]
    return words[int(np.argmax(here))]


def _is_unsaid(
    attention: ScoreArray, words: Sequence[tuple[int, int]], tokens: Sequence[int]
) -> bool:
    """Return whether no word of a draft attends much to some source tokens."""
    share = attention[:, list(tokens)].sum(axis=1)
    return all(float(share[start:end].max()) < UNSAID_SHARE for start, end in words)

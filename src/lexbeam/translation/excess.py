"""What stands in a text more often than it may, though the search has counted it.

The search counts the spellings of a phrase that it knows. A text may have the phrase in other
tokens: ``3`` in the piece ``3.1`` of *3.14*, ``..`` in ``...``. What nothing needs is then
avoided. Where something else that is demanded has the phrase in it, its tokens are one more
spelling, so that they are counted. And where a single token has the phrase several times, which no
search can count, the phrase is asked for less often besides.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Beginning
from lexbeam.text.phrases import Spelling
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.document import Document
from lexbeam.translation.gathering import move
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.spelled import SpelledConstraint
from lexbeam.translation.too_often import find_excessive, limits_of_term


@dataclass(frozen=True)
class Excess:
    """Equal demands that a text meets more often than they allow together."""

    numbers: tuple[int, ...]
    allowed: tuple[int, ...]
    """How often each sentence may say it: what it has to, and its share of what is left."""
    was_limited: bool
    """Whether the search has kept to the limit, in all sentences."""

    def pieces(self, document: Document, sentence: SentenceState) -> list[Piece]:
        """Return what a sentence has to say of it."""
        return [each for each in sentence.assigned if document.units[each.unit] in self.numbers]


def find_excess(document: Document) -> list[Excess]:
    """Return what the text of a document has too often, equal demands together."""
    if all(demand.asked.at_most is None for demand in document.demands):
        return []
    found = find_excessive(document, *document.join([each.best for each in document.sentences]))
    equal: dict[object, list[int]] = {}
    for number in found:
        equal.setdefault(document.demands[number].surface.once, []).append(number)
    for numbers in equal.values():
        _move_to_others(document, numbers)
    return [
        Excess(
            tuple(numbers),
            _allowed(document, numbers),
            all(document.demands[number].is_limited for number in numbers),
        )
        for numbers in equal.values()
    ]


def _move_to_others(document: Document, numbers: Sequence[int]) -> None:
    """Assign what is limited to the sentences in which something else has it anyway.

    Those that have it for no such reason can do without. What the source demands stays with that.
    """
    asked = [document.demands[number].asked for number in numbers]
    if len(document.sentences) == 1 or any(e.is_from_source and e.source_spans for e in asked):
        return
    wanting: list[SentenceState] = []
    spare: list[tuple[SentenceState, Piece]] = []
    for sentence in document.sentences:
        own = [each for each in sentence.assigned if document.units[each.unit] in numbers]
        said = _said_by_others(document, sentence, document.demands[numbers[0]], own)
        wanting += [sentence] * (said - len(own))
        spare += [(sentence, piece) for piece in own[said:]]
    for taker, (giver, piece) in zip(wanting, spare, strict=False):
        move(document, piece, giver, taker)


def _said_by_others(
    document: Document, sentence: SentenceState, demand: SpelledConstraint, own: Sequence[Piece]
) -> int:
    """Return how often a sentence says something within all else that it has to say."""
    text = document.text_of(sentence, sentence.best)
    found = [span for (span,) in demand.surface.find(text, len(text), sentence.starts)]
    others = _needed(document, sentence, own)
    return sum(bool(said.ways) for said in _read(document, sentence, others, found))


def _allowed(document: Document, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return how often each sentence may say some equal demands.

    What they may occur beyond what is assigned, or within all else that has to be said, goes to the
    first sentences that say it more often; to one that need not say it only if that is enough.
    """
    own_limits = limits_of_term(document, numbers[0])
    if own_limits is not None:
        return tuple(sys.maxsize if limit is None else limit for limit in own_limits)
    demands = [document.demands[number] for number in numbers]
    pieces = [
        [piece for piece in sentence.assigned if document.units[piece.unit] in numbers]
        for sentence in document.sentences
    ]
    assigned = list(map(len, pieces))
    needed = [
        max(len(own), _said_by_others(document, sentence, demands[0], own))
        for sentence, own in zip(document.sentences, pieces, strict=True)
    ]
    most = sum(demand.asked.at_most or 0 for demand in demands)
    if sum(needed) <= most:
        assigned = needed
    left = most - sum(assigned)
    allowed = []
    for sentence, own in zip(document.sentences, assigned, strict=True):
        text = document.text_of(sentence, sentence.best)
        more = max(len(demands[0].surface.find(text, len(text), sentence.starts)) - own, 0)
        share = min(more, left) if own or more <= left else 0
        left -= share
        allowed.append(own + share)
    return tuple(allowed)


def limit_excess(document: Document, number: int, excess: Sequence[Excess]) -> bool:
    """Keep what occurs too often in the text from a sentence that need not say it again.

    Return whether there was anything to do.
    """
    sentence = document.sentences[number]
    changed = [_limit(document, sentence, each, each.allowed[number]) for each in excess]
    return any(changed)


def _limit(document: Document, sentence: SentenceState, excess: Excess, allowed: int) -> bool:
    """Keep one thing that occurs too often to what a sentence is allowed."""
    demand = document.demands[excess.numbers[0]]
    text = document.text_of(sentence, sentence.best)
    found = [span for (span,) in demand.surface.find(text, len(text), sentence.starts)]
    if len(found) <= allowed:
        return False
    own = excess.pieces(document, sentence)
    uncounted = sentence.uncounted[demand.surface.once]
    is_new = _ask_for(sentence, own, allowed - uncounted)
    searched, sought = (
        [piece for piece in pieces if document.units[piece.unit] in excess.numbers]
        for pieces in (sentence.searched, sentence.sought)
    )
    has_counted = excess.was_limited and searched == sought and not sentence.is_free
    if is_new or (sought and not has_counted):
        for number in excess.numbers:
            document.demands[number] = replace(document.demands[number], is_limited=True)
        return True
    if _learn_or_avoid(document, sentence, excess, found):
        return True
    uncounted += len(found) - allowed
    sentence.uncounted[demand.surface.once] = uncounted
    return _ask_for(sentence, own, allowed - uncounted)


def _ask_for(sentence: SentenceState, own: Sequence[Piece], copies: int) -> bool:
    """Let a sentence be searched with so many copies of a demand; return whether that is new.

    ``own`` is what is assigned to it. What others say is not asked for.
    """
    if not own:
        return False
    before = set(sentence.covered), +sentence.repeated
    sentence.covered -= {piece.unit for piece in own}
    sentence.covered |= {piece.unit for piece in own[max(copies, 0) :]}
    sentence.repeated[own[0]] = max(copies - len(own), 0)
    return before != (sentence.covered, +sentence.repeated)


def limit_alternatives(document: Document, sentence: SentenceState) -> bool:
    """Let the search keep to limits that other translations of a sentence break, not its best one.

    Return whether there was anything to do.
    """
    texts = [document.text_of(sentence, each) for each in sentence.hypotheses]
    changed = False
    for piece in sentence.assigned if len(texts) > 1 else ():
        demand = document.demand(piece.unit)
        if demand.is_limited or demand.asked.at_most is None:
            continue
        first, *others = (demand.surface.find(t, len(t), sentence.starts) for t in texts)
        if max(map(len, others)) > len(first):
            numbers = enumerate(document.demands)
            for number in [i for i, d in numbers if d.surface.once == demand.surface.once]:
                document.demands[number] = replace(document.demands[number], is_limited=True)
            changed = True
    return changed


def leave_to_others(document: Document, excess: Sequence[Excess]) -> bool:
    """Ask no more for what others say often enough, where the search has found no way to count it.

    Whatever stands elsewhere is avoided then. Return whether there was anything to do.
    """
    changed = False
    for each, (number, sentence) in product(excess, enumerate(document.sentences)):
        own, allowed = each.pieces(document, sentence), each.allowed[number]
        demand = document.demands[each.numbers[0]]
        said = _said_by_others(document, sentence, demand, own)
        text = document.text_of(sentence, sentence.best)
        found = demand.surface.find(text, len(text), sentence.starts)
        if own and len(own) <= said <= allowed < len(found):
            sentence.uncounted[demand.surface.once] = allowed
            changed |= _ask_for(sentence, own, 0)
    return changed


def recount(document: Document, sentence: SentenceState) -> bool:
    """Ask again for what was thought to be in others and is not; return whether there was any."""
    changed = False
    text = document.text_of(sentence, sentence.best) if +sentence.uncounted else ""
    for surface in +sentence.uncounted:
        own = [p for p in sentence.assigned if document.demand(p.unit).surface.once == surface]
        found = len(surface.find(text, len(text), sentence.starts))
        if found < len(own):
            sentence.uncounted[surface] = 0
            changed |= _ask_for(sentence, own, len(own))
    return changed


class _Said(NamedTuple):
    """The tokens of an occurrence."""

    tokens: Tokens
    ways: list[Spelling]
    """The spellings of whatever has to be said that it is in."""
    goes_on: bool
    """Whether the last token has something behind the phrase."""


def _read(
    document: Document, sentence: SentenceState, ways: Sequence[Spelling], found: Sequence[Span]
) -> Iterator[_Said]:
    """Yield the tokens of some spans of a sentence, and which of some spellings they are in."""
    shown, tokens = document.shown(sentence), sentence.best.tokens
    spans = document.target.token_spans(tokens, shown)
    places = [
        (start, start + len(way.ids), way)
        for way in dict.fromkeys(ways)
        for start in find_subsequence(tokens, way.ids)
    ]
    for span in found:
        inside = tokens_in(spans, span)
        if not inside:
            continue
        around = [way for start, end, way in places if start <= inside[0] and inside[-1] < end]
        own = document.target.tokens_at(tokens, span, shown)
        yield _Said(own, around, spans[inside[-1]][1] > span[1])


def _learn_or_avoid(
    document: Document, sentence: SentenceState, excess: Excess, found: Sequence[Span]
) -> bool:
    """Let the search know of what it has not counted; return whether there was anything new.

    What is inside of something demanded, or of the prefix, can't be avoided: that is a spelling. A
    sentence that need not say a phrase avoids the spellings that are known, too.
    """
    demand = document.demands[excess.numbers[0]]
    own = excess.pieces(document, sentence)
    is_free = all(piece.unit in sentence.covered for piece in own)
    needed = _needed(document, sentence, own if is_free else (), is_free)
    before = len(sentence.avoid), len(demand.spellings)
    banned = [way.ids for way in demand.spellings if is_free and not way.apart]
    for said in _read(document, sentence, needed, found):
        if not said.ways:
            banned.append(Beginning(said.tokens) if said.goes_on else said.tokens)
        elif not any(way in demand.spellings for way in said.ways):
            demand = demand.learn([way for way in said.ways if demand.surface.find(way.surface)])
    usable = [each for each in banned if not any(find_subsequence(w.ids, each) for w in needed)]
    sentence.avoid = list(dict.fromkeys((*sentence.avoid, *usable)))
    if not is_free:
        for number in excess.numbers:
            document.demands[number] = document.demands[number].learn(demand.learned)
    return before != (len(sentence.avoid), len(document.demands[excess.numbers[0]].spellings))


def _needed(
    document: Document, sentence: SentenceState, but: Sequence[Piece], but_soft: bool = False
) -> list[Spelling]:
    """Return what a sentence has to say, but for some of it, and what it begins with.

    ``but_soft`` leaves out what may be given up: a limit does not give way to that.
    """
    ways = [
        way
        for piece in sentence.assigned
        if piece not in but and not (but_soft and document.is_soft(piece.unit))
        for way in document.demand(piece.unit).shown(piece.first, piece.last)
    ]
    return [*ways, *sentence.prefix.spellings]

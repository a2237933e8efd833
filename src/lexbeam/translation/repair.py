"""The text decides: what tokens promise and the text does not keep is searched again.

The search works on tokens. Joined to a text they may read otherwise: an avoided word comes back
in other tokens, or a phrase runs into the word before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.matching import find_all
from lexbeam.errors import InputError
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Beginning
from lexbeam.search.beam import Hypothesis
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.completeness import has_everything
from lexbeam.translation.document import Document
from lexbeam.translation.excess import (
    Excess,
    find_excess,
    leave_to_others,
    limit_alternatives,
    limit_excess,
    recount,
)
from lexbeam.translation.jobs import Job, JobGenerator
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.shared_tokens import occurrences_of
from lexbeam.translation.spelled import SpelledConstraint, forms_of
from lexbeam.translation.spoilt import may_search_again
from lexbeam.translation.too_often import find_excessive

REPAIRS = 8
"""How often a sentence is searched again because its text breaks what its tokens keep to."""

INVENTED = 3
"""So many turns look for a translation without what is invented: nobody has forbidden it."""

_FEW = 16
"""With more constraints than this, what was given up is not searched for in another way, nor is
what is invented: in a beam that so many share, a second search finds little, and takes as long as
the first."""


_MUCH = 10.0
"""A penalty from which on a soft constraint is looked for in another way, however long it takes."""


def repair(document: Document) -> JobGenerator[None]:
    """Search again where the text breaks what the tokens promised.

    Where the search then finds nothing, what was found before stays; the report says what is
    missing or unavoided in it. What was searched for just so would be found again.
    """
    searched: list[Job] = []
    for turn in range(REPAIRS):
        excessive = find_excess(document)
        broken = [
            sentence
            for number, sentence in enumerate(document.sentences)
            if _may_search(document, sentence, excessive)
            and _avoid_what_came_back(document, sentence, turn)
            | _respell_missing(document, sentence, turn == 0 and _is_worth_it(document, sentence))
            | _require_more(document, sentence)
            | recount(document, sentence)
            | limit_excess(document, number, excessive)
            | limit_alternatives(document, sentence)
        ]
        jobs = [
            document.job(each, each.sought, insists=_breaks_a_promise(document, each, excessive))
            for each in broken
        ]
        if all(job in searched for job in jobs):
            return
        searched += jobs
        try:
            found = yield jobs
        except InputError:
            found = [[] for _ in jobs]
        # What nobody insists on and was not found is left as it is.
        better = [i for i, each in enumerate(found) if each]
        document.take([broken[i] for i in better], [found[i] for i in better])
        if not better and not leave_to_others(document, excessive):
            return


def drop_unmet_soft(document: Document) -> JobGenerator[None]:
    """Search again without the soft demands that were dropped: they had a share of the beam."""
    for sentence in document.sentences:
        unmet = {unit for _, units in _unmet(document, sentence) for unit in units}
        soft = {unit for unit in unmet if document.is_soft(unit)}
        sentence.dropped = [piece for piece in sentence.searched if piece.unit in soft]
        if not _has_few(sentence):
            sentence.dropped = []
    dropping = [
        each
        for each in document.sentences
        if each.dropped and (each.dropped == each.searched or may_search_again(document, each))
    ]
    kept = [[p for p in each.sought if p not in each.dropped] for each in dropping]
    try:
        found = yield [
            document.job(sentence, pieces, insists=False)
            for sentence, pieces in zip(dropping, kept, strict=True)
        ]
    except InputError:  # What a repair avoids may be in the way; what was found stays.
        return
    for sentence, pieces, hypotheses in zip(dropping, kept, found, strict=True):
        left = sentence.left | {piece.unit for piece in sentence.dropped}
        better = [each for each in hypotheses[:1] if each.score > sentence.best.score]
        if better and has_everything(document, sentence, better[0], left):
            _take_unless_excessive(document, sentence, hypotheses, pieces)


def _take_unless_excessive(
    document: Document,
    sentence: SentenceState,
    hypotheses: list[Hypothesis],
    pieces: Sequence[Piece],
) -> None:
    """Take what was found for a sentence unless the text then has something limited too often."""
    before, known = (sentence.hypotheses, sentence.searched), _excessive(document)
    sentence.take(hypotheses, pieces)
    if _excessive(document) - known:
        sentence.take(*before)


def _excessive(document: Document) -> set[int]:
    """Return the numbers of the demands that the text has too often."""
    if all(demand.asked.at_most is None for demand in document.demands):
        return set()
    best = [sentence.best for sentence in document.sentences]
    return set(find_excessive(document, *document.join(best)))


def _has_few(sentence: SentenceState) -> bool:
    return len(sentence.searched) <= _FEW


def _is_worth_it(document: Document, sentence: SentenceState) -> bool:
    """Return whether what was given up is searched for in another way."""
    return _has_few(sentence) and (
        may_search_again(document, sentence) or _gave_up_much(document, sentence)
    )


def _gave_up_much(document: Document, sentence: SentenceState) -> bool:
    """Return whether something was given up that is worth very much to a caller."""
    return any(
        (document.demand(unit).asked.soft or 0.0) >= _MUCH
        for _, units in _unmet(document, sentence)
        for unit in units
    )


def _may_search(document: Document, sentence: SentenceState, excessive: Sequence[Excess]) -> bool:
    """Return whether a sentence is searched again: because there is time, or it has to be."""
    return (
        may_search_again(document, sentence)
        or _breaks_a_promise(document, sentence, excessive)
        or _gave_up_much(document, sentence)
    )


def _breaks_a_promise(
    document: Document, sentence: SentenceState, excessive: Sequence[Excess]
) -> bool:
    """Return whether the text of a sentence lacks what it has to say, or has what is not allowed.

    That what is kept of the source stands in it too often is no such thing.
    """
    for excess in excessive:
        if not all(document.demands[number].asked.is_from_source for number in excess.numbers):
            return True
    if any(not document.is_soft(u) for _, units in _unmet(document, sentence) for u in units):
        return True
    return any(
        document.avoidance.find(document.text_of(sentence, hypothesis))
        for hypothesis in sentence.hypotheses
    )


def _avoid_what_came_back(document: Document, sentence: SentenceState, turn: int) -> bool:
    """Avoid the tokens by which avoided words came back: there is more than one way.

    What is invented by going on with something demanded is avoided in the first turn only: a
    placeholder that may not be said again can go on with any letters, each time with others.
    Return whether there was anything to do.
    """
    known = _banned(sentence)
    look_for_invented = turn < INVENTED and _has_few(sentence)
    demanded = document.shown(sentence)
    ids = [way.ids for way in (*demanded, *sentence.prefix.spellings)]
    for hypothesis in sentence.hypotheses:
        text = document.text_of(sentence, hypothesis)
        avoided = document.avoidance.find(text)
        invented = _invented(document, sentence, text) if look_for_invented else []
        for span in (*avoided, *invented):
            tokens = document.target.tokens_at(hypothesis.tokens, span, demanded)
            needed = any(find_subsequence(each, tokens) for each in ids)
            needed |= turn > 0 and span not in avoided and _goes_on_with_any(tokens, ids)
            sentence.avoid = list(dict.fromkeys((*sentence.avoid, *document.avoidance.tokens)))
            if not needed:
                came_back = [tokens]
                if tokens in sentence.avoid:
                    came_back = list(_going_on(document, hypothesis, tokens, ids))
                # Once each: what is listed twice would hide that something new is.
                new = [each for each in dict.fromkeys(came_back) if each not in sentence.avoid]
                sentence.avoid += new
        _avoid_in_compounds(document, sentence, hypothesis, text)
    return _banned(sentence) > known


def _going_on(
    document: Document, hypothesis: Hypothesis, tokens: Tokens, demanded: Sequence[Tokens]
) -> Iterator[Beginning]:
    """Yield a word that is avoided with the token behind it, where that is none of its letters.

    To the search such a token may go on with the word: it can't tell what the bytes of a character
    will be.
    """
    word = document.target.decode(tokens)
    for start in find_subsequence(hypothesis.tokens, tokens):
        longer = tuple(hypothesis.tokens[start : start + len(tokens) + 1])
        goes_on = document.target.decode(longer)[len(word) :][:1].isalnum()
        if not goes_on and not any(find_subsequence(ids, longer) for ids in demanded):
            yield Beginning(longer)


def _goes_on_with_any(tokens: Tokens, demanded: Sequence[Tokens]) -> bool:
    """Return whether tokens begin with the end of something demanded, and go on."""
    return any(
        ids[-length:] == tokens[:length] for ids in demanded for length in range(1, len(tokens))
    )


def _banned(sentence: SentenceState) -> int:
    """Count what a sentence avoids; what is not even to begin a word counts twice."""
    return sum(1 + isinstance(tokens, Beginning) for tokens in sentence.avoid)


def _avoid_in_compounds(
    document: Document, sentence: SentenceState, hypothesis: Hypothesis, text: str
) -> None:
    """Avoid the parts by which compounds came up, however the word goes on.

    There are too many compounds to avoid them one by one.
    """
    first, last = document.avoidance.find_parts(text)
    demanded = document.shown(sentence)
    parts = {document.target.tokens_at(hypothesis.tokens, span, demanded) for span in first}
    parts |= set(document.avoidance.inside) if last else set()
    ids = [way.ids for way in demanded]
    banned = [Beginning(part) for part in parts if not any(find_subsequence(i, part) for i in ids)]
    sentence.avoid = [*(each for each in sentence.avoid if each not in banned), *banned]


def _invented(document: Document, sentence: SentenceState, text: str) -> list[Span]:
    """Return what a translation has and its source does not, without what was asked for."""
    invented = document.find_invented(text)
    if not invented:
        return []
    asked = [document.demand(p.unit).surface.cut(p.first, p.last) for p in sentence.assigned]
    demanded = [span for found in find_all(text, asked) for each in found for span in each]
    return [
        span
        for span in invented
        if not any(span[0] < end and start < span[1] for start, end in demanded)
    ]


def _respell_missing(document: Document, sentence: SentenceState, also_given_up: bool) -> bool:
    """Give phrases a space of their own where they ran into the word before.

    What the search itself gave up ran into nothing. A sign, or what the vocabulary can't write,
    may be worth its cost with a space; words have one. Return whether there was anything to do.
    """
    changed = False
    searched = zip(sentence.searched, sentence.best.met, strict=False)  # a free search has none
    given_up = {
        piece.unit
        for piece, met in searched
        if not met and not (also_given_up and _may_lack_a_space(document.demand(piece.unit)))
    }
    for _, units in _unmet(document, sentence):
        for unit in (unit for unit in units if unit not in given_up | sentence.left):
            demand = document.demand(unit)
            respelled = demand.spaced(document.target, document.avoidance.words)
            changed |= respelled != demand
            document.demands[document.units[unit]] = respelled
    return changed


def _may_lack_a_space(demand: SpelledConstraint) -> bool:
    """Return whether something that is demanded is written in other ways than words are."""
    return any(way.is_rewritten or not way.surface[:1].isalnum() for way in demand.spellings)


def _require_more(document: Document, sentence: SentenceState) -> bool:
    """Require tokens once more where the text does not show all phrases that they stand for.

    Return whether there was anything to do.
    """
    unmet = {unit for _, units in _unmet(document, sentence) for unit in units}
    before = dict(sentence.required), Counter(sentence.repeated)
    for piece in sentence.assigned:
        if piece.unit not in unmet - sentence.covered or document.is_soft(piece.unit):
            continue
        if piece.last - piece.first > 1:
            sentence.repeated[piece] += 1
            continue
        part = document.demand_in(sentence, piece.unit).parts[piece.first]
        found = occurrences_of(part, sentence.best.tokens)
        known = sentence.required.get(forms_of(part), 0)
        sentence.required[forms_of(part)] = max(known, found + 1)
    return before != (sentence.required, sentence.repeated)


def _unmet(document: Document, sentence: SentenceState) -> list[tuple[Constraint, list[int]]]:
    """Return what a sentence was to say and has not, as text and as units.

    Of equal demands those that may be dropped are missed first.
    """
    text = document.text_of(sentence, sentence.best)
    sought: dict[Constraint, list[int]] = {}
    for piece in sorted(sentence.assigned, key=lambda piece: document.is_soft(piece.unit)):
        surface = document.demand(piece.unit).surface.cut(piece.first, piece.last)
        sought.setdefault(surface, []).append(piece.unit)
    return [
        (s, units[len(s.find(text, len(units), sentence.starts)) :]) for s, units in sought.items()
    ]

"""Constraints that are tied to the words of the source they translate.

A glossary knows which words of the source a term translates, and so may a caller (``source``).
The search then says the term where the model translates these words (`lexbeam.search.ties`). What
the model would have said there instead is found in a draft, a quick translation without
constraints, and avoided: a term replaces a word and does not stand beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from lexbeam.constraints.constraint import Constraint, SourceSpans
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.matching import find_all, find_excess
from lexbeam.errors import ConstraintError, quoted
from lexbeam.search.arrays import ScoreArray, Tokens
from lexbeam.search.automaton.patterns import Beginning
from lexbeam.search.beam import Hypothesis
from lexbeam.text.casing import matches, variants
from lexbeam.text.compounds import word_around
from lexbeam.text.phrases import Spelling
from lexbeam.text.spelling import TargetText, spell_inside, token_of
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import are_glued, is_word_character
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.sentence import SentenceState

CLEAR = 0.5
"""The share of attention from which on a word of a draft is taken to translate a source."""

JOINED = 2.0
"""The log-probability that a term may cost whose source is joined with another word."""

SHORT = 3
"""Letters of a word that is more likely to go with a term than to be replaced by it."""


def find_sources(constraints: Constraints, text: str) -> Constraints:
    """Return constraints that know where in a text stand the sources that callers name.

    Raises:
        ConstraintError: a source is not in the text.
    """
    if all(each.source is None or each.source_spans for each in constraints.demanded):
        return constraints
    found = tuple(
        replace(each, source_spans=_spans_of(each, text)) if each.source is not None else each
        for each in constraints.demanded
    )
    return replace(constraints, demanded=found)


def _spans_of(constraint: Constraint, text: str) -> SourceSpans:
    """Return where the source of a constraint stands, one span per count."""
    source = constraint.source
    if isinstance(source, str):
        spans = sorted(matches(text, source, "any", starts=(0,)))
        if not spans:
            raise ConstraintError(
                f"the source {quoted(source)} of {quoted(constraint.text)} is not in the text"
            )
    else:
        assert source is not None
        spans = [source]
        if source[1] > len(text):
            raise ConstraintError(
                f"the source {list(source)} of {quoted(constraint.text)} is outside the text, "
                f"which has {len(text)} characters"
            )
        if not text[slice(*source)].strip():
            raise ConstraintError(
                f"the source {list(source)} of {quoted(constraint.text)} is only white space"
            )
    spans += spans[-1:] * (constraint.count - len(spans))
    return tuple(spans[: constraint.count])


@dataclass(frozen=True)
class DisplacedWords:
    """Finds what the tied constraints of a sentence displace; the search shows it a draft."""

    may_be_free: bool
    """Whether a free translation will do if the draft has everything."""
    document: Document = field(compare=False, repr=False)
    sentence: SentenceState = field(compare=False, repr=False)

    def find(self, draft: Hypothesis) -> list[Tokens] | None:
        """Return the tokens of what a draft says for the sources; None: it has everything."""
        if self.may_be_free and has_everything(self.document, self.sentence, draft):
            return None
        found = find_displaced(self.document, self.sentence, draft)
        self.sentence.displaced = found
        return found


def search_tied(
    document: Document,
    sentences: Sequence[SentenceState],
    may_be_free: Callable[[SentenceState], bool],
) -> JobGenerator[None]:
    """Search for sentences with tied constraints, which replace what drafts say for their source.

    Sentences whose drafts have everything are not searched if they may be free. Where there is no
    way to meet everything without what a draft says, nothing is avoided on account of ties.
    """
    yield from _draft_compounds(document, sentences, may_be_free)
    sentences = [each for each in sentences if not each.hypotheses]
    jobs = [
        document.job(
            each,
            each.assigned,
            displacement=None
            if each.displaced is not None
            else DisplacedWords(may_be_free(each), document, each),
        )
        for each in sentences
    ]
    try:
        found = (yield jobs) if jobs else []
    except ConstraintError:
        for each in sentences:
            each.displaced = []
        yield from document.search(sentences)
        return
    for sentence, hypotheses in zip(sentences, found, strict=True):
        if hypotheses:
            sentence.take(hypotheses, sentence.assigned)
            draft = hypotheses[0].draft
            if draft is not None and sentence.displaced is None:
                # The search was not made for this sentence.
                sentence.displaced = find_displaced(document, sentence, draft)


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
    for tokens in document.ties(sentence, sentence.assigned).values():
        share = np.asarray(draft.attention[:, list(tokens)].sum(axis=1), np.float64)
        clear = [
            (most, document.target.decode(draft.tokens[start:end]).strip())
            for word, (start, end) in zip(written, words, strict=True)
            if (most := float(share[start:end].max())) >= CLEAR and written.count(word) == 1
        ]
        several = _has_several_words(document, sentence, tokens)
        displaced |= dict.fromkeys(said_for(clear, several))
    usable = [
        word
        for word in displaced
        if word.casefold() not in demanded and not _has_part(document, sentence, word)
    ]
    found = dict.fromkeys(way for word in usable for way in _ways_to_say(word, document.vocabulary))
    # What is inside of something demanded can't be avoided, here or in a later search.
    ways = [w for p in sentence.assigned for w in document.demand(p.unit).spellings]
    found |= dict.fromkeys(_torn(ways, document.vocabulary))
    return [each for each in found if not any(find_subsequence(way.ids, each) for way in ways)]


def _draft_compounds(
    document: Document,
    sentences: Sequence[SentenceState],
    may_be_free: Callable[[SentenceState], bool],
) -> JobGenerator[None]:
    """Draft the sentences of which something may be in a compound.

    What the search has to know of such a compound depends on the draft, so that the draft has to
    be there before the search. The draft is a free translation: where it has everything, it is
    taken as it is.
    """
    some = [
        each
        for each in sentences
        if any(document.demand(piece.unit).asked.compound for piece in each.assigned)
    ]
    found = (yield [document.draft(each) for each in some]) if some else []
    for sentence, hypotheses in zip(some, found, strict=True):
        if hypotheses:
            sentence.left = _leave_joined(document, sentence, hypotheses[0])
            sentence.untied = _said_in_compounds(document, sentence, hypotheses[0]) | sentence.left
            sentence.displaced = find_displaced(document, sentence, hypotheses[0])
            if may_be_free(sentence) and has_everything(document, sentence, hypotheses[0]):
                sentence.take(hypotheses, [])
                sentence.searched = list(sentence.assigned)


def _said_in_compounds(document: Document, sentence: SentenceState, draft: Hypothesis) -> set[int]:
    """Return the units that may be in compounds and that a draft has; let the search know them.

    A compound is said where the model attends to the sources of all its parts. And its pieces may
    be others than the search knows: one for the whole compound.
    """
    text = document.text_of(sentence, draft)
    units = set()
    for piece in sentence.assigned:
        demand = document.demand(piece.unit)
        for part, *_ in demand.surface.find(text) if demand.asked.compound else ():
            tokens = document.target.tokens_at(draft.tokens, word_around(text, part))
            document.demands[document.units[piece.unit]] = demand.also(tokens, text[slice(*part)])
            units.add(piece.unit)
    return units


def _leave_joined(document: Document, sentence: SentenceState, draft: Hypothesis) -> set[int]:
    """Let go, for a small price, of terms whose source a draft joins with the next word to one.

    *Command prompt* is *Eingabeaufforderung*: to tear *Befehl* out of that would spoil it. Only
    terms of glossaries that may be in compounds are let go of, and where one occurs several times,
    only if the draft has the others. The units are returned.
    """
    if draft.attention is None:
        return set()
    words = split_words(document.target.pieces(draft.tokens))
    joined: dict[int, set[int]] = {}
    for index, tokens in document.ties(sentence, sentence.assigned).items():
        following = _next_word(document, sentence, tokens)
        if _is_joined(draft.attention, words, tokens, following):
            unit = sentence.assigned[index].unit
            joined.setdefault(document.units[unit], set()).add(unit)
    left = set()
    for number, units in joined.items():
        demand, asked = document.demands[number], document.units.count(number)
        said = len(demand.surface.find(document.text_of(sentence, draft), asked))
        by_glossary = demand.asked.source is None and demand.asked.soft is None
        if by_glossary and demand.asked.compound and said < asked <= said + len(units):
            document.demands[number] = replace(demand, asked=replace(demand.asked, soft=JOINED))
            left |= units
    return left


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
    here = [float(attention[a:b, list(tokens)].sum(axis=1).max()) for a, b in words]
    start, end = words[int(np.argmax(here))]
    return float(attention[start:end, list(following)].sum(axis=1).max()) >= CLEAR


def _torn(ways: Sequence[Spelling], target: TargetText) -> list[Tokens]:
    """Return the tokens of phrases with a space between them and a hyphen: *Core- Projekt*."""
    hyphen = token_of(target, "-")
    return [] if hyphen is None else [(hyphen, *way.ids) for way in ways if way.spaced]


@lru_cache(maxsize=1 << 14)
def _ways_to_say(word: str, target: TargetText) -> list[Tokens]:
    """Return the tokens of a word in any case.

    Without a space before it, too: a word that is replaced should not come back behind a hyphen,
    as part of a compound.
    """
    spaced = [target.spell_prefix(each.text) for each in variants(word, "any")]
    ways = [way for way in (*spaced, *spell_inside(target, word)) if not way.pieces]
    found = dict.fromkeys(way.ids for way in ways)
    # Else a longer word may come up that says the same, or is none: *computerss*.
    return [Beginning(each) if len(word) > SHORT else each for each in found]


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


def competes(document: Document, sentence: SentenceState) -> bool:
    """Return whether a sentence has a tied constraint that is not the source itself, kept."""
    for index in document.ties(sentence, sentence.assigned):
        asked = document.demand(sentence.assigned[index].unit).asked
        sources = {document.text[start:end] for start, end in asked.source_spans}
        if not all(form in sources for part in asked.parts for form in part):
            return True
    return False


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


def has_everything(document: Document, sentence: SentenceState, hypothesis: Hypothesis) -> bool:
    """Return whether a hypothesis has what is assigned, and nothing too often or avoided."""
    text = document.text_of(sentence, hypothesis)
    if document.avoidance.find(text):
        return False
    demands = {piece.unit: document.demand(piece.unit) for piece in sentence.assigned}
    wanted = [
        document.demand(piece.unit).surface.cut(piece.first, piece.last)
        for piece in sentence.assigned
    ]
    if not all(find_all(text, wanted)):
        return False
    return not find_excess(text, list({demand.surface: None for demand in demands.values()}))

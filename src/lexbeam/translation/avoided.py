"""What an output must not have: as tokens for the search, as text for the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lexbeam.constraints.constraint import Constraint
from lexbeam.search.arrays import Tokens
from lexbeam.text.casing import Case, capitalised, compound_spellings, matches, variants
from lexbeam.text.compounds import begins_word, lowered, may_be_part, word_around
from lexbeam.text.phrases import Spelling
from lexbeam.text.sentence_splitter import inner_starts
from lexbeam.text.spelling import TargetText, spell_inside
from lexbeam.text.word_boundaries import Span, stands_alone

MOST_AT_FIRST = 64
"""Phrases of a longer list are banned only in sentences in which one of them has come up."""


@dataclass(frozen=True)
class Avoidance:
    """Avoided phrases, as text and as tokens.

    The search bans tokens wherever they stand. A phrase that is written small is also avoided
    with a capital as the first word of a sentence, but nowhere else. So only its small spelling
    is banned. If the text of a sentence then begins with it, the sentence is searched again. The
    same goes for a phrase right behind an opening quotation mark or a hyphen: its tokens may
    stand inside another word. And it goes for compounds.
    """

    words: tuple[Constraint, ...] = ()
    """The phrases as the output would show them."""
    names: Mapping[Tokens, str] = field(default_factory=dict)
    """The token sequences to ban, each with the phrase that it writes."""
    inside: tuple[Tokens, ...] = ()
    """Those of phrases that are avoided as the last part of a compound: they may come up in other
    words, too, and are banned only where a compound has come up."""

    @classmethod
    @lru_cache(maxsize=4)
    def spell(cls, avoided: tuple[Constraint, ...], target: TargetText) -> Avoidance:
        """Return the tokens of avoided phrases.

        One with characters that the vocabulary lacks can only come up with something demanded,
        so that it needs no tokens. The same list may come with every line of a long file, so the
        result is cached.
        """
        words = []
        names: dict[Tokens, str] = {}
        inside: dict[Tokens, None] = {}
        for constraint in avoided:
            surfaces: list[str] = []
            for form in constraint.parts[0]:
                ways = target.spell_all(form)
                # Something demanded may show it as it is given, not as the vocabulary writes it.
                surfaces += dict.fromkeys((ways[0].written or ways[0].surface, ways[0].surface))
                for variant in variants(form, constraint.case):
                    ways = [] if variant.first else _known_ways(variant.text, target)
                    names |= {way.ids: variant.text for way in ways if not way.apart}
                inside |= dict.fromkeys(_ways_inside(form, constraint, target))
            words.append(replace(constraint, parts=(tuple(surfaces),)))
        return cls(tuple(words), names, tuple(inside))

    @property
    def tokens(self) -> list[Tokens]:
        """The token sequences to ban."""
        return list(self.names)

    @property
    def first_tokens(self) -> list[Tokens]:
        """The token sequences to ban from the start; none if there are very many.

        To compile thousands of phrases takes longer than to translate a sentence, and few
        sentences would have any of them.
        """
        return self.tokens if len(self.names) <= MOST_AT_FIRST else []

    def find(
        self, text: str, starts: Sequence[int] = (0,), demanded: Sequence[Span] = ()
    ) -> list[Span]:
        """Return the spans of avoided phrases in a text; of a compound, that of the whole word.

        A word that is demanded with a capital may begin a sentence, even if it is avoided
        without one. ``demanded`` are the spans of what is demanded. Sentences begin at ``starts``
        and behind others: a model may make two of one.
        """
        spans, begun = [], None
        for form, case, compound in self._forms():
            if case != "any" and not any(
                written in text for written in (form, capitalised(form), lowered(form))
            ):
                continue
            if begun is None:
                begun = sorted({*starts, *inner_starts(text)})
            for start, end in matches(text, form, case, begun, compound):
                wanted = any(first <= start and end <= last for first, last in demanded)
                if text[start:end] == form or not wanted:
                    spans.append(word_around(text, (start, end)))
        return spans

    def find_parts(self, text: str) -> tuple[list[Span], list[Span]]:
        """Return the spans of avoided parts of compounds: those that come first, and last."""
        spans = [
            span
            for form, case, compound in self._forms()
            if compound
            for span in matches(text, form, case, compound=True)
            if not stands_alone(text, span)
        ]
        first = [span for span in spans if begins_word(text, span[0])]
        return first, [span for span in spans if span not in first]

    def _forms(self) -> Iterator[tuple[str, Case, bool]]:
        for word in self.words:
            for form in word.parts[0]:
                yield form, word.case, word.compound


def _ways_inside(form: str, constraint: Constraint, target: TargetText) -> list[Tokens]:
    """Return the tokens of a form as the last part of a compound, if it is avoided there."""
    if not (constraint.compound and may_be_part(form)):
        return []
    spellings = compound_spellings(form, constraint.case)[1]
    return [way.ids for text in spellings for way in spell_inside(target, text)]


def _known_ways(phrase: str, target: TargetText) -> list[Spelling]:
    """Return the spellings of a phrase; none if the vocabulary lacks some of its characters."""
    return [spelling for spelling in target.spell_all(phrase) if not spelling.pieces]

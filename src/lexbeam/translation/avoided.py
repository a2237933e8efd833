"""What an output must not have: as tokens for the search, as text for the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lexbeam.constraints.constraint import Constraint
from lexbeam.search.arrays import Tokens
from lexbeam.text.casing import Case, capitalised, matches, variants
from lexbeam.text.phrases import Spelling
from lexbeam.text.spelling import TargetText
from lexbeam.text.word_boundaries import Span

MOST_AT_FIRST = 64
"""Phrases of a longer list are banned only in sentences in which one of them has come up."""


@dataclass(frozen=True)
class Avoidance:
    """Avoided phrases, as text and as tokens.

    The search bans tokens wherever they stand. A phrase that is written small is also avoided
    with a capital as the first word of a sentence, but nowhere else. So only its small spelling
    is banned. If the text of a sentence then begins with it, the sentence is searched again. The
    same goes for a phrase right behind an opening quotation mark or a hyphen: its tokens may
    stand inside another word.
    """

    words: tuple[Constraint, ...] = ()
    """The phrases as the output would show them."""
    names: Mapping[Tokens, str] = field(default_factory=dict)
    """The token sequences to ban, each with the phrase that it writes."""

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
        for constraint in avoided:
            surfaces = []
            for form in constraint.parts[0]:
                ways = target.spell_all(form)
                surfaces.append(ways[0].written or ways[0].surface)
                for variant in variants(form, constraint.case):
                    ways = [] if variant.first else _known_ways(variant.text, target)
                    names |= {way.ids: variant.text for way in ways if not way.apart}
            words.append(replace(constraint, parts=(tuple(surfaces),)))
        return cls(tuple(words), names)

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
        """Return the spans of avoided phrases in a text.

        A word that is demanded with a capital may begin a sentence, even if it is avoided
        without one. ``demanded`` are the spans of what is demanded.
        """
        spans = []
        for form, case in self._forms():
            if case != "any" and form not in text and capitalised(form) not in text:
                continue
            for start, end in matches(text, form, case, starts):
                wanted = any(first <= start and end <= last for first, last in demanded)
                if text[start:end] == form or not wanted:
                    spans.append((start, end))
        return spans

    def _forms(self) -> Iterator[tuple[str, Case]]:
        return ((form, word.case) for word in self.words for form in word.parts[0])


def _known_ways(phrase: str, target: TargetText) -> list[Spelling]:
    """Return the spellings of a phrase; none if the vocabulary lacks some of its characters."""
    return [spelling for spelling in target.spell_all(phrase) if not spelling.pieces]

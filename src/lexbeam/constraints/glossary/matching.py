"""Finding source terms in a text: whole words, the longest first.

Terms are looked up by their words in one dictionary, so that a glossary of a hundred thousand
terms takes no more time per sentence than one of ten.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from lexbeam.constraints.glossary.context import Context, Word, is_noun, is_verb_form
from lexbeam.text.word_boundaries import Span, are_glued

Case = Literal["smart", "exact", "any"]
CASES: tuple[Case, ...] = ("smart", "exact", "any")

_MOST_READINGS = 64  # ways to read a stretch of text, each word as it stands or as its lemma
_ASCII_WORDS = re.compile(r"\w+|[^\w\s]", re.ASCII)
_NO_WORD = "\0"  # stands for what is skipped: no term has this word
_APOSTROPHES = str.maketrans("’ʼ", "''")


@dataclass(frozen=True, slots=True)
class Rule:
    """What a source term demands of a translation, with its file and line."""

    source: str
    words: tuple[str, ...]
    targets: tuple[str, ...]
    forbidden: tuple[str, ...]
    path: str
    line: int
    rank: int = 0
    """The number of its glossary; of two rules for the same words the higher rank holds."""
    compound: bool = False
    """Whether targets may be part of compounds, and what is forbidden may not."""


@dataclass(frozen=True, slots=True)
class Match:
    """An occurrence of a source term in a text."""

    rule: Rule
    start: int
    end: int
    may_be_verb: bool = False
    """Whether its words, which are a noun in the rule, could be a verb in the text."""
    is_form: bool = False
    """Whether its words are in other forms than in the rule."""


class Matcher:
    """Finds the source terms of rules in texts.

    ``case``: *smart* lets words that are written in lower case match any capitals, while words
    with capitals match as they are; *exact* and *any* treat all alike. ``lemma_of`` lets a word
    be found in any of its forms. With ``names``, a word in lower case is not found in part of a
    name; with ``nouns``, the source is English and targets with a capital are nouns: their source
    words are not found where they have a hyphen, nor where they are verbs, unless ``verbs`` is set;
    with ``addresses``, nothing is found in parts of addresses and identifiers.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        case: Case = "smart",
        lemma_of: Callable[[str], str] | None = None,
        names: bool = False,
        nouns: bool = False,
        addresses: bool = False,
        verbs: bool = False,
    ) -> None:
        self._addresses = addresses
        self._names = names and case == "smart"
        self._nouns = nouns
        self._verbs = verbs
        self._case = case
        self._lemma_of = lemma_of
        self._rules: defaultdict[tuple[str, ...], list[Rule]] = defaultdict(list)
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for rule in rules:
            key = tuple(map(fold, rule.words))
            self._rules[key].append(rule)
            lengths[key[0]].add(len(key))
        self._lengths = {first: tuple(found) for first, found in lengths.items()}

    def find(self, text: str, skip: Sequence[Span] = ()) -> list[Match]:
        """Return the terms of a text from left to right, none inside another or in ``skip``."""
        found = split_words(text)
        if skip:
            found = [
                (_NO_WORD if _overlaps(word[1:], skip) else word[0], *word[1:]) for word in found
            ]
        every = self._candidates(found, Context(text, found))
        candidates = sorted(every, key=lambda c: (c[0] - c[1], c[2].start))
        taken = bytearray(len(found))
        matches = []
        for first, end, match in candidates:
            if not any(taken[first:end]):
                taken[first:end] = b"\1" * (end - first)
                matches.append(match)
        return sorted(matches, key=lambda match: match.start)

    def _candidates(
        self, found: Sequence[Word], context: Context
    ) -> Iterator[tuple[int, int, Match]]:
        """Yield every occurrence of a term, with the index of its first word and the one after."""
        surface = [word for word, _, _ in found]
        readings = [self._readings(word) for word in surface]
        for first, words in enumerate(readings):
            lengths = {n for word in words for n in self._lengths.get(word, ())}
            for end in (first + n for n in lengths if first + n <= len(found)):
                rule = self._rule(surface[first:end], readings[first:end])
                if rule and self._is_meant(context, rule, surface[first:end], first, end):
                    doubtful = self._tells_verbs(rule) and context.may_be_verb(first, end)
                    span = found[first][1], found[end - 1][2]
                    is_form = list(map(fold, surface[first:end])) != list(map(fold, rule.words))
                    yield first, end, Match(rule, *span, doubtful, is_form)

    def _is_meant(
        self, context: Context, rule: Rule, surface: Sequence[str], first: int, end: int
    ) -> bool:
        """Return whether nothing around some words says that they are not those of a rule."""
        plain = self._addresses and all(word[0].isalnum() for word in rule.words)
        if plain and context.is_in_address(first, end):
            return False
        if self._names and _is_name(context, rule, surface, first, end):
            return False
        if not self._is_noun(rule):
            return True
        if "-" not in rule.words and context.is_hyphenated(first, end):
            return False
        is_other = context.is_in_set_expression(first, end)
        is_other |= self._names and context.is_identifier(first, end)
        if self._tells_verbs(rule):
            is_other |= context.is_verb(first, end) or is_verb_form(surface[-1], rule.words[-1])
        return not is_other

    def _is_noun(self, rule: Rule) -> bool:
        """Return whether all targets of a rule are nouns, as far as that is seen."""
        return self._nouns and bool(rule.targets) and all(map(is_noun, rule.targets))

    def _tells_verbs(self, rule: Rule) -> bool:
        """Return whether the words of a rule are not meant where they are verbs."""
        return not self._verbs and self._is_noun(rule)

    def _readings(self, word: str) -> tuple[str, ...]:
        """Return the forms under which a word is looked up: itself, and its lemma."""
        folded = fold(word)
        if self._lemma_of is None or not word[0].isalpha():
            return (folded,)
        return tuple(dict.fromkeys((folded, fold(self._lemma_of(word)))))

    def _rule(self, surface: Sequence[str], readings: Sequence[tuple[str, ...]]) -> Rule | None:
        """Return the rule for some words: of the last glossary, the one closest to the text."""
        keys: Iterable[tuple[str, ...]] = product(*readings)
        if prod(map(len, readings)) > _MOST_READINGS:
            keys = [tuple(words[0] for words in readings), tuple(words[-1] for words in readings)]
        fitting = [
            (rule.rank, _agreement(rule.words, surface), rule)
            for key in keys
            for rule in self._rules.get(key, ())
            if self._fits(rule.words, surface)
        ]
        return max(fitting, key=lambda ranked: ranked[:2])[2] if fitting else None

    def _fits(self, words: Sequence[str], surface: Sequence[str]) -> bool:
        """Return whether the capitals of a text agree with those of a term."""
        if self._case == "any":
            return True
        pairs = zip(words, surface, strict=True)
        if self._case == "exact":
            return all(_same_capitals(word, there) for word, there in pairs)
        return all(word == word.lower() or _same_capitals(word, there) for word, there in pairs)


def _is_name(context: Context, rule: Rule, surface: Sequence[str], first: int, end: int) -> bool:
    """Return whether a name has the words of a rule that is written in lower case."""
    if any(word != word.lower() for word in rule.words):
        return False
    is_form = any(fold(a) != fold(b) for a, b in zip(rule.words, surface, strict=True))
    if context.cuts_name(first, end) or (is_form and context.may_be_name(first)):
        return True
    return context.is_all_capitals(first, end) and not any(map(str.isupper, rule.targets))


def split_words(text: str) -> list[Word]:
    """Return the words and punctuation marks of a text with their spans.

    In scripts without spaces every character is a word.
    """
    if text.isascii():
        return [(found[0], found.start(), found.end()) for found in _ASCII_WORDS.finditer(text)]
    cuts = [i for i in range(1, len(text)) if not are_glued(text[i - 1], text[i])]
    edges = zip([0, *cuts], [*cuts, len(text)], strict=True)
    return [(text[start:end], start, end) for start, end in edges if not text[start].isspace()]


def fold(word: str) -> str:
    """Return a word as it is looked up: without case, in Unicode's composed form."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", word).casefold().translate(_APOSTROPHES)


def _same_capitals(word: str, there: str) -> bool:
    """Return whether a word of a text has the capitals of a term's, of which it may be a form."""
    if fold(word) == fold(there):
        return unicodedata.normalize("NFC", word) == unicodedata.normalize("NFC", there)
    return word[1:].islower() and word[0].isupper() == there[0].isupper() and there[1:].islower()


def _agreement(words: Sequence[str], surface: Sequence[str]) -> int:
    """Count the words that stand in the text exactly as in the term, and those but for case."""
    pairs = list(zip(words, surface, strict=True))
    return sum(2 * (a == b) + (fold(a) == fold(b)) for a, b in pairs)


def _overlaps(span: Span, skipped: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in skipped)

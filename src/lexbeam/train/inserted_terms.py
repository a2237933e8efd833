"""Translations put into the source in place of its words: the model learns to read terms there.

A term of a glossary is known before the search begins. A model that can read it in the source
knows it before it says the article, and where in the sentence it belongs (Song et al., 2019; Dinu
et al., 2019). So in some examples source words are replaced by their translations: as they stand
in the target, or in their dictionary form, which the model has to inflect. Where two source words
make one compound, one of them may be replaced by its part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import InputError
from lexbeam.text.inflection import lemma
from lexbeam.text.vocabulary import SPACE
from lexbeam.train.alignment import Alignments
from lexbeam.train.example_words import ExampleWords, Ids, WordSplitter
from lexbeam.train.vocabulary import Vocabulary

WORDS = 0.25
"""The share of the words that are replaced, in an example with terms."""
LEMMAS = 0.4
"""The share of terms that are put into the source in their dictionary form."""
PARTS = 0.5
"""The share of compounds of which only a part is put into the source."""
MOST_SOURCE, MOST_TARGET = 3, 2
"""Words of a term on either side."""
SHORTEST_PART, LEAST_SEEN = 4, 3
"""Letters of a part of a compound, and how often it must have been seen as a translation."""

Links = NDArray[np.int16]
Translations = dict[str, Counter[str]]


class _Term(NamedTuple):
    """Source words of an example and their translation."""

    start: int
    """The first source word; numbered through all examples, as are the others."""
    end: int
    first: int
    """The first target word."""
    last: int
    """The target word behind the last."""


class TermInsertion:
    """Puts translations into the sources of a share of the examples."""

    def __init__(
        self, vocabulary: Vocabulary, alignments: Alignments, share: float, language: str
    ) -> None:
        self._vocabulary = vocabulary
        self._pieces = vocabulary.pieces
        self._splitter = WordSplitter(vocabulary.pieces)
        self._alignments = alignments
        self._share = share
        self._lemma = _lemmatizer(language)
        self._encoded: dict[str, list[int]] = {}

    def insert(
        self,
        sources: Ids,
        targets: Ids,
        parts: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ) -> list[list[int]]:
        """Return the sources, some with terms; ``parts`` are the pairs of each example."""
        source, target = self._splitter.split(sources), self._splitter.split(targets)
        drawn = np.flatnonzero(rng.random(len(sources)) < self._share).tolist()
        terms = {i: self._draw(source, target, i, parts[i], rng) for i in drawn}
        known = self._translations(sources, targets, source, target, terms)
        inserted = [list(ids) for ids in sources]
        for example, found in terms.items():
            for term in reversed(found):  # from behind: what stands before keeps its place
                start, end, ids = self._term_ids(
                    term, sources[example], targets[example], source, target, known, rng
                )
                inserted[example][start:end] = ids
        return inserted

    def _draw(
        self,
        source: ExampleWords,
        target: ExampleWords,
        example: int,
        pairs: Sequence[int],
        rng: np.random.Generator,
    ) -> list[_Term]:
        """Draw the terms of an example, from left to right, none inside another."""
        counts = source.count(example), target.count(example)
        links = self._alignments.join(pairs, counts)
        if links is None or not len(links):
            return []
        first, start = int(source.first[example]), int(target.first[example])
        chosen = np.flatnonzero(rng.random(counts[0]) < WORDS)
        terms: list[_Term] = []
        for word in chosen[source.is_plain[first + chosen]]:
            pair = phrase_pair(links, int(word))
            if pair is None:
                continue
            term = _Term(pair[0] + first, pair[1] + first, pair[2] + start, pair[3] + start)
            is_usable = (
                source.is_plain[term.start : term.end].all()
                and target.is_usable[term.first : term.last].all()
            )
            is_copied = source.head[term.start] == target.head[term.first]
            if is_usable and not is_copied and (not terms or terms[-1].end <= term.start):
                terms.append(term)
        return terms

    def _translations(
        self,
        sources: Ids,
        targets: Ids,
        source: ExampleWords,
        target: ExampleWords,
        terms: dict[int, list[_Term]],
    ) -> Translations:
        """Count the translations of single words, which show the parts of compounds."""
        known: Translations = {}
        for example, found in terms.items():
            for term in found:
                if term.end - term.start == term.last - term.first == 1:
                    word = self._text(sources[example], source.place(term.start)).lower()
                    said = self._text(targets[example], target.place(term.first))
                    known.setdefault(word, Counter())[said] += 1
        return known

    def _term_ids(
        self,
        term: _Term,
        source_ids: Sequence[int],
        target_ids: Sequence[int],
        source: ExampleWords,
        target: ExampleWords,
        known: Translations,
        rng: np.random.Generator,
    ) -> tuple[int, int, list[int]]:
        """Return which source pieces are replaced, and by which."""
        words = [source.place(word) for word in range(term.start, term.end)]
        start, end = words[0][0], words[-1][1]
        place = target.place(term.first)[0], target.place(term.last - 1)[1]
        whole = list(target_ids[slice(*place)])
        if term.last - term.first > 1:
            return start, end, whole
        text = self._text(target_ids, place)
        if len(words) == 2 and rng.random() < PARTS:
            for word, is_head in zip(reversed(words), (True, False), strict=True):
                part = part_of(text, known.get(self._text(source_ids, word).lower()), is_head)
                if part:
                    return *word, self._encode(part)
        if self._lemma and rng.random() < LEMMAS:
            base = self._lemma(text)
            if base.lower() != text.lower() and base[0].isupper() == text[0].isupper():
                return start, end, self._encode(base)
        return start, end, whole

    def _text(self, ids: Sequence[int], place: tuple[int, int]) -> str:
        return "".join(self._pieces[i] for i in ids[slice(*place)]).replace(SPACE, "")

    def _encode(self, word: str) -> list[int]:
        if word not in self._encoded:
            self._encoded[word] = list(self._vocabulary.encode([word])[0])
        return self._encoded[word]


def phrase_pair(links: Links, word: int) -> tuple[int, int, int, int] | None:
    """Return the source and target words around a word that are linked to each other alone.

    These are the first source word and the one behind the last, and the same of the target; None
    if there are more than a few, or none.
    """
    said = links[links[:, 0] == word, 1]
    if not len(said):
        return None
    first, last = int(said.min()), int(said.max())
    inside = links[(links[:, 1] >= first) & (links[:, 1] <= last), 0]
    start, end = int(inside.min()), int(inside.max())
    outgoing = links[(links[:, 0] >= start) & (links[:, 0] <= end), 1]
    is_closed = outgoing.min() >= first and outgoing.max() <= last
    if not is_closed or end - start >= MOST_SOURCE or last - first >= MOST_TARGET:
        return None
    return start, end + 1, first, last + 1


def part_of(compound: str, translations: Counter[str] | None, is_head: bool) -> str:
    """Return the most frequent translation of a word that is the last, or first, part of another.

    Nothing if there is none.
    """
    whole = compound.lower()
    for text, seen in (translations or Counter[str]()).most_common(5):
        part = text.lower()
        fits = whole.endswith(part) if is_head else whole.startswith(part)
        if fits and SHORTEST_PART <= len(part) <= len(whole) - 3 and seen >= LEAST_SEEN:
            return text
    return ""


def _lemmatizer(language: str) -> Callable[[str], str] | None:
    """Return what gives words of a language their dictionary form, if there is a dictionary."""
    try:
        lemma("a", language)
    except InputError:
        return None
    return lambda word: lemma(word, language)

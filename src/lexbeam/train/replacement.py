"""Source words that are replaced by others, so that a target says what its source does not suggest.

That is what a term of a glossary does. A model that has never seen it goes wrong around a term:
it knows no other article than that of its own word, and loses its way behind it. So in some
examples a source word is replaced by that of another example, while its translation stays. The
model learns to follow what has been said, and attention learns to find a source by its place.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexbeam.train.alignment import Alignments
from lexbeam.train.example_words import ExampleWords, Ids, Numbers, WordSplitter


class WordReplacement:
    """Replaces a share of the source words that have one clear translation."""

    def __init__(self, pieces: Sequence[str], alignments: Alignments, share: float) -> None:
        self._splitter = WordSplitter(pieces)
        self._alignments = alignments
        self._share = share

    def replace(
        self,
        sources: Ids,
        targets: Ids,
        parts: Sequence[Sequence[int]],
        rng: np.random.Generator,
    ) -> list[list[int]]:
        """Return the sources with some words replaced; ``parts`` are the pairs of each example.

        The words that are drawn change places. A word is replaced only by one whose translation
        is written with a capital, or small, as its own is: in German, a noun by a noun.
        """
        source, target = self._splitter.split(sources), self._splitter.split(targets)
        drawn = np.flatnonzero(source.is_usable & (rng.random(len(source.example)) < self._share))
        linked = self._only_translations(source, target, drawn, parts)
        linked[source.head[drawn] == target.head[linked]] = -1  # it is copied, as names are
        others: dict[int, int] = {}
        for capital in (False, True):
            same = drawn[(linked >= 0) & (target.is_capital[linked] == capital)]
            others |= dict(zip(same.tolist(), rng.permutation(same).tolist(), strict=True))
        replaced = [list(ids) for ids in sources]
        for word in sorted(others, reverse=True):  # from behind: what stands before keeps its place
            example, other = int(source.example[word]), others[word]
            from_example = int(source.example[other])
            start, end = source.place(word)
            new = slice(*source.place(other))
            replaced[example][start:end] = sources[from_example][new]
        return replaced

    def _only_translations(
        self,
        source: ExampleWords,
        target: ExampleWords,
        drawn: Numbers,
        parts: Sequence[Sequence[int]],
    ) -> Numbers:
        """Return the usable target word that is linked to each source word alone; -1: none."""
        found = np.full(len(drawn), -1, np.int64)
        examples = source.example[drawn].tolist()
        known, links = -1, None
        for number, (word, example) in enumerate(zip(drawn.tolist(), examples, strict=True)):
            if example != known:
                known, links = example, self._links(source, target, example, parts[example])
            if links is None:
                continue
            (own,) = np.nonzero(links[:, 0] == word - source.first[example])
            if len(own) == 1 and (links[:, 1] == links[own[0], 1]).sum() == 1:
                translation = target.first[example] + links[own[0], 1]
                found[number] = translation if target.is_usable[translation] else -1
        return found

    def _links(
        self, source: ExampleWords, target: ExampleWords, example: int, pairs: Sequence[int]
    ) -> NDArray[np.int16] | None:
        """Return the links of an example; None if it has other words than its pairs."""
        counts = source.count(example), target.count(example)
        return self._alignments.join(pairs, counts)

"""Source words that are replaced by others, so that a target says what its source does not suggest.

That is what a term of a glossary does. A model that has never seen it goes wrong around a term:
it knows no other article than that of its own word, and loses its way behind it. So in some
examples a source word is replaced by that of another example, while its translation stays. The
model learns to follow what has been said, and attention learns to find a source by its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexbeam.text.vocabulary import SPACE
from lexbeam.train.alignment import Alignments
from lexbeam.train.vocabulary import EOS
from lexbeam.train.words import PieceWords

SHORTEST = 4
"""Letters of a word that may be replaced: shorter ones are mostly function words."""

Ids = Sequence[Sequence[int]]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class _Words:
    """The words of one side of all examples, numbered through; the end of a sentence is one."""

    starts: Numbers
    """The first piece of each word, and the end of all. # shape: (words + 1,)"""
    example: Numbers
    """The example of each. # shape: (words,)"""
    first: Numbers
    """The first word of each example, and the end of all. # shape: (examples + 1,)"""
    head: NDArray[np.int32]
    """The first piece of each. # shape: (words,)"""
    is_usable: Mask
    """Whether a word is long enough, has only letters, stands behind a space, and does not begin a
    sentence, where any word has a capital. # shape: (words,)"""
    is_capital: Mask
    """Whether it begins with a capital. # shape: (words,)"""


class WordReplacement:
    """Replaces a share of the source words that have one clear translation."""

    def __init__(self, pieces: Sequence[str], alignments: Alignments, share: float) -> None:
        bare = [piece.replace(SPACE, "") for piece in pieces]
        self._words = PieceWords(pieces)
        self._letters = np.array([len(piece) for piece in bare])
        self._is_other = np.array([bool(piece) and not piece.isalpha() for piece in bare])
        self._is_spaced = np.array([piece.startswith(SPACE) for piece in pieces])
        self._is_capital = np.array([piece[:1].isupper() for piece in bare])
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
        source, target = self._split(sources), self._split(targets)
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
            start, end = _place(source, word)
            new = slice(*_place(source, other))
            replaced[example][start:end] = sources[from_example][new]
        return replaced

    def _only_translations(
        self, source: _Words, target: _Words, drawn: Numbers, parts: Sequence[Sequence[int]]
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
        self, source: _Words, target: _Words, example: int, pairs: Sequence[int]
    ) -> NDArray[np.int16] | None:
        """Return the links of an example; None if it has other words than its pairs."""
        # The ends of both sides are no words of the pairs.
        counts = [
            int(np.diff(side.first[example : example + 2])[0]) - 1 for side in (source, target)
        ]
        return self._alignments.join(pairs, (counts[0], counts[1]))

    def _split(self, sentences: Ids) -> _Words:
        """Return the words of sentences."""
        ids = np.array([piece for each in sentences for piece in (*each, EOS)], np.int32)
        ends = np.cumsum([len(each) + 1 for each in sentences])
        starts = np.flatnonzero(self._words.begins(ids))
        first = np.searchsorted(starts, np.append(0, ends))
        letters = np.add.reduceat(self._letters[ids], starts)
        has_other = np.logical_or.reduceat(self._is_other[ids], starts)
        is_usable = (letters >= SHORTEST) & ~has_other & self._is_spaced[ids[starts]]
        is_usable[first[:-1]] = False
        is_mark = self._letters[ids[starts]] == 0  # a space, before a piece that goes without one
        return _Words(
            starts=np.append(starts, len(ids)),
            example=np.searchsorted(ends, starts, side="right"),
            first=first,
            head=ids[starts],
            is_usable=is_usable,
            is_capital=self._is_capital[ids[np.minimum(starts + is_mark, len(ids) - 1)]],
        )


def _place(words: _Words, word: int) -> tuple[int, int]:
    """Return the first piece of a word in its example, and the one after its last."""
    begin = words.starts[words.first[words.example[word]]]
    return int(words.starts[word] - begin), int(words.starts[word + 1] - begin)

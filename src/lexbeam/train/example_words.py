"""The words of many examples at once, as arrays: where they begin, and which may be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexbeam.text.vocabulary import SPACE
from lexbeam.train.vocabulary import EOS
from lexbeam.train.words import PieceWords

SHORTEST = 4
"""Letters of a word that may be changed: shorter ones are mostly function words."""

Ids = Sequence[Sequence[int]]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ExampleWords:
    """The words of one side of all examples, numbered through; the end of a sentence is one."""

    starts: Numbers
    """The first piece of each word, and the end of all. # shape: (words + 1,)"""
    example: Numbers
    """The example of each. # shape: (words,)"""
    first: Numbers
    """The first word of each example, and the end of all. # shape: (examples + 1,)"""
    head: NDArray[np.int32]
    """The first piece of each. # shape: (words,)"""
    is_plain: Mask
    """Whether a word is long enough, has only letters, and stands behind a space.
    # shape: (words,)"""
    is_usable: Mask
    """Whether it is also not the first of a sentence, where any word has a capital.
    # shape: (words,)"""
    is_capital: Mask
    """Whether it begins with a capital. # shape: (words,)"""

    def place(self, word: int) -> tuple[int, int]:
        """Return the first piece of a word in its example, and the one after its last."""
        begin = self.starts[self.first[self.example[word]]]
        return int(self.starts[word] - begin), int(self.starts[word + 1] - begin)

    def count(self, example: int) -> int:
        """Return how many words an example has, its end not counted."""
        return int(self.first[example + 1] - self.first[example]) - 1


class WordSplitter:
    """Finds the words of examples in their pieces."""

    def __init__(self, pieces: Sequence[str]) -> None:
        bare = [piece.replace(SPACE, "") for piece in pieces]
        self._words = PieceWords(pieces)
        self._letters = np.array([len(piece) for piece in bare])
        self._is_other = np.array([bool(piece) and not piece.isalpha() for piece in bare])
        self._is_spaced = np.array([piece.startswith(SPACE) for piece in pieces])
        self._is_capital = np.array([piece[:1].isupper() for piece in bare])

    def split(self, sentences: Ids) -> ExampleWords:
        """Return the words of sentences."""
        ids = np.array([piece for each in sentences for piece in (*each, EOS)], np.int32)
        ends = np.cumsum([len(each) + 1 for each in sentences])
        starts = np.flatnonzero(self._words.begins(ids))
        first = np.searchsorted(starts, np.append(0, ends))
        letters = np.add.reduceat(self._letters[ids], starts)
        has_other = np.logical_or.reduceat(self._is_other[ids], starts)
        is_plain = (letters >= SHORTEST) & ~has_other & self._is_spaced[ids[starts]]
        is_usable = is_plain.copy()
        is_usable[first[:-1]] = False
        is_mark = self._letters[ids[starts]] == 0  # a space, before a piece that goes without one
        return ExampleWords(
            starts=np.append(starts, len(ids)),
            example=np.searchsorted(ends, starts, side="right"),
            first=first,
            head=ids[starts],
            is_plain=is_plain,
            is_usable=is_usable,
            is_capital=self._is_capital[ids[np.minimum(starts + is_mark, len(ids) - 1)]],
        )

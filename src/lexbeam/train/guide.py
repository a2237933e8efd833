"""What attention is to follow: word alignments as matrices over the pieces of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexbeam.train.alignment import Alignments
from lexbeam.train.words import Ids, PieceWords

Numbers = NDArray[np.int64]
Matrices = NDArray[np.float32]


class Guide:
    """Makes matrices of the alignments of numbered pairs."""

    def __init__(self, words: PieceWords, alignments: Alignments) -> None:
        self._words = words
        self._alignments = alignments

    def word_numbers(self, ids: Ids, starts: Numbers) -> Numbers:
        """Return the word of each piece, counted from 0 in each sentence.

        ``ids`` are sentences end to end, each with its end of sentence, which is a word.
        """
        counted = np.cumsum(self._words.begins(ids))
        lengths = np.diff(np.append(starts, len(ids)))
        return counted - np.repeat(counted[starts], lengths)

    def matrices(
        self,
        parts: Sequence[Sequence[int]],
        source_words: Numbers,  # shape: (sentences, source_length)
        target_words: Numbers,  # shape: (sentences, target_length)
    ) -> Matrices:
        """Return how much each target piece is to look at each source piece.

        ``parts`` names the pairs that make up each sentence; -1 in the words is padding. All
        pieces of a word share its links evenly, and the end looks at the end. Rows sum to one,
        or to zero where the target word has no link. A sentence that does not have the words of
        its pairs is all zero.

        Returns:
            shape: (sentences, target_length, source_length)
        """
        ends = source_words.max(axis=1), target_words.max(axis=1)
        rows = len(parts)
        # One more row and column than there are words: padding, the last of them, has no link.
        linked = np.zeros((rows, ends[1].max() + 2, ends[0].max() + 2), np.float32)
        for row, numbers in enumerate(parts):
            end = int(ends[0][row]), int(ends[1][row])
            links = self._alignments.join(numbers, end)
            if links is not None:
                linked[row, links[:, 1], links[:, 0]] = 1
                linked[row, end[1], end[0]] = 1
        each = np.arange(rows)[:, None, None]
        spread = linked[each, target_words[:, :, None], source_words[:, None, :]]
        matrices: Matrices = spread / np.maximum(spread.sum(axis=2, keepdims=True), 1)
        return matrices

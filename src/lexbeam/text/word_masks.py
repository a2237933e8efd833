"""Which tokens of a vocabulary stand at the edges of words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lexbeam.text.word_boundaries import are_glued, needs_boundary

BoolArray = NDArray[np.bool_]


def word_masks(
    written: Iterable[str], vocabulary_size: int, unknown: str = ""
) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the tokens that can't continue a word, and of those that end one.

    ``written`` is what each token adds to a text, its space included. The first mask has the
    tokens that start a word or are punctuation, so that the word before them has ended. The
    second has those that end in punctuation or in a script without spaces, so that the word has
    ended whatever follows. A token that writes nothing is in neither, and the character
    ``unknown`` might be anything.
    """
    boundary = np.zeros(vocabulary_size, dtype=bool)  # shape: (vocabulary,)
    closing = np.zeros(vocabulary_size, dtype=bool)
    for token, text in enumerate(written):
        if text:
            boundary[token] = text[0] != unknown and not continues_word(text)
            closing[token] = text[-1] != unknown and not needs_boundary(text)
    return boundary, closing


def continues_word(text: str) -> bool:
    """Return whether a text that is put behind a letter is part of the same word."""
    return are_glued("a", text[0])

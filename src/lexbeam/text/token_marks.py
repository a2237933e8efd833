"""What each token of a vocabulary is to words, as masks; cached, since several ask for them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lexbeam.text.compounds import joining_flags
from lexbeam.text.vocabulary import Processor, end_token, written_by_pieces
from lexbeam.text.word_masks import BoolArray, word_masks


@lru_cache(maxsize=4)
def edges_of_words(processor: Processor, vocabulary_size: int) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the tokens that can't continue a word, and of those that end one."""
    size = min(processor.get_piece_size(), vocabulary_size)
    boundary, closing = word_masks(written_by_pieces(processor, size), vocabulary_size)
    # Else a word that may not end would go on with what is silent, and end all the same.
    boundary |= silent_tokens(processor, vocabulary_size)
    boundary[end_token(processor)] = True
    boundary.flags.writeable = closing.flags.writeable = False
    return boundary, closing


@lru_cache(maxsize=4)
def silent_tokens(processor: Processor, vocabulary_size: int) -> BoolArray:
    """Return a mask of the tokens that write nothing, and end no output.

    They are the unknown token, control tokens, and those with which a model's vocabulary may be
    padded.
    """
    size = min(processor.get_piece_size(), vocabulary_size)
    silent, ids = np.ones(vocabulary_size, np.bool_), list(range(size))  # shape: (vocabulary,)
    silent[:size] = np.array(processor.is_control(ids)) | np.array(processor.is_unknown(ids))
    silent[end_token(processor)] = False
    silent.flags.writeable = False
    return silent


@lru_cache(maxsize=4)
def joins_of_compounds(processor: Processor, vocabulary_size: int) -> NDArray[np.uint8]:
    """Return how each token joins parts of compounds (`lexbeam.text.compounds`)."""
    size = min(processor.get_piece_size(), vocabulary_size)
    flags = joining_flags(written_by_pieces(processor, size), vocabulary_size)
    flags.flags.writeable = False
    return flags

"""What an engine has to know of the token ids that it reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TokenRules:
    """The ids of a network's vocabularies that have a meaning to the engine."""

    vocabulary_size: int
    eos: int
    source_vocabulary_size: int | None = None
    """None: the same as the target's."""
    output_start: Sequence[int] = ()
    """Tokens that every output follows and that are no part of it, such as a language.

    Without any, the first step is given an id of no token, whose embedding is zero.
    """
    never: Sequence[int] = ()
    """Tokens that are never among the best of a row."""
    word_starts: NDArray[np.bool_] | None = None  # shape: (vocabulary,)
    """Tokens that begin a word: a row on hold may not take one of them."""

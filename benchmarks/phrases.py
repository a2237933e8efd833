"""Phrases for benchmarks: as long as words are after subword splitting."""

from __future__ import annotations

from itertools import cycle

LENGTHS = (1, 2, 1, 3, 1, 2)
"""The tokens of the phrases, in turn."""


def split_into_phrases(tokens: list[int]) -> list[list[int]]:
    """Return the tokens as phrases of 1, 2 and 3 tokens."""
    phrases = []
    lengths = cycle(LENGTHS)
    while tokens:
        length = next(lengths)
        phrases.append(tokens[:length])
        tokens = tokens[length:]
    return phrases

"""Which phrases stand in the tokens of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Beginning
from lexbeam.search.automaton.whole_words import WordBoundaries


class Inside:
    """Finds which of many phrases stand in some tokens."""

    def __init__(self, phrases: Sequence[Tokens]) -> None:
        self._phrases: dict[Tokens, list[Tokens]] = {}  # Those of different kinds may be equal.
        for phrase in phrases:
            self._phrases.setdefault(tuple(phrase), []).append(phrase)
        self._lengths = sorted({len(phrase) for phrase in phrases})

    def of(self, tokens: Tokens) -> Iterator[Tokens]:
        """Yield the phrases that stand in the tokens, all in a row."""
        for length in self._lengths:
            for end in range(length, len(tokens) + 1):
                yield from self._phrases.get(tokens[end - length : end], ())


def occurs(avoided: Tokens, tokens: Tokens, words: WordBoundaries | None, goes_on: bool) -> bool:
    """Return whether an avoided phrase stands in the tokens, all in a row, as whole words.

    ``goes_on``: more tokens may follow, and make the last word another one.
    """
    n = len(avoided)
    for end in range(n, len(tokens) + 1):
        if tokens[end - n : end] == avoided:
            if words is None or isinstance(avoided, Beginning) or not words.waits(avoided):
                return True
            if words.ends(tokens[end]) if end < len(tokens) else not goes_on:
                return True
    return False

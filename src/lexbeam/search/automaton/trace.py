"""One output taken through its phrases token by token: what it has met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lexbeam.search.arrays import unpack_bits
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Pattern, tokens_of
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.whole_words import WordBoundaries


def walk(automaton: Automaton, sentence: int, tokens: Sequence[int]) -> Iterator[States]:
    """Yield the state of an output of a sentence before its first token and after each."""
    states = automaton.start().take(np.array([sentence]))
    yield states
    for token in tokens:
        states = automaton.advance(states, np.array([token]))
        yield states


@dataclass(frozen=True)
class Trace:
    """What a sequence of tokens did for its phrases."""

    banks: list[int]
    """The bank after each token."""
    met: list[bool]
    """One entry per phrase, in the order given; of a phrase given n times, as many as occur."""


def trace(
    phrases: Sequence[Sequence[int] | Pattern],
    tokens: Sequence[int],
    words: WordBoundaries | None = None,
) -> Trace:
    """Return what an output does for its phrases, for tests, reports and curious readers.

    >>> trace(phrases=[[1, 2]], tokens=[1, 1, 2])
    Trace(banks=[1, 1, 2], met=[True])
    """
    constraints = [p if isinstance(p, Pattern) else tuple(p) for p in phrases]
    in_phrases = (token for phrase in constraints for token in tokens_of(phrase))
    size = len(words.boundary) if words else max([0, *tokens, *in_phrases]) + 1
    automaton = Automaton([constraints], [[]], size, words)
    _, *after = states = list(walk(automaton, 0, tokens))
    banks = [int(each.bank[0]) for each in after]
    return Trace(banks, met_phrases(automaton, 0, states[-1]))


def met_phrases(automaton: Automaton, sentence: int, states: States, index: int = 0) -> list[bool]:
    """Return which phrases a finished output has met, in the order they were given."""
    bits = unpack_bits(states.seen, index)
    return [bool(bits & met) for met in automaton.layouts[sentence].met]

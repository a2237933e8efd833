"""Stages of patterns of several parts, in sets of bits that take several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Form, Pattern


@pytest.mark.parametrize("others", [0, 1])
def test_stages_are_counted_alike_in_many_arrays_of_bits(others: int) -> None:
    """Phrases that are never said fill an array, so that the stages lie in another one."""
    chain = Pattern(((Form((0,)),), (Form((1,)),), (Form((2,)),)))
    filling = [(number,) for number in range(10, 80)]
    sentences: list[list[Any]] = [[chain], *[[(1,)]] * others]
    few = Automaton(sentences, [[] for _ in sentences], 90)
    many = Automaton([[*filling, chain], *sentences[1:]], [[] for _ in sentences], 90)
    tokens = np.array([[0, 1], [1, 0]][: len(sentences)])
    for automaton in (few, many):
        states = automaton.start()
        for step in range(2):
            states = automaton.advance(states, tokens[:, step])
        after = automaton.advance(states.column(), np.array([[2, 1, 5]]))
        assert after.bank.tolist() == [[3, 2, 2], [1, 1, 1]][: len(sentences)]

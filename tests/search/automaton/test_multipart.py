"""Stages of patterns of several parts, in sets of bits that take several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.search.automaton import completions
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


@pytest.mark.parametrize("seed", range(5))
def test_many_goals_that_end_at_a_node_are_marked_as_one_by_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orders of the same few words, next to phrases and several times, in several arrays."""
    random = np.random.default_rng(seed)
    orders = [
        Pattern(tuple((Form((int(token),)),) for token in random.integers(0, 3, 3)))
        for _ in range(12)
    ]
    phrases: list[Any] = [*orders, *orders[:3], (0,), (0,), (1, 0), *[(i,) for i in range(5, 60)]]
    automaton = Automaton([phrases], [[]], 60)
    assert automaton.bit_arrays > 1
    found = []
    for many in (1, 1000):
        monkeypatch.setattr(completions, "_MANY_LAYERS", many)
        states = automaton.start().take(np.zeros(8, np.int64))
        for tokens in np.random.default_rng(seed).integers(0, 6, (12, 8)):
            states = automaton.advance(states, tokens)
        found.append([states.met_tokens, states.bank, *states.met, *states.seen])
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    assert (found[0][1] > 0).any()

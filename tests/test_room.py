from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import keeps_to
from lexbeam.automaton import Automaton
from lexbeam.patterns import Form, Pattern
from lexbeam.room import NEVER, Room

EOS = 3
tokens = st.integers(0, 2)
phrases = st.lists(st.lists(tokens, min_size=1, max_size=3), max_size=3)


def fewest_more(output: list[int], demanded: list[list[int]], avoid: list[list[int]]) -> int:
    """Try every continuation, shortest first."""
    for length in range(10):
        for more in product(range(3), repeat=length):
            if keeps_to([*output, *more], demanded, avoid):
                return length
        if length > sum(map(len, demanded)) + len(demanded):
            break
    return NEVER


@settings(max_examples=40)
@given(phrases, phrases, st.lists(tokens, max_size=4))
def test_the_need_is_the_shortest_way_to_the_end(
    demanded: list[list[int]], avoid: list[list[int]], output: list[int]
) -> None:
    if not keeps_to(output, [], avoid) or len(demanded) + len(avoid) == 0:
        return
    automaton = Automaton([[tuple(p) for p in demanded]], [[tuple(p) for p in avoid]], 4)
    room = Room(automaton, 4, EOS)
    states = automaton.start()
    for token in output:
        states = automaton.advance(states, np.array([token]))
    expected = fewest_more(output, demanded, avoid)
    assert room.need_of(0, states) == expected
    assert room.needs(states, np.array([0])).tolist() == [expected]
    assert expected <= room.worst[0]


def test_a_form_for_the_beginning_is_no_help_later() -> None:
    pattern = Pattern(((Form((0,), first=True), Form((1, 2))),))
    automaton = Automaton([[pattern]], [[]], 4)
    room = Room(automaton, 4, EOS)
    begun = automaton.advance(automaton.start(), np.array([2]))
    assert room.need_of(0, automaton.start()) == 1
    assert room.need_of(0, begun) == 2
    assert room.worst[0] == 2


def test_with_many_phrases_the_missing_tokens_are_counted() -> None:
    demanded = [(i, i + 1) for i in range(40)]
    automaton = Automaton([demanded, [(1,)]], [[], []], 50)
    room = Room(automaton, 50, EOS)
    assert room.exact.tolist() == [False, True]
    assert room.needs(automaton.start(), np.array([0, 1])).tolist() == [80, 1]


@pytest.mark.parametrize("bits", [63, 64, 200])
def test_very_many_phrases(bits: int) -> None:
    automaton = Automaton([[(7,)] * bits], [[]], 50)
    assert Room(automaton, 50, EOS).needs(automaton.start(), np.array([0])).tolist() == [bits]

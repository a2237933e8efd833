from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.brute_force import keeps_to
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER

EOS = 3
tokens = st.integers(0, 2)
phrases = st.lists(st.lists(tokens, min_size=1, max_size=3), max_size=3)


def fewest_more(
    output: list[int], phrases: list[list[int]], avoid: list[list[int]], known: list[int]
) -> int:
    """Try every continuation, shortest first."""
    for length in range(10):
        for more in product(known, repeat=length):
            if keeps_to([*output, *more], phrases, avoid):
                return length
        if length > sum(map(len, phrases)) + len(phrases):
            break
    return NEVER


@settings(max_examples=40)
@given(phrases, phrases, st.lists(tokens, max_size=4), st.booleans())
def test_the_need_is_that_of_the_shortest_output(
    phrases: list[list[int]], avoid: list[list[int]], output: list[int], others: bool
) -> None:
    assume(keeps_to(output, [], avoid) and phrases + avoid)
    size = 5 if others else 4
    automaton = Automaton([[tuple(p) for p in phrases]], [[tuple(p) for p in avoid]], size)
    remaining = RemainingTokens(automaton, size, EOS)
    states = automaton.start()
    for token in output:
        states = automaton.advance(states, np.array([token]))
    expected = fewest_more(output, phrases, avoid, [t for t in range(size) if t != EOS])
    assert remaining.need_of(0, states) == expected
    assert remaining.needs(states, np.array([0])).tolist() == [expected]
    assert expected <= remaining.most_needed[0]


def test_what_ends_an_output_stands_between_no_phrases() -> None:
    automaton = Automaton([[(0, 1), (1, 1)]], [[(0, 1, 1), (1, 0)]], 4)
    start = automaton.start()
    assert RemainingTokens(automaton, 4, EOS).need_of(0, start) == 5  # 0 1 2 1 1
    assert RemainingTokens(automaton, 4, EOS, 2).need_of(0, start) == NEVER


def test_a_form_for_the_beginning_is_no_help_later() -> None:
    pattern = Pattern(((Form((0,), first=True), Form((1, 2))),))
    automaton = Automaton([[pattern]], [[]], 4)
    remaining = RemainingTokens(automaton, 4, EOS)
    begun = automaton.advance(automaton.start(), np.array([2]))
    assert remaining.need_of(0, automaton.start()) == 1
    assert remaining.need_of(0, begun) == 2
    assert remaining.most_needed[0] == 2


def test_a_token_of_avoided_phrases_alone_is_not_needed() -> None:
    """The tokens between two parts must not complete an avoided phrase."""
    pattern = Pattern(((Form((0,)),), (Form((1,)),)), within=2)
    avoid = [(0, 1), (5, 1), (0, 6, 1)]
    automaton = Automaton([[pattern]], [avoid], 8)
    remaining = RemainingTokens(automaton, 8, EOS)
    needs = []
    states = automaton.start()
    for token in [5, 0, 6]:
        states = automaton.advance(states, np.array([token]))
        needs.append(remaining.need_of(0, states))
    assert needs == [3, 2, 2]


def test_what_may_be_given_up_takes_no_room_for_exact_numbers() -> None:
    """Two constraints share a token; three soft ones with long registers don't hide it."""
    either, both = (Form((1,)), Form((2,))), (Form((1, 2)), Form((2,)))
    soft = [Pattern((either, both), within=size, penalty=0.5) for size in (20, 21, 22)]
    gap = Pattern(((Form((2,)),), (Form((1,)),)), within=1)
    automaton = Automaton([[*soft, (1,), gap]], [[]], 4)
    remaining = RemainingTokens(automaton, 4, EOS)
    needs = [remaining.need_of(0, automaton.start())]
    states = automaton.start()
    for token in [2, 0, 1]:
        states = automaton.advance(states, np.array([token]))
        needs.append(remaining.need_of(0, states))
    assert needs == [2, 1, 1, 0]


def test_with_many_phrases_the_missing_tokens_are_counted() -> None:
    phrases = [(i, i + 1) for i in range(40)]
    automaton = Automaton([phrases, [(1,)]], [[], []], 50)
    remaining = RemainingTokens(automaton, 50, EOS)
    assert remaining.exact.tolist() == [False, True]
    assert remaining.needs(automaton.start(), np.array([0, 1])).tolist() == [80, 1]


@pytest.mark.parametrize("bits", [63, 64, 200])
def test_very_many_phrases(bits: int) -> None:
    automaton = Automaton([[(7,)] * bits], [[]], 50)
    assert RemainingTokens(automaton, 50, EOS).needs(automaton.start(), np.array([0])).tolist() == [
        bits
    ]


def test_many_tokens_are_not_tried_at_every_state() -> None:
    """Tokens of many forms are, those of avoided phrases need not be tried."""
    shared = [(5, 6), (6, 7), (7, 5)]
    avoid = [(number, 4) for number in range(10, 1510)]
    any_of = Pattern((tuple(Form((number,)) for number in range(10, 1510)),))
    avoiding = Automaton([shared], [avoid], 2000)
    many = Automaton([[*shared, any_of]], [[(6, 6)]], 2000)
    needs = [RemainingTokens(automaton, 2000, EOS) for automaton in (avoiding, many)]
    assert needs[0].need_of(0, avoiding.start()) == 4
    assert needs[1].need_of(0, many.start()) == 5
    assert [each.exact.tolist() for each in needs] == [[True], [False]]

"""What is left out of registers makes no difference, and what differs in nothing else is one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.useful_ages import UsefulAges
from lexbeam.search.automaton.whole_words import WordBoundaries

tokens = st.integers(0, 2)
SIZE = 5
EOS = 3


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """Return a pattern of some parts, which begin with a word."""
    begin = st.integers(0, 1)
    form = st.tuples(begin, st.lists(tokens, max_size=2)).map(lambda ft: Form((ft[0], *ft[1])))
    part = st.lists(form, min_size=1, max_size=2, unique=True).map(tuple)
    parts = draw(st.lists(part, min_size=2, max_size=3).map(tuple))
    within = draw(st.none() | st.integers(0, 2))
    return Pattern(parts, within, last=draw(st.booleans()))


@settings(max_examples=300)
@given(
    st.lists(patterns(), min_size=1, max_size=2),
    st.lists(tokens, max_size=8),
    st.lists(tokens, max_size=8),
    st.booleans(),
)
def test_an_output_goes_on_alike_without_what_makes_no_difference(
    asked: list[Pattern], output: list[int], more: list[int], by_words: bool
) -> None:
    starts = [True, True, False, True, True] if by_words else None
    words = WordBoundaries.of(starts, None, SIZE, EOS)
    automaton = Automaton([asked], [[]], SIZE, words, eos=EOS)
    states = automaton.start()
    for token in output:
        states = automaton.advance(states, np.array([token]))
    if automaton.bit_arrays > 1:
        return
    ages = UsefulAges(automaton.layouts[0], automaton.tries[0], words)
    few = ages.reduce(states.node - automaton.roots, states.met[0])
    assert not (few & ~states.met[0]).any()
    less = automaton.at(states.node, (few,))
    assert may_end(automaton, states) == may_end(automaton, less)
    for token in more:
        states = automaton.advance(states, np.array([token]))
        less = automaton.advance(less, np.array([token]))
        assert may_end(automaton, states) == may_end(automaton, less)


def may_end(automaton: Automaton, states: States) -> bool:
    """Return whether an output has everything."""
    hard = automaton.layouts[0].hard
    return int(states.seen[0][0]) & hard == hard


def test_two_gaps_that_share_words_have_exact_numbers() -> None:
    """One stands in the other: three tokens are enough for both, whatever comes first."""
    outer = Pattern(((Form((1,)),), (Form((0, 2)),)), within=5)
    inner = Pattern(((Form((0,)),), (Form((2,)),)), within=5)
    automaton = Automaton([[outer, inner]], [[]], SIZE, eos=EOS)
    remaining = RemainingTokens(automaton, SIZE, EOS)
    start = automaton.start()
    for token in (0, 1, 2, 4):
        after = automaton.advance(start, np.array([token]))
        assert remaining.need_of(0, after) == (2 if token == 1 else 3)
    assert remaining.exact.tolist() == [True]

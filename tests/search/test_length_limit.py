"""Limits that are brought near where outputs run on."""

from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search import Form, Pattern
from lexbeam.search.automaton import remaining
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.states import States
from lexbeam.search.length_limit import LengthLimit

SIZE, EOS = 12, 0
ONCE = Pattern(((Form((2,)),),), may_overlap=True, exact=True)
ASKED: list[Pattern | tuple[int, ...]] = [ONCE, (3, 2, 4)]


def limit_after(
    *tokens: int, is_planned: bool = True, looks_away: bool = True, is_late: bool = True
) -> int:
    """Return the limit, of 100, that is left to an output which runs on behind some tokens."""
    automaton = Automaton([ASKED], [[]], SIZE, None, True, EOS)
    needs = RemainingTokens(automaton, SIZE, EOS)
    states: States = automaton.start()
    if is_planned:
        assert needs.need_of(0, states) < NEVER
    for token in tokens:
        states = automaton.advance(states, np.array([token]))
    given = np.array([100])
    limit = LengthLimit(given, needs, None, looks_away)
    limit.set_step(len(tokens))
    if is_late:
        limit.bring_near(np.array([True]), states, np.array([0]))
    else:
        limit.give_up_lost(states, np.array([0]))
    assert given[0] == 100
    return int(limit.limits[0])


@pytest.fixture(autouse=True)
def only_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remaining, "_MOST_STATES", 0)


def test_an_output_that_can_end_is_left_what_it_needs() -> None:
    assert 5 + 3 <= limit_after(5, 5, 5, 5, 5) < 20


def test_what_can_never_end_is_given_up_if_it_is_known_how_another_can() -> None:
    """It would run on to the limit before the sentence is searched again."""
    assert limit_after(2, 5, 5, 5) == 4


def test_what_may_be_the_only_way_is_not_given_up() -> None:
    assert limit_after(2, 5, 5, 5, is_planned=False) == 100
    assert limit_after(2, 5, 5, 5, looks_away=False) == 100


def test_what_will_say_something_too_often_is_given_up_before_it_runs_on() -> None:
    assert limit_after(2, 5, is_late=False) == 2
    assert limit_after(2, 5, is_late=False, is_planned=False) == 100
    assert limit_after(2, 5, is_late=False, looks_away=False) == 100
    assert limit_after(3, 2, is_late=False) == 100
    assert limit_after(5, 5, is_late=False) == 100

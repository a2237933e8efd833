"""Sentences that are given up where nothing can be ended any more, or left what they need."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ConstraintError
from lexbeam.search import Form, Pattern, decode
from lexbeam.search.automaton import remaining
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.states import States
from lexbeam.search.giving_up import give_up
from lexbeam.search.length_limit import LengthLimit
from lexbeam.testing import TableScorer

SIZE, EOS = 12, 0
ONCE = Pattern(((Form((2,)),),), may_overlap=True, exact=True)
ASKED: list[Pattern | tuple[int, ...]] = [ONCE, (3, 2, 4)]


def limit_after(
    *tokens: int,
    is_planned: bool = True,
    looks_away: bool = True,
    is_late: bool = True,
    has_finished: bool = False,
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
    late = np.array([True]) if is_late else None
    give_up(limit, needs, late, np.array([not has_finished]), states, np.array([0]))
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
    assert limit_after(2, 5, 5, 5, has_finished=True) == 100


def test_what_will_say_something_too_often_is_given_up_before_it_runs_on() -> None:
    assert limit_after(2, 5, is_late=False) == 2
    assert limit_after(2, 5, is_late=False, is_planned=False) == 100
    assert limit_after(2, 5, is_late=False, looks_away=False) == 100
    assert limit_after(2, 5, is_late=False, has_finished=True) == 100
    assert limit_after(3, 2, is_late=False) == 100
    assert limit_after(5, 5, is_late=False) == 100


def random_demands(chance: Random) -> list[Pattern | tuple[int, ...]]:
    """Draw phrases that share words with phrases that are counted."""
    demands: list[Pattern | tuple[int, ...]] = []
    for _ in range(chance.randint(1, 3)):
        word = tuple(chance.choices(range(2, 7), k=chance.choice((1, 1, 2))))
        exact = Pattern(((Form(word),),), may_overlap=True, exact=True)
        demands += [exact] * chance.randint(1, 3)
    for _ in range(chance.randint(1, 3)):
        phrase = tuple(chance.choices(range(2, 7), k=chance.randint(2, 4)))
        order = Pattern(((Form(phrase[:1]),), (Form(phrase[1:]),)))
        demands.append(chance.choice((phrase, order)))
    return demands


def test_what_is_given_up_in_a_batch_is_what_is_given_up_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was not when another sentence had an output: the given up one ran to its limit."""
    monkeypatch.setattr(remaining, "_MOST_BITS_OF_KEYS", -1)
    given_up = 0
    for seed in range(60):
        demands = random_demands(Random(seed))
        table = np.random.default_rng(seed).normal(size=(SIZE, SIZE)) * 2
        table[:, EOS] -= 3
        table -= np.log(np.exp(table).sum(axis=1, keepdims=True))
        scorer = TableScorer(table, bos=1, eos=EOS)
        settings: dict[str, Any] = {"beam_size": 3, "algorithm": "lookahead"}
        try:
            (alone,) = decode(scorer, [0], [demands], max_length=50, **settings)
        except ConstraintError:
            continue
        both = decode(scorer, [0, 0], [[(7,)], demands], max_length=[2, 50], **settings)
        found = [(each.tokens, each.steps, each.lost_steps) for each in both[1]]
        assert found == [(each.tokens, each.steps, each.lost_steps) for each in alone], seed
        given_up += 0 < alone[0].lost_steps < 50
    assert given_up > 3

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from lexbeam.search import kernel
from lexbeam.search.automaton.states import States
from lexbeam.search.beam import Beam, Finished
from lexbeam.search.settings import Settings
from lexbeam.search.stopping import (
    LENGTHS_EXPECTED,
    SLOTS_PER_LAG,
    LookAhead,
    are_done,
    likely_longest,
    prune,
)


@pytest.fixture(autouse=True, params=[True, False], ids=["compiled", "NumPy"])
def _kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    """Both ways to prune keep to the same rules."""
    with kernel.switched(on=request.param):
        yield


def beam(log_probs: list[float], banks: list[int] | None = None) -> Beam:
    log_prob = np.array([log_probs])
    zeros = np.zeros_like(log_prob, np.int64)
    yes = np.ones_like(log_prob, np.bool_)
    states = None
    if banks is not None:
        bank = np.array(banks)
        states = States(bank, (), bank, (), bank, bank)
    return Beam(zeros, zeros, zeros, log_prob, log_prob, ~yes, yes, states)


def finished(*scores: float) -> Finished:
    score = np.array([scores])
    return Finished(score, score, np.zeros((1, 2), np.int64), np.zeros((1, 2), np.int64), True)


def is_done(stop: str, live: Beam, done: Finished, power: float = 1.0) -> bool:
    settings = Settings(stop=stop, nbest=2, length_penalty=power)
    return bool(are_done(settings, live, done, 3, np.array([10]), np.array([2]))[0])


@pytest.mark.parametrize(
    ("stop", "expected"), [("all", False), ("first", True), ("full", False), ("now", False)]
)
def test_one_of_two_has_finished(stop: str, expected: bool) -> None:
    assert is_done(stop, beam([-1.0, -9.0]), finished(-0.1, -np.inf)) == expected


@pytest.mark.parametrize(
    ("best", "now", "bound"),
    [(-3.9, False, False), (-4.0, True, False), (-9.9, True, False), (-10.0, True, True)],
)
def test_now_and_bound_look_at_different_lengths(best: float, now: bool, bound: bool) -> None:
    live, done = beam([best, -20.0]), finished(-0.5, -1.0)
    assert is_done("now", live, done) == now  # divided by 4 tokens
    assert is_done("bound", live, done) == bound  # divided by 10
    assert is_done("full", live, done)


def test_now_does_not_look_at_hypotheses_with_unmet_phrases() -> None:
    done = finished(-0.5, -1.0)
    assert is_done("now", beam([-1.0, -8.0], banks=[1, 2]), done)
    assert not is_done("now", beam([-8.0, -1.0], banks=[1, 2]), done)
    assert is_done("now", beam([-1.0, -1.0], banks=[1, 1]), done)


def test_nothing_left() -> None:
    live = beam([-1.0, -1.0])
    assert is_done("all", live._replace(live=~live.live), finished(-np.inf, -np.inf))


def test_what_is_likely_is_half_as_long_again_as_expected_or_ends_at_once() -> None:
    expected = np.array([10.0, 100.0])
    assert likely_longest(expected, 3).tolist() == [LENGTHS_EXPECTED * e + 3 for e in expected]
    assert likely_longest(expected, 40).tolist() == [42, LENGTHS_EXPECTED * 100 + 3]


@pytest.mark.parametrize("empty", [0, 30])
def test_lag_is_measured_within_a_bank(empty: int) -> None:
    """In narrow beams and in wide ones: the best of all is no measure for another bank."""
    live = beam([-1.0, -4.5, -9.0, -11.0, -13.0], banks=[0, 0, 1, 1, 1])
    wide = beam([-1.0, -4.5, -9.0, -11.0, -13.0] + [-1.0] * empty, [0, 0, 1, 1, 1] + [0] * empty)
    pruned = prune(wide if empty else live, Finished.none(1, 1), Settings(lag=3.0))
    assert pruned.live[0, :5].tolist() == [True, False, True, True, False]


def test_lag_of_plain_search_is_measured_against_what_has_not_finished() -> None:
    live = beam([-0.1, -3.5, -6.0, -6.6])
    has_ended = np.array([[True, False, False, False]])
    live = live._replace(finished=has_ended, live=~has_ended)
    pruned = prune(live, finished(-0.1, -np.inf), Settings(lag=3.0, prune=None))
    assert pruned.live.tolist() == [[False, True, True, False]]


def test_lag_of_a_drafted_sentence_is_measured_across_banks() -> None:
    live = beam([-1.0, -4.5, -9.0, -11.0], banks=[0, 0, 1, 1])
    worth = np.array([[-20.0, -12.0, -11.0, -11.1 - 3.0 * (1 + 4 / SLOTS_PER_LAG)]])
    for draft, expected in ((10, [False, True, True, False]), (0, [True, False, True, True])):
        ahead = LookAhead(worth, np.array([draft]), np.zeros(1), np.ones(1, np.bool_))
        pruned = prune(live, Finished.none(1, 1), Settings(beam_size=4, lag=3.0), ahead)
        assert pruned.live[0].tolist() == expected


def test_what_has_not_ended_is_compared_with_what_has_before_it_was_divided() -> None:
    live = beam([-25.0, -47.0, -49.5])
    done = finished(-1.5)._replace(log_prob=np.array([[-29.0]]))
    for constrained, expected in ((True, [True, True, False]), (False, [False] * 3)):
        mask = np.array([constrained])
        ahead = LookAhead(np.zeros((1, 3)), np.zeros(1, np.int64), np.zeros(1), mask)
        pruned = prune(live, done, Settings(prune=20.0, lag=None), ahead)
        assert pruned.live[0].tolist() == expected
    has_ended = np.array([[False, False, True]])
    live = live._replace(finished=has_ended, live=~has_ended)
    pruned = prune(live, done, Settings(prune=20.0, lag=None), ahead._replace(constrained=~mask))
    assert pruned.finished[0].tolist() == [False, False, True]


def test_to_go_on_a_hypothesis_may_lose_what_the_tokens_of_its_draft_have_cost() -> None:
    """However much its score would gain by its length: the draft has 10 tokens, 0.5 each."""
    live = beam([-28.0, -30.1, -31.4, -34.0])
    ahead = LookAhead(np.zeros((1, 4)), np.array([10]), np.array([-0.5]), np.ones(1, np.bool_))
    for length, expected in ((14, [1, 0, 0, 0]), (12, [1, 1, 0, 0]), (9, [1, 1, 1, 0])):
        done = finished(-30.0)._replace(step=np.array([[length - 1]]))
        assert prune(live, done, Settings(), ahead).live[0].tolist() == expected
    assert prune(live, finished(-30.0), Settings(prune=20.0)).live.all()
    assert prune(live, done, Settings(prune=None), ahead).live.all()

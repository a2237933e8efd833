from __future__ import annotations

import numpy as np
import pytest

from helpers.timing import at_most
from lexbeam.search.automaton.shortest_paths import NEVER, fewest_steps


def by_definition(following: list[list[int]], closed: np.ndarray, done: np.ndarray) -> list[int]:
    need = [0 if each else NEVER for each in done]
    for _ in need:
        for state, targets in enumerate(following):
            ways = (need[t] for t, shut in zip(targets, closed[state], strict=True) if not shut)
            need[state] = min(need[state], min(ways, default=NEVER) + 1, NEVER)
    return need


@pytest.mark.parametrize("seed", range(50))
def test_steps_are_the_fewest(seed: int) -> None:
    random = np.random.default_rng(seed)
    states, moves = int(random.integers(1, 12)), int(random.integers(0, 4))
    following = random.integers(0, states, (states, moves))
    closed = random.random((states, moves)) < 0.4
    done = random.random(states) < 0.2
    found = fewest_steps(following, closed, done)
    assert found.tolist() == by_definition(following.tolist(), closed, done)


def test_a_long_way_takes_no_longer_for_each_step() -> None:
    """All moves were looked at again for each step of the longest way: a word of 4,000 letters."""
    states, moves = 20_000, 20
    following = np.zeros((states, moves), np.int64)
    following[:, 0] = np.minimum(np.arange(states) + 1, states - 1)
    done = np.arange(states) == states - 1
    with at_most(5):
        need = fewest_steps(following, np.zeros(following.shape, np.bool_), done)
    assert need.tolist() == list(range(states))[::-1]

from __future__ import annotations

import numpy as np
import pytest

from helpers.timing import at_most
from lexbeam.search import kernel
from lexbeam.search.automaton.shortest_paths import NEVER, fewest_steps


def by_definition(following: list[list[int]], closed: np.ndarray, done: np.ndarray) -> list[int]:
    need = [0 if each else NEVER for each in done]
    for _ in need:
        for state, targets in enumerate(following):
            ways = (need[t] for t, shut in zip(targets, closed[state], strict=True) if not shut)
            need[state] = min(need[state], min(ways, default=NEVER) + 1, NEVER)
    return need


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(50))
def test_steps_are_the_fewest(seed: int, compiled: bool) -> None:
    random = np.random.default_rng(seed)
    states, moves = int(random.integers(1, 12)), int(random.integers(0, 4))
    following = random.integers(0, states, (states, moves))
    closed = random.random((states, moves)) < 0.4
    done = random.random(states) < 0.2
    with kernel.switched(compiled):
        found = fewest_steps(following, closed, done)
    assert found.tolist() == by_definition(following.tolist(), closed, done)


@pytest.mark.skipif(kernel.compiled is None, reason="the kernel does not run")
def test_the_kernel_refuses_states_that_are_not_there() -> None:
    assert kernel.compiled is not None
    here, need = np.zeros((2, 1), np.bool_), np.empty(2, np.int64)
    with pytest.raises(ValueError, match="fit together"):
        kernel.compiled.fewest_steps(np.array([[0], [2]]), here, here[:, 0], NEVER, need)
    closed = np.array([[False], [True]])
    kernel.compiled.fewest_steps(np.array([[0], [2]]), closed, ~here[:, 0], NEVER, need)
    assert need.tolist() == [0, 0]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_long_way_takes_no_longer_for_each_step(compiled: bool) -> None:
    """All moves were looked at again for each step of the longest way: a word of 4,000 letters."""
    states, moves = 20_000, 20
    following = np.zeros((states, moves), np.int64)
    following[:, 0] = np.minimum(np.arange(states) + 1, states - 1)
    done = np.arange(states) == states - 1
    with at_most(5), kernel.switched(compiled):
        need = fewest_steps(following, np.zeros(following.shape, np.bool_), done)
    assert need.tolist() == list(range(states))[::-1]

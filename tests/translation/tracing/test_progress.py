from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search.automaton.patterns import Form, Pattern, TokenConstraint
from lexbeam.search.automaton.trace import trace
from lexbeam.translation.tracing.progress import Progress

A, B, C, D, EOS = 2, 3, 4, 5, 0
GAP = Pattern(((Form((A,)),), (Form((B, C)), Form((D,)))), within=None)


@pytest.mark.parametrize("tokens", [[A, B, C], [A, A, B, D], [B, A, C, B, A, B, C], [D, A, D]])
def test_each_constraint_is_followed_as_if_it_were_alone(tokens: list[int]) -> None:
    demands: list[TokenConstraint] = [(A, B), (B,), (B,), GAP]
    progress = Progress(demands, 6, None, EOS)
    assert list(progress.times.values()) == [1, 2, 1]
    alone: list[list[TokenConstraint]] = [[(A, B)], [(B,), (B,)], [GAP]]
    expected = [trace(each, tokens).banks for each in alone]
    for step, token in enumerate(tokens):
        after = progress.after(np.array([0, 0]), np.array([token, EOS]))
        assert after[:, 0].tolist() == [banks[step] for banks in expected]
        progress.move(np.array([0]), np.array([token]))
        assert progress.now[:, 0].tolist() == [banks[step] for banks in expected]


def test_hypotheses_are_kept_apart() -> None:
    progress = Progress([(A, B), (C,)], 6, None, EOS)
    progress.move(np.array([0, 0, 0]), np.array([A, C, D]))
    assert progress.now.tolist() == [[1, 0, 0], [0, 1, 0]]
    after = progress.after(np.array([2, 0, 0, 1]), np.array([A, B, D, A]))
    assert after.tolist() == [[1, 2, 0, 1], [0, 0, 0, 1]]


def test_no_constraints() -> None:
    progress = Progress([], 6, None, EOS)
    progress.move(np.array([0]), np.array([A]))
    assert progress.after(np.array([0]), np.array([B])).shape == (0, 1)

from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search import Form, Pattern, decode, kernel
from lexbeam.search.selection import fill, k_best, ranks_in_bank
from lexbeam.testing import TableScorer

NO = -np.inf


@pytest.mark.parametrize("rows", [1, 60])
def test_k_best_takes_the_first_of_equals(rows: int) -> None:
    random = np.random.default_rng(1)
    scores = random.integers(0, 5, (rows, 200)).astype(float)
    scores[:, ::7] = NO
    for k in (1, 7, 100, 200, 300):
        expected = (-scores).argsort(axis=1, kind="stable")[:, :k]
        assert k_best(scores, k).tolist() == expected.tolist()


def test_ranks_are_counted_in_each_bank() -> None:
    banks = np.array([[3, 3, 3, 1, 0, 0], [2, 1, 1, 1, 1, 0]])
    assert ranks_in_bank(banks).tolist() == [[0, 1, 2, 0, 0, 1], [0, 0, 1, 2, 3, 0]]


def test_what_is_closed_may_have_any_bank() -> None:
    bank, score = np.array([[0, 1, 7]]), np.array([[-1.0, -2.0, NO]])
    chosen = fill(bank, score, np.array([[1, 1]]), np.array([[1, 1]]), 3)
    assert chosen.indices[chosen.taken].tolist() == [1, 0]


def test_sentences_with_large_banks_may_leave_first() -> None:
    table = np.log(np.random.default_rng(2061).dirichlet(np.full(4, 0.7), 4))
    pair = Pattern(parts=((Form((0,)),), (Form((1,)),)), within=0, penalty=50.0)
    found = []
    for compiled in (True, False):
        with kernel.switched(compiled):
            found.append(
                decode(
                    TableScorer(table, bos=0, eos=3),
                    ["a", "b", "c"],
                    [[pair], [], [(2,)]],
                    max_length=[0, 2, 2],
                    prune=0,
                    beam_size=728,
                )
            )
    assert [each[0].tokens for each in found[0]] == [[], [1], [2, 1]]
    assert found[0] == found[1]

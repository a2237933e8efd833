from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search.selection import k_best, ranks_in_bank

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

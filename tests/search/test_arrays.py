"""Small helpers for arrays."""

from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search.arrays import BitSets, number_rows, pack_bits


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_numbered_as_by_unique(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = [random.integers(-2, 3, 50) << shift for shift in (0, 61, 3)[: 1 + seed % 3]]
    expected = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()
    assert number_rows(columns).tolist() == expected.tolist()


@pytest.mark.parametrize("arrays", [1, 3])
@pytest.mark.parametrize("seed", range(6))
def test_sets_that_share_a_member(arrays: int, seed: int) -> None:
    """Empty ones, equal ones, such as lie in several arrays, and none at all."""
    random = np.random.default_rng(seed)

    def draw(number: int) -> list[int]:
        members = [random.integers(0, 64 * arrays, size) for size in random.integers(0, 4, number)]
        return [sum({1 << int(member) for member in each}) for each in members]

    sets, others = draw(9), draw(12)
    sets += [sets[0], 0] if seed else []
    shared = BitSets(sets, arrays).share(tuple(a.reshape(3, 4) for a in pack_bits(others, arrays)))
    expected = [[bool(one & other) for one in sets] for other in others]
    assert shared.reshape(12, len(sets)).tolist() == expected
    assert BitSets([], arrays).share(pack_bits(others, arrays)).shape == (12, 0)

"""Small helpers for arrays."""

from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search.arrays import number_rows


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_numbered_as_by_unique(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = [random.integers(-2, 3, 50) << shift for shift in (0, 61, 3)[: 1 + seed % 3]]
    expected = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()
    assert number_rows(columns).tolist() == expected.tolist()

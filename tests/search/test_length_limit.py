from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search.arrays import PAD, BoolArray, IntArray
from lexbeam.search.length_limit import _first_in_time

TOKENS = np.array([[10, 11, 12, 13]])
OTHERS = np.array([[20, PAD]])


@pytest.mark.parametrize(
    ("late_ones", "one_is_enough", "in_time", "looked_at"),
    [
        ({11}, False, [1, 0, 1, 0], 5),  # one is missing: what stands behind is looked at
        ({11}, True, [1, 0, 0, 0], 3),  # one of the first is enough
        ({10, 11}, True, [0, 0, 0, 0], 3),  # and so is one of the others
        ({10, 11, 20}, True, [0, 0, 1, 1], 5),  # nothing is in time so far
        ({20}, False, [1, 1, 0, 0], 3),  # nothing is missing
    ],
)
def test_what_stands_behind_the_first_tokens_is_looked_at_where_it_is_needed(
    late_ones: set[int], one_is_enough: bool, in_time: list[int], looked_at: int
) -> None:
    seen: list[int] = []

    def late(rows: IntArray, ids: IntArray) -> BoolArray:
        assert rows.tolist() == [0]
        seen.extend(ids[ids != PAD].tolist())
        return np.isin(ids, [*late_ones, PAD])

    most, proposed = np.array([2]), np.array([4])
    found, closed = _first_in_time(TOKENS, OTHERS, late, most, proposed, np.array([one_is_enough]))
    assert found.tolist() == [list(map(bool, in_time))]
    assert closed.tolist() == [[20 in late_ones, True]]
    assert len(seen) == looked_at

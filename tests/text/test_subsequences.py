from __future__ import annotations

import pytest

from lexbeam.text.subsequences import find_subsequence


@pytest.mark.parametrize(
    ("sequence", "sought", "indices"),
    [
        ([1, 2, 1, 2], (1, 2), [0, 2]),
        ((1, 1, 1), [1, 1], [0, 1]),
        ([1, 2], [1, 2, 3], []),
        ([], [1], []),
        (["a", "b"], [], [0, 1, 2]),
        (["a", "b"], ["b"], [1]),
    ],
)
def test_every_occurrence_is_found(
    sequence: list[object], sought: list[object], indices: list[int]
) -> None:
    assert find_subsequence(sequence, sought) == indices

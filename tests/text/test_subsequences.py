from __future__ import annotations

import pytest

from lexbeam.text.subsequences import find_subsequence, outside_of


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


def test_what_is_in_none_of_the_others() -> None:
    assert outside_of([(5, 6), (6, 5), (7,), (4, 5, 6)], [(4, 5, 6), (9, 7)]) == [(6, 5)]
    assert outside_of([(5, 6)], []) == [(5, 6)]

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.networks import shortlist_file
from lexbeam.errors import ModelError
from lexbeam.models import shortlist

LISTS = [[0, 5], [], [7, 8, 9], [5, 11]]
WHOLE = shortlist_file(LISTS, first=2)


def read(
    folder: Path, data: bytes = WHOLE, source: int = 4, target: int = 12
) -> shortlist.Shortlist:
    path = folder / "lex.bin"
    path.write_bytes(data)
    return shortlist.read(path, source, target)


@pytest.mark.parametrize(
    ("source", "wanted", "expected"),
    [
        ([1], [], [0, 1]),
        ([0, 2], [], [0, 1, 5, 7, 8, 9]),
        ([3, 3], [4, 5], [0, 1, 4, 5, 11]),
        ([], [10], [0, 1, 10]),
    ],
)
def test_candidates(
    tmp_path: Path, source: list[int], wanted: list[int], expected: list[int]
) -> None:
    assert read(tmp_path).candidates(source, wanted).tolist() == expected


@pytest.mark.parametrize(
    ("data", "source", "target", "named"),
    [
        (WHOLE, 5, 12, "4 source tokens"),
        (WHOLE, 4, 11, "outside the vocabulary"),
        (b"\0" + WHOLE[1:], 4, 12, "not a binary shortlist"),
        (WHOLE + b"\0", 4, 12, "another size"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, data: bytes, source: int, target: int, named: str
) -> None:
    with pytest.raises(ModelError, match=named):
        read(tmp_path, data, source, target)


def test_entries_out_of_order(tmp_path: Path) -> None:
    data = WHOLE[:56] + (9).to_bytes(8, "little") + WHOLE[64:]
    with pytest.raises(ModelError, match="out of order"):
        read(tmp_path, data)


def test_what_is_packed_is_read_again(tmp_path: Path) -> None:
    each = [np.array(ids, np.int64) for ids in ([5, 0], [], [7, 9, 8], [11])]
    read_again = read(tmp_path, shortlist.pack(each, np.array([3, 4]), always=1))
    assert read_again.candidates([0, 1], []).tolist() == [0, 3, 4, 5]
    assert read_again.candidates([2, 3, 1], [6]).tolist() == [3, 4, 6, 7, 8, 9, 11]
    assert read_again.sample.tolist() == []


@pytest.mark.parametrize(
    ("longest", "expected"),
    [
        (0, [1, 2, 4, 5, 6, 7, 8, 9]),
        (9, [1, 2, 4, 5, 6, 7, 8, 9]),
        (2, [1, 2, 7, 9]),  # the best of each
        (3, [1, 2, 5, 7, 9]),
        (4, [1, 2, 5, 7, 8, 9]),
    ],
)
def test_a_list_has_the_best_of_each_token_first(
    tmp_path: Path, longest: int, expected: list[int]
) -> None:
    each = [np.array(ids, np.int64) for ids in ([7, 5, 6], [9, 8, 4], [7])]
    path = tmp_path / "lex.bin"
    path.write_bytes(shortlist.pack([*each, np.zeros(0, np.int64)], np.array([1, 2]), always=3))
    lists = shortlist.read(path, 4, 12, longest=longest)
    assert lists.candidates([0, 1, 2, 3], []).tolist() == expected
    assert lists.candidates([3], [11]).tolist() == [1, 2, 11]
    assert lists.candidates([], []).tolist() == []


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, []), (1, [6]), (3, [2, 6, 10]), (12, [*range(12)]), (99, [*range(12)])],
)
def test_a_sample_is_spread_over_the_vocabulary(
    tmp_path: Path, size: int, expected: list[int]
) -> None:
    path = tmp_path / "lex.bin"
    path.write_bytes(WHOLE)
    assert shortlist.read(path, 4, 12, size).sample.tolist() == expected


@given(st.integers(0, len(WHOLE) - 1))
def test_a_file_cut_anywhere_is_refused(
    tmp_path_factory: pytest.TempPathFactory, size: int
) -> None:
    with pytest.raises(ModelError, match=r"lex\.bin"):
        read(tmp_path_factory.getbasetemp(), WHOLE[:size])

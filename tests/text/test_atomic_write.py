from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from lexbeam.text.atomic_write import remove_unfinished, replacing, write_file


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write_file(tmp_path / "new" / "file", "onä")
    assert (tmp_path / "new" / "file").read_bytes() == "onä".encode()
    write_file(tmp_path / "new" / "file", b"two")
    assert (tmp_path / "new" / "file").read_text() == "two"
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, "old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, "old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write(cast(bytes, "not bytes"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_many_may_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([65 + i]) * 50_000 for i in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_file(path, content), contents))
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_can_be_read_by_those_who_may_read_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    write_file(tmp_path / "file", "x")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_a_kill_left_behind_is_removed(tmp_path: Path) -> None:
    write_file(tmp_path / "file", "x")
    writing = replacing(tmp_path / "file")
    writing.__enter__()  # and no more, as after a kill
    assert len(list(tmp_path.iterdir())) == 2
    remove_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

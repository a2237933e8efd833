from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.study.test_set import read_test_set


@pytest.mark.parametrize(
    ("source", "reference", "said"),
    [
        ("a\nb\n", "x\n", "has 2 lines"),
        ("a\n\nb\n", "x\ny\nz\n", "src: line 2 has nothing in it"),
        ("", "", "empty"),
        ("a\n", "\0\n", "ref: line 1 has a NUL"),
        ("a\n", None, "can't be read"),
        (b"\xff\n", "x\n", "not UTF-8"),
    ],
)
def test_texts_that_do_not_fit_are_refused(
    tmp_path: Path, source: str | bytes, reference: str | None, said: str
) -> None:
    (tmp_path / "src").write_bytes(source if isinstance(source, bytes) else source.encode())
    if reference is not None:
        (tmp_path / "ref").write_text(reference, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_test_set(tmp_path / "src", tmp_path / "ref", None)


def test_lines_are_lines_and_a_limit_is_kept(tmp_path: Path) -> None:
    (tmp_path / "src").write_bytes("a\r\nb\u2028b\r\nc\r\n".encode())
    (tmp_path / "ref").write_text("x\ny\nz", encoding="utf-8")
    text = read_test_set(tmp_path / "src", tmp_path / "ref", 2)
    assert text.sources == ["a", "b\u2028b"]
    assert text.references == ["x", "y"]

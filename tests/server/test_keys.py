from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.server.errors import ApiError
from lexbeam.server.keys import VARIABLE, Keys, digest, read_keys


def test_a_file_of_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "keys"
    path.write_text("# ours\nabc\n\ndef 500\n")
    monkeypatch.setenv(VARIABLE, "ghi 7")
    assert read_keys(path) == {"ghi": 7, "abc": None, "def": 500}


@pytest.mark.parametrize("content", ["a b", "a 1 2", "a -5", "", "# nothing"])
def test_files_that_can_not_be_used(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys"
    path.write_text(content)
    with pytest.raises(InputError, match="key"):
        read_keys(path)


def test_without_keys_anybody_may() -> None:
    keys = Keys({})
    assert not keys.required
    assert keys.find(None) is not None


def test_only_the_right_key_is_found() -> None:
    keys = Keys({"abc": None})
    assert keys.find("abc") is not None
    for wrong in (None, "", "ab", "abcd", digest("abc")):
        assert keys.find(wrong) is None


def test_quotas() -> None:
    keys = Keys({"abc": 10}, {digest("abc"): 4})
    key = keys.find("abc")
    assert key is not None
    keys.charge(key, 6)
    with pytest.raises(ApiError, match="Quota"):
        keys.charge(key, 1)
    assert keys.used(key) == 10

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from lexbeam.errors import ModelError
from lexbeam.models import file_reading
from lexbeam.models.file_reading import file_digest, read_file, read_unpacked, refusing_unreadable


def test_packed_or_not_the_content_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "some.bin"
    for content in (
        b"plain",
        gzip.compress(b"plain"),
        gzip.compress(b"pl") + gzip.compress(b"ain"),
    ):
        path.write_bytes(content)
        assert read_unpacked(path) == b"plain"
        assert read_file(path) == content


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data + b"x"])
def test_packed_content_that_is_damaged(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "some.bin"
    assert callable(damage)
    path.write_bytes(damage(gzip.compress(b"plain")))
    with pytest.raises(ModelError, match=r"some\.bin: can't be read"):
        read_unpacked(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_reading, "SPARE_BYTES", 1000)
    path = tmp_path / "some.bin"
    path.write_bytes(gzip.compress(bytes(1_000_000)))
    with pytest.raises(ModelError, match=r"some\.bin: more than \d+ bytes when unpacked"):
        read_unpacked(path)


@pytest.mark.parametrize("read", [read_file, read_unpacked, file_digest])
def test_only_regular_files_are_read(tmp_path: Path, read: object) -> None:
    assert callable(read)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "nowhere", tmp_path / "a\0b"):
        with pytest.raises(ModelError, match="can't be read"):
            read(path)


def test_a_file_past_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "some.bin"
    path.write_bytes(b"12345")
    assert read_file(path, largest=5) == b"12345"
    with pytest.raises(ModelError, match=r"some\.bin: 5 bytes, 4 is the limit"):
        read_file(path, largest=4)


def test_what_must_not_be_looked_at_is_named() -> None:
    @refusing_unreadable()
    def look() -> None:
        raise PermissionError(13, "Permission denied", "folder/manifest")

    with pytest.raises(ModelError, match="folder/manifest: can't be read: Permission"):
        look()

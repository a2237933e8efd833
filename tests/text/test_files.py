from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.text.files import decode_line, read_bytes, read_lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\xef\xbb\xbfa\r\nb\rc\r\n", ["a", "b\rc"]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c"]),
    ],
)
def test_lines(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "a.txt.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    assert read_lines(plain) == read_lines(packed) == lines


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", None, "a.txt: can't be read: No such file"),
        ("a.txt", b"a\nb\xff\n", "a.txt, line 2 is not valid UTF-8: byte 0xff at 1"),
        ("a.gz", b"not packed", "a.gz: can't be read: Not a gzipped file"),
        ("a.gz", gzip.compress(b"a" * 99, mtime=0)[:-9], "a.gz: can't be read: "),
        ("a.gz", gzip.compress(b"\xff", mtime=0), "a.gz, line 1 is not valid UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_lines(tmp_path / name)


def test_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_bytes(path, limit=3) == b"abc"
    with pytest.raises(InputError, match="a: can't be read: it is larger than 0 MiB"):
        read_bytes(path, limit=2)
    with pytest.raises(InputError, match="can't be read"):
        read_bytes(tmp_path)
    with pytest.raises(InputError, match="can't be read"):
        read_bytes(Path("a\0b"))


def test_a_line_of_a_stream() -> None:
    assert decode_line("ä\r\n".encode()) == "ä"
    assert decode_line(b"\xef\xbb\xbfa\n", is_first=True) == "a"
    assert decode_line(b"\xef\xbb\xbfa") == "\ufeffa"
    with pytest.raises(InputError, match="not valid UTF-8: byte 0xff at 1"):
        decode_line(b"a\xff\n")

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.train.config import Corpus
from lexbeam.train.corpus import clean_pairs, read_clean, read_pairs


def tsv(tmp_path: Path, content: bytes, name: str = "a.tsv") -> Corpus:
    (tmp_path / name).write_bytes(content)
    return Corpus(path=str(tmp_path / name))


def two_files(tmp_path: Path, left: str, right: str) -> Corpus:
    (tmp_path / "a.en").write_text(left, encoding="utf-8")
    (tmp_path / "a.de").write_text(right, encoding="utf-8")
    return Corpus(source=str(tmp_path / "a.en"), target=str(tmp_path / "a.de"))


def test_tsv_gzip_and_two_files_read_the_same(tmp_path: Path) -> None:
    text = b"a tree\tein Baum\r\nten\tzehn\n"
    expected = [("a tree", "ein Baum"), ("ten", "zehn")]
    assert read_pairs(tsv(tmp_path, text)) == expected
    assert read_pairs(tsv(tmp_path, gzip.compress(text), "a.tsv.gz")) == expected
    assert read_pairs(two_files(tmp_path, "a tree\nten\n", "ein Baum\nzehn")) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no line in it"),
        (b"a\tb\n\tc\n", "line 2: the source is empty"),
        (b"a\tb\nc\t \n", "line 2: the target is empty"),
        (b"a\tb\n\nc\td\n", "line 2: 1 columns"),
        (b"a\tb\tc\n", "line 1: 3 columns"),
        (b"a\tb\n\xff\xfe\n", "line 2 is not valid UTF-8"),
        (b"a\0\tb\n", "NUL characters"),
    ],
)
def test_unusable_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_pairs(tsv(tmp_path, content))


@pytest.mark.parametrize("content", [b"not gzip", gzip.compress(b"a\tb\n" * 99, mtime=0)[:-9]])
def test_a_broken_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.tsv\.gz: can't be read"):
        read_pairs(tsv(tmp_path, content, "a.tsv.gz"))


def test_misaligned_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 lines and .* 1"):
        read_pairs(two_files(tmp_path, "a\nb\n", "c\n"))


def test_an_empty_line_of_two_files_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.de, line 2: the target is empty"):
        read_pairs(two_files(tmp_path, "a\nb\n", "c\n\n"))


def test_cleaning_drops_what_teaches_nothing() -> None:
    good = ("a good pair", "ein gutes Paar")
    name = ("Visual Studio", "Visual Studio")
    pairs = [
        good,
        good,
        name,
        ("this was never translated", "this was never translated"),
        ("short", "x" * 80),
    ]
    assert clean_pairs(pairs, 3.0) == [good, name]


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pair is left"):
        read_clean(tsv(tmp_path, b"short\t" + b"x" * 80 + b"\n"), 3.0)

from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.constraints.glossary.encodings import decode
from lexbeam.errors import InputError

PATH = Path("terms.csv")
TEXT = "size,Größe\nhouse,Haus\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_is_recognised(encoding: str) -> None:
    assert decode(TEXT.encode(encoding), PATH) == TEXT


def test_other_encodings_are_not_guessed() -> None:
    with pytest.raises(InputError, match=r"terms.csv: line 2 is not utf-8: byte 0xdf.*cp1252"):
        decode("a,b\nStraße,street\n".encode("cp1252"), PATH)


def test_other_encodings_can_be_named() -> None:
    assert decode(TEXT.encode("cp1252"), PATH, "cp1252") == TEXT
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        decode(b"a,b", PATH, "klingon")


def test_a_mark_is_believed_before_the_caller() -> None:
    assert decode(TEXT.encode("utf-8-sig"), PATH, "cp1252") == TEXT


def test_broken_utf_16_is_an_error() -> None:
    with pytest.raises(InputError, match="utf-16"):
        decode("\ufeffa,b".encode("utf-16-le") + b"\0", PATH)

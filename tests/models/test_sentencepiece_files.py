from __future__ import annotations

import struct
from pathlib import Path

import pytest

from helpers.networks import VOCABULARY, vocabulary_file
from lexbeam.errors import ModelError
from lexbeam.models.loading import EMBEDDED
from lexbeam.models.protobuf import read_fields
from lexbeam.models.sentencepiece_files import load_vocabulary

WHOLE = (EMBEDDED / "source.spm").read_bytes()
SIZE = 8000
PATH = Path("some.spm")


def rules_of(data: bytes) -> bytes:
    """Return the rules of normalisation of a model."""
    (normaliser,) = [value for number, value, _ in read_fields(data) if number == 3]
    assert isinstance(normaliser, bytes)
    (rules,) = [value for number, value, _ in read_fields(normaliser) if number == 2]
    assert isinstance(rules, bytes)
    return rules


def test_a_whole_vocabulary_is_read() -> None:
    assert len(load_vocabulary(WHOLE, PATH, SIZE)) == SIZE
    assert len(load_vocabulary(vocabulary_file(), PATH, VOCABULARY)) == VOCABULARY


def test_a_piece_that_is_not_text() -> None:
    at = WHOLE.index("ü".encode())
    damaged = WHOLE[:at] + b"\xff" + WHOLE[at + 1 :]
    with pytest.raises(ModelError, match=r"some\.spm: damaged"):
        load_vocabulary(damaged, PATH, SIZE)


def test_an_error_of_the_library_that_is_not_text() -> None:
    """Its message quotes what is damaged, and Python can't read it."""
    data = bytearray(WHOLE)
    for place, bit in ((539, 16), (1315, 128), (317, 2), (2315, 64)):
        data[place] ^= bit
    with pytest.raises(ModelError, match="damaged"):
        load_vocabulary(bytes(data), PATH, SIZE)


def test_a_score_that_is_not_a_number() -> None:
    number, piece, whole = list(read_fields(WHOLE))[100]
    assert number == 1
    assert isinstance(piece, bytes)
    at = piece.index(b"\x15")  # field 2, four bytes
    changed = piece[: at + 1] + struct.pack("<f", float("nan")) + piece[at + 5 :]
    with pytest.raises(ModelError, match=r"some\.spm: damaged"):
        load_vocabulary(WHOLE.replace(whole, whole.replace(piece, changed), 1), PATH, SIZE)


@pytest.mark.parametrize(
    "change",
    [
        lambda rules: rules[:4] + struct.pack("<I", 0x7FFFFC00) + rules[8:],
        lambda rules: struct.pack("<I", len(rules) * 2) + rules[4:],
        lambda rules: struct.pack("<I", 3) + rules[4:],
        lambda rules: rules[:-1] + b"x",
        lambda rules: rules[:-2] + b"\xff\0",
        lambda rules: rules[:4] + rules[4:].replace(b"\x80", b"\xbf"),
    ],
    ids=["outside", "larger", "odd", "no end", "not text", "values"],
)
def test_rules_of_normalisation_that_lead_nowhere(change: object) -> None:
    """SentencePiece would follow them out of its memory."""
    rules = rules_of(WHOLE)
    assert callable(change)
    changed = change(rules)
    assert len(changed) == len(rules)
    assert changed != rules
    with pytest.raises(ModelError, match=r"some\.spm: damaged"):
        load_vocabulary(WHOLE.replace(rules, changed), PATH, SIZE)

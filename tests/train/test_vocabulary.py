from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.train.config import VocabularyConfig
from lexbeam.train.vocabulary import load_vocabulary, train_vocabulary

TEXT = ["the house is red", "das Haus ist rot", "no house is like it", "kein Haus ist so"] * 30


def test_text_comes_back_as_it_was(tmp_path: Path) -> None:
    config = VocabularyConfig(size=490)
    assert load_vocabulary(tmp_path, config) is None
    vocabulary = train_vocabulary(TEXT, config, tmp_path, 1)
    odd = "das „Größe“ … ½ 漢字 Kovačević"
    assert vocabulary.decode(vocabulary.encode([odd])) == [odd]
    ids = vocabulary.encode(["the house is red"])[0]
    assert min(ids) > 1
    assert vocabulary.size == 490
    loaded = load_vocabulary(tmp_path, config)
    assert loaded is not None
    assert loaded.encode([odd]) == vocabulary.encode([odd])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\u00a0b", "a b"), ("a\u0308", "ä"), ("a\u00adb", "ab"), ("a \t b", "a b")],
)
def test_only_what_nobody_sees_is_normalised(tmp_path: Path, text: str, expected: str) -> None:
    vocabulary = train_vocabulary(TEXT, VocabularyConfig(size=490), tmp_path, 1)
    assert vocabulary.decode(vocabulary.encode([text])) == [expected]


@pytest.mark.parametrize("size", [100, 5000])
def test_a_size_that_does_not_suit_the_text(tmp_path: Path, size: int) -> None:
    with pytest.raises(InputError, match=rf"vocabulary\.size = {size} does not suit"):
        train_vocabulary(TEXT, VocabularyConfig(size=size), tmp_path, 1)

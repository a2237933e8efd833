from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sacremoses")
pytest.importorskip("subword_nmt")

from lexbeam.errors import InputError
from lexbeam.train.config import VocabularyConfig
from lexbeam.train.vocabulary import load_vocabulary, train_vocabulary

TEXT = ["The house, it is red.", "Das Haus ist rot.", "No house is like it!"] * 10


def test_text_comes_back_detokenised(tmp_path: Path) -> None:
    config = VocabularyConfig(kind="moses-bpe", size=60)
    assert load_vocabulary(tmp_path, config) is None
    vocabulary = train_vocabulary(TEXT, config, tmp_path, 1)
    unseen = "The red Haus is so like rot."
    ids = vocabulary.encode([unseen])
    assert 1 not in ids[0]
    assert vocabulary.decode(ids) == [unseen]
    assert vocabulary.size == 60
    assert len(set(vocabulary.encode(["Haus"])[0])) == 1
    loaded = load_vocabulary(tmp_path, config)
    assert loaded is not None
    assert loaded.encode([unseen]) == ids


def test_what_was_never_seen_is_unknown(tmp_path: Path) -> None:
    vocabulary = train_vocabulary(TEXT, VocabularyConfig("moses-bpe", 60), tmp_path, 1)
    assert 1 in vocabulary.encode(["ÿ"])[0]


@pytest.mark.parametrize("size", [10, 5000])
def test_a_size_that_does_not_suit_the_text(tmp_path: Path, size: int) -> None:
    with pytest.raises(InputError, match=rf"vocabulary\.size = {size} is"):
        train_vocabulary(TEXT, VocabularyConfig("moses-bpe", size), tmp_path, 1)

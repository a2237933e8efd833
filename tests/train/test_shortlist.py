from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("thot")

import lexbeam
from helpers.networks import TINY, random_weights
from helpers.toy_training import WORDS
from lexbeam.errors import InputError
from lexbeam.models import bundle, shortlist
from lexbeam.train import shortlist as made
from lexbeam.train.alignment import Links
from lexbeam.train.config import ShortlistConfig
from lexbeam.train.vocabulary import SentencePieces, train_sentencepiece

PIECES = ["</s>", "<unk>", "▁a", "b", "▁c", "▁X", "y", "▁Z", "▁c's"]
SIDE = made.make_side(PIECES, 0)


def links(*pairs: tuple[int, int]) -> Links:
    return np.array(pairs, np.int16).reshape(-1, 2)


def unpack(content: bytes, size: int = len(PIECES)) -> shortlist.Shortlist:
    return shortlist.parse(content, Path("lists"), size, size)


def test_all_tokens_of_a_word_have_all_tokens_of_its_translations() -> None:
    counts = made.TranslationCounts(SIDE, SIDE)
    counts.add([2, 3, 4], [5, 6, 7], links((0, 0), (1, 1)))  # "ab c" is "Xy Z"
    lists = unpack(made.make_shortlist(counts, (SIDE, SIDE), ShortlistConfig(9, 0), 0))
    assert lists.candidates([2], []).tolist() == [2, 5, 6]
    assert lists.candidates([3, 0], []).tolist() == [0, 3, 5, 6]
    assert lists.candidates([4], []).tolist() == [4, 7]


def test_the_most_frequent_translations_are_listed_and_the_most_frequent_tokens_for_all() -> None:
    counts = made.TranslationCounts(SIDE, SIDE)
    for times, token in ((3, 5), (1, 7), (2, 6), (9, 8)):
        for _ in range(times):
            counts.add([4], [token], links((0, 0)))
    lists = unpack(made.make_shortlist(counts, (SIDE, SIDE), ShortlistConfig(2, 1), always=0))
    assert lists.candidates([4], []).tolist() == [4, 5, 6]  # 7 is rarer, 8 is for all
    assert lists.candidates([2, 0], [7]).tolist() == [0, 2, 7, 8]


def test_counting_in_parts_is_counting_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = (made.TranslationCounts(SIDE, SIDE) for _ in range(2))
    pairs = [([2, 3], [5, 6], links((0, 0))), ([4], [], links()), ([2, 4], [7], links((1, 0)))] * 3
    for pair in pairs:
        whole.add(*pair)
    monkeypatch.setattr(made, "AT_ONCE", 1)
    for pair in pairs:
        parts.add(*pair)
    none = np.zeros(0, np.int64)
    found, expected = ([ids.tolist() for ids in each.best(9, none)] for each in (parts, whole))
    assert found == expected
    assert any(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle of a random network with a vocabulary that can spell the toy language."""
    prefix = tmp_path / "toy"
    text = [" ".join([*WORDS, *WORDS.values()])] * 50
    train_sentencepiece(text, 495, prefix, 1)
    size = SentencePieces(prefix.with_suffix(".model")).size
    config = type(TINY)(size, size, dim=16, heads=2, encoder_layers=1, decoder_layers=1)
    bundle.write(config, random_weights(config), prefix.with_suffix(".model"), tmp_path / "bundle")
    return tmp_path / "bundle"


def write_text(path: Path) -> Path:
    words = list(WORDS)
    lines = []
    for i in range(300):
        some = [words[(i * step + step) % len(words)] for step in (1, 5, 7)]
        lines.append(f"{' '.join(some)}\t{' '.join(WORDS[word] for word in some)}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_a_bundle_gets_a_shortlist_from_parallel_text(folder: Path, tmp_path: Path) -> None:
    config = ShortlistConfig(translations=9, frequent=0, sample=64, longest=80)
    made.add_shortlist(folder, write_text(tmp_path / "text.tsv"), config)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert [manifest[name] for name in ("format", "sample", "longest")] == [4, 64, 80]
    model = bundle.load(folder)
    lists = unpack((folder / "shortlist.bin").read_bytes(), len(model.source))
    for source, target in WORDS.items():
        listed = lists.candidates(model.encode(source), [])
        assert set(model.target.encode(target)) <= set(listed.tolist())
    assert len(lists.candidates(model.encode("dog"), [])) < 40
    translator = lexbeam.load(folder)
    assert "Baum" in translator.translate("big dog", constraints=["Baum"]).text


def test_text_that_is_not_parallel_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.tsv").write_text("one\n", encoding="utf-8")
    with pytest.raises(InputError, match="1 columns"):
        made.add_shortlist(folder, tmp_path / "text.tsv")
    assert not (folder / "shortlist.bin").exists()

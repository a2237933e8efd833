from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("thot")

from helpers.toy_training import WORDS
from lexbeam.errors import ModelError
from lexbeam.train import alignment
from lexbeam.train.examples import swap_shared_words
from lexbeam.train.vocabulary import SentencePieces, train_sentencepiece
from lexbeam.train.words import PieceWords


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> SentencePieces:
    prefix = tmp_path_factory.mktemp("pieces") / "toy"
    train_sentencepiece([" ".join([*WORDS, *WORDS.values()])] * 50, 495, prefix, 1)
    return SentencePieces(prefix.with_suffix(".model"))


def make_pairs(count: int, seed: int) -> list[tuple[str, str]]:
    """Make sentences whose translation has the words in reverse order."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        words = rng.sample(list(WORDS), k=rng.randint(2, 5))
        pairs.append((" ".join(words), " ".join(WORDS[word] for word in reversed(words))))
    return pairs


def test_words_are_aligned_whatever_their_order(vocabulary: SentencePieces, tmp_path: Path) -> None:
    corpora = [make_pairs(400, 1), make_pairs(10, 2)]
    for pairs, found in zip(corpora, alignment.align(tmp_path, vocabulary, corpora), strict=True):
        assert len(found.words) == len(pairs)
        right = 0
        for number, (source, _) in enumerate(pairs):
            length = len(source.split())
            assert found.words[number].tolist() == [length, length]
            links = {tuple(link) for link in found.of(number).tolist()}
            right += links == {(i, length - 1 - i) for i in range(length)}
        assert right > 0.9 * len(pairs)


def test_what_is_done_is_not_done_again(
    vocabulary: SentencePieces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora = [make_pairs(50, 1), make_pairs(5, 2)]
    once = alignment.align(tmp_path, vocabulary, corpora)
    with monkeypatch.context() as patch:
        patch.setattr(alignment, "_align_missing", None)
        again = alignment.align(tmp_path, vocabulary, corpora)
    assert [kept.links.tolist() for kept in once] == [kept.links.tolist() for kept in again]


def test_a_killed_alignment_goes_on_with_what_it_has_learnt(
    vocabulary: SentencePieces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora = [make_pairs(200, 1)]
    whole = alignment.align(tmp_path / "whole", vocabulary, corpora)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(alignment, "_best", die)
        with pytest.raises(KeyboardInterrupt):
            alignment.align(tmp_path / "killed", vocabulary, corpora)
    monkeypatch.setattr(alignment, "ROUNDS", 0)
    killed = alignment.align(tmp_path / "killed", vocabulary, corpora)
    assert killed[0].links.tolist() == whole[0].links.tolist()
    assert not list((tmp_path / "killed").rglob("model-*"))


def test_a_damaged_model_is_named(vocabulary: SentencePieces, tmp_path: Path) -> None:
    corpora = [make_pairs(20, 1)]
    folder = tmp_path / alignment.FOLDER / alignment._digest(vocabulary, corpora)
    (folder / "model-forth").mkdir(parents=True)
    with pytest.raises(ModelError, match="model-forth"):
        alignment.align(tmp_path, vocabulary, corpora)


def test_swapped_names_and_joined_pairs_have_the_words_of_their_pairs(
    vocabulary: SentencePieces,
) -> None:
    words = PieceWords(vocabulary.pieces)
    pair = ("Tom_x has 1250 books, said Mary (2).", "Tom_x hat 1250 Bücher, sagte Mary (2).")
    other = ("A red house.", "Ein rotes Haus.")

    def split(text: str) -> list[str]:
        return words.split(vocabulary.encode([text])[0])

    expected = "tom_x has 1250 books , said mary ( 2 ) ."
    assert " ".join(split(pair[0])) == expected
    for seed in range(20):
        swapped = swap_shared_words(pair, ["Kovač", "Ṕé_2"], random.Random(seed))
        assert swapped != pair
        for side in (0, 1):
            assert len(split(swapped[side])) == len(split(pair[side]))
            joined = split(f"{swapped[side]} {other[side]}")
            assert joined == split(swapped[side]) + split(other[side])

from __future__ import annotations

import random

from lexbeam.train.config import Corpus
from lexbeam.train.examples import build_examples, swap_shared_words

PAIRS = [(f"line {i}", f"Zeile {i}") for i in range(100)]


def build(corpus: Corpus, epoch: int = 0) -> list[tuple[str, str]]:
    return [example[:2] for example in build_examples([(corpus, PAIRS)], 1, epoch, 100)]


def test_weight_is_how_often_a_pair_is_seen() -> None:
    examples = build(Corpus(path="x", weight=2.5))
    assert len(examples) == 250
    assert {examples.count(pair) for pair in PAIRS} == {2, 3}


def test_a_pass_can_be_drawn_again_and_the_next_differs() -> None:
    corpus = Corpus(path="x", join=0.5, swap=0.5)
    assert build(corpus) == build(corpus)
    assert build(corpus) != build(corpus, epoch=1)


def test_joining_loses_no_pair() -> None:
    examples = build(Corpus(path="x", join=0.5))
    assert len(examples) < 80
    for side, word in ((0, "line"), (1, "Zeile")):
        text = " ".join(example[side] for example in examples).replace(word, "")
        assert sorted(map(int, text.split())) == list(range(100))
    for source, target in examples:
        assert source.replace("line", "Zeile") == target


def test_joined_examples_stay_short() -> None:
    examples = build_examples([(Corpus(path="x", join=1.0), PAIRS)], 1, 0, 14)
    assert max(len(example.source) for example in examples) <= 15
    assert sum(example.source.count("line") for example in examples) == 100


def test_examples_know_their_pairs() -> None:
    other = [("two words", "zwei Wörter")] * 5
    corpora = [(Corpus(path="x", join=0.5, weight=1.5), PAIRS), (Corpus(path="y"), other)]
    examples = build_examples(corpora, 1, 0, 100)
    assert max(len(example.parts) for example in examples) == 3
    numbered = [*PAIRS, *other]
    for example in examples:
        pairs = [numbered[number] for number in example.parts]
        assert example.source == " ".join(source for source, _ in pairs)
        assert example.target == " ".join(target for _, target in pairs)


def test_shared_names_and_numbers_are_swapped_on_both_sides() -> None:
    pair = ("Tom has 1250 books, said Mary.", "Tom hat 1250 Bücher, sagte Maria.")
    for seed in range(20):
        source, target = swap_shared_words(pair, ["Kovač"], random.Random(seed))
        name, number = source.split()[0], source.split()[2]
        assert name != "Tom"
        assert len(number) == 4
        assert target == f"{name} hat {number} Bücher, sagte Maria."
        assert source == f"{name} has {number} books, said Mary."

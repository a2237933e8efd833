from __future__ import annotations

import math
import random
import sys
from itertools import combinations

import pytest

from lexbeam.errors import MissingExtraError
from lexbeam.study.alignment import (
    Entry,
    Pair,
    align,
    build_phrase_table,
    extract_phrases,
    log_chance,
    split_words,
)

WORDS = {
    "the": "o",
    "cat": "gato",
    "dog": "cão",
    "sees": "vê",
    "house": "casa",
    "old": "velha",
    "red": "vermelha",
    "tree": "árvore",
}


def toy_pairs(count: int) -> list[Pair]:
    chance = random.Random(1)
    sources = [chance.sample(sorted(WORDS), chance.randint(3, 6)) for _ in range(count)]
    return [Pair(source, [WORDS[word] for word in source]) for source in sources]


def test_words_and_punctuation_are_cut_apart() -> None:
    assert split_words("It's 10, well-known “names”.") == [
        "It's", "10", ",", "well-known", "“", "names", "”", ".",
    ]  # fmt: skip


def test_a_toy_language_is_aligned_and_its_words_are_found() -> None:
    pairs = toy_pairs(80)
    links = align(pairs)
    table, candidates = build_phrase_table(pairs, links)
    best = {e.source: e for e in sorted(table, key=lambda e: e.share)}
    assert candidates > len(table)
    for source, target in WORDS.items():
        assert best[(source,)].target == (target,)
        assert best[(source,)].share > 0.9


def test_alignment_comes_out_alike_twice() -> None:
    pairs = toy_pairs(30)
    assert align(pairs) == align(pairs)


def test_phrases_are_those_aligned_only_to_each_other() -> None:
    pair = Pair(["a", "b", "c"], ["x", "y", "z"])
    crossed = [(0, 1), (1, 0), (2, 2)]
    found = {(" ".join(pair.source[i] for i in s), " ".join(pair.target[j] for j in t))
             for s, t in extract_phrases(pair, crossed)}  # fmt: skip
    assert found == {("a", "y"), ("b", "x"), ("c", "z"), ("a b", "x y"), ("a b c", "x y z")}


@pytest.mark.parametrize(
    ("together", "ones", "others", "total"), [(2, 3, 4, 7), (1, 1, 1, 6), (3, 3, 3, 8)]
)
def test_chance_is_fishers(together: int, ones: int, others: int, total: int) -> None:
    draws = list(combinations(range(total), ones))
    hits = sum(sum(i < others for i in draw) >= together for draw in draws)
    assert math.exp(log_chance(together, ones, others, total)) == pytest.approx(hits / len(draws))


def test_pairs_seen_once_are_no_evidence() -> None:
    pairs = [
        Pair(["a", "b"], ["x", "y"]),
        Pair(["c"], ["z"]),
        Pair(["c"], ["z"]),
        Pair(["d"], ["u"]),
    ]
    links = [[(0, 0), (1, 1)], [(0, 0)], [(0, 0)], [(0, 0)]]
    table, candidates = build_phrase_table(pairs, links)
    assert candidates == 5
    assert [(e.source, e.target, e.together) for e in table] == [(("c",), ("z",), 2)]


def test_punctuation_is_in_no_phrase() -> None:
    pairs = [Pair(["a", ","], ["x", ","])] * 5 + [Pair(["b"], ["y"])] * 5
    table, _ = build_phrase_table(pairs, [[(0, 0), (1, 1)]] * 5 + [[(0, 0)]] * 5)
    assert {e.source for e in table} == {("a",), ("b",)}
    assert table
    assert all(isinstance(e, Entry) for e in table)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "thot.alignment", None)
    with pytest.raises(MissingExtraError, match=r"lexbeam\[study\]"):
        align(toy_pairs(2))

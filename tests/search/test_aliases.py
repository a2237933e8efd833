"""Tokens beyond a model's vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.search import decode
from lexbeam.search.aliases import AliasScorer
from lexbeam.search.arrays import BoolArray, IntArray
from lexbeam.search.scorer import Scores
from lexbeam.testing import HistoryScorer, TableScorer

SIZE, EOS, KNOWN = 6, 1, 4


def scorer(aliases: int = 2) -> AliasScorer:
    return AliasScorer(HistoryScorer(SIZE, eos=EOS, seed=5), [KNOWN] * aliases)


def test_it_is_scored_as_the_token_it_stands_for() -> None:
    plain = HistoryScorer(SIZE, eos=EOS, seed=5)
    wanted = decode(plain, ["s"], [[[2, KNOWN, 3]]], beam_size=200, max_length=4)[0][0]
    found = decode(scorer(), ["s"], [[[2, SIZE, 3]]], beam_size=200, max_length=4)[0][0]
    assert [KNOWN if token >= SIZE else token for token in found.tokens] == wanted.tokens
    assert found.score == pytest.approx(wanted.score)
    assert SIZE in found.tokens


def test_two_that_the_model_takes_for_one_are_two() -> None:
    found = decode(scorer(), ["s"], [[[SIZE], [SIZE + 1], [KNOWN]]], max_length=5)[0][0]
    assert {SIZE, SIZE + 1, KNOWN} <= set(found.tokens)
    assert found.met == [True] * 3


def test_to_avoid_it_is_not_to_avoid_what_it_stands_for() -> None:
    found = decode(scorer(), ["s"], [[[KNOWN]]], [[[SIZE], [SIZE + 1, 2]]], max_length=3)[0][0]
    assert KNOWN in found.tokens


def test_it_is_as_large_as_the_vocabulary_with_the_aliases() -> None:
    table = TableScorer(np.log(np.full((3, 3), 1 / 3)), bos=0, eos=2, word_starts=[1, 0, 1])
    more = AliasScorer(table, [0, 1])
    assert more.vocabulary_size == 5
    assert (more.bos, more.eos) == (0, 2)
    assert list(more.word_starts) == [1, 0, 1]
    with pytest.raises(AttributeError):
        _ = more.stops


def test_it_is_not_taken_for_what_comes_before_an_output() -> None:
    class Beyond(HistoryScorer):
        """Has a number behind the vocabulary for it, as Firefox's models do."""

        first: list[int] | None = None

        def step(self, state: Any, tokens: IntArray, *more: Any, **named: Any) -> Scores:
            self.first = tokens.tolist() if self.first is None else self.first
            return super().step(state, tokens, *more, **named)

    beyond = Beyond(SIZE, eos=EOS, seed=5)
    beyond.bos = SIZE
    found = decode(AliasScorer(beyond, [KNOWN, KNOWN]), ["s"], [[[SIZE]]], max_length=5)[0][0]
    assert beyond.first == [SIZE]
    assert SIZE in found.tokens


def test_what_it_stands_for_may_end_the_output() -> None:
    class Stopping(HistoryScorer):
        def stops(self, _state: object, _parents: object, tokens: IntArray) -> BoolArray:
            assert tokens.max() < SIZE
            return np.equal(tokens, KNOWN)

    stopping = AliasScorer(Stopping(SIZE, eos=EOS, seed=5), [KNOWN])
    found = decode(stopping, ["s"], [[[SIZE]]], max_length=5)[0][0]
    assert found.tokens[-1] == SIZE
    assert found.tokens.count(KNOWN) == 0


def test_a_draft_is_asked_for_what_it_stands_for() -> None:
    class Drafting(HistoryScorer):
        asked: IntArray | None = None

        def draft(self, _state: object, ask: IntArray, _longest: int, attention: bool) -> None:
            assert not attention
            self.asked = ask

    drafting = Drafting(SIZE, eos=EOS, seed=5)
    decode(AliasScorer(drafting, [KNOWN]), [[0]], [[[SIZE], [2]]], algorithm="lookahead")
    assert drafting.asked is not None
    assert sorted(drafting.asked.tolist()) == [2, KNOWN]

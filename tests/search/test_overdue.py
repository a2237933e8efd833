"""Outputs that could end do not run on to their limit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lexbeam.search import Form, Pattern, decode
from lexbeam.search.kernel import switched
from lexbeam.search.overdue import EVERY
from lexbeam.search.stopping import likely_longest
from lexbeam.testing import TableScorer

BOS, END = 0, 4
LAST = Pattern(((Form((2,)),),), last=True)
LIMIT = 400


def make_scorer() -> TableScorer:
    """Return a model that says 1, 3 or 5 again and again, and hardly ever ends."""
    table = np.full((7, 7), 1e-9)
    table[:, [1, 3, 5]] = 0.3
    table[:, 2] = 0.05
    return TableScorer(np.log(table), bos=BOS, eos=END)


def length(source: int, phrases: list[Any], **given: Any) -> int:
    settings: dict[str, Any] = {"max_length": LIMIT, "beam_size": 3, "algorithm": "lookahead"}
    (found,) = decode(make_scorer(), [list(range(source))], [phrases], **settings | given)
    return len(found[0].tokens)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("phrases", [[LAST], [(1, 2)], [LAST, (1, 2), (5,)]])
def test_an_output_ends_when_nothing_has_got_on_for_long(
    phrases: list[Any], compiled: bool
) -> None:
    with switched(compiled):
        for source in (3, 12):
            patience = likely_longest(np.array([1.1 * source]), 0)[0]
            assert patience < length(source, phrases) < patience + 3 * EVERY


@pytest.mark.parametrize("compiled", [True, False])
def test_what_gets_on_is_given_its_time(compiled: bool) -> None:
    phrases: list[Any] = [LAST, *([(6, 1)] * 30)]
    with switched(compiled):
        (found,) = decode(
            make_scorer(), [[1, 2, 3]], [phrases], max_length=LIMIT, algorithm="lookahead"
        )
    tokens = found[0].tokens
    assert len(tokens) < LIMIT
    assert tokens[-1] == 2
    assert sum(pair == (6, 1) for pair in itertools.pairwise(tokens)) >= 30


def test_a_soft_constraint_may_still_be_met() -> None:
    soft = [Pattern(((Form((6, each)),),), penalty=1e4) for each in (1, 3, 5)] * 8
    (found,) = decode(
        make_scorer(), [[1]], [soft], max_length=LIMIT, algorithm="lookahead", beam_size=3
    )
    assert all(found[0].met)


def test_a_prefix_counts_for_nothing() -> None:
    prefix = [1] * 60
    for source in (3, 12):
        patience = likely_longest(np.array([1.1 * source]), 0)[0]
        found = length(source, [LAST], prefix=[prefix])
        assert len(prefix) + patience < found < len(prefix) + patience + 3 * EVERY


def test_a_batch_gives_what_its_sentences_give() -> None:
    sources = [list(range(size)) for size in (3, 12, 6, 3)]
    phrases: list[Any] = [[LAST], [(1, 2)], [LAST, (5,)], []]
    given: dict[str, Any] = {"max_length": LIMIT, "beam_size": 3, "algorithm": "lookahead"}
    together = decode(make_scorer(), sources, phrases, **given)
    for i in range(len(sources)):
        (alone,) = decode(make_scorer(), [sources[i]], [phrases[i]], **given)
        assert alone[0].tokens == together[i][0].tokens


@pytest.mark.parametrize("algorithm", ["dba", "beam"])
def test_the_searches_of_the_paper_are_left_as_they_are(algorithm: str) -> None:
    assert length(3, [LAST], algorithm=algorithm) > LIMIT - 3


@pytest.mark.parametrize("compiled", [True, False])
def test_an_output_that_may_not_end_does_not_run_on_either(compiled: bool) -> None:
    """What it still has to say is improbable anywhere, so it would wait until the limit."""
    table = np.full((7, 7), 1e-9)
    table[:, [1, 3, 5]] = 0.3
    table[:, 2], table[:, 6] = 0.05, 1e-30
    table[1, 1], table[3, 3] = 0.4, 0.4
    scorer = TableScorer(np.log(table), bos=BOS, eos=END)
    hard: list[Any] = [(6, 6, 6, 2), (6, 2, 6, 5)]
    with switched(compiled):
        for source in (3, 12):
            patience = likely_longest(np.array([1.1 * source]), 0)[0]
            given: dict[str, Any] = {"max_length": LIMIT, "algorithm": "lookahead"}
            for size in (1, 3):
                (found,) = decode(scorer, [[0] * source], [hard], beam_size=size, **given)
                assert all(found[0].met)
                assert len(found[0].tokens) <= patience + 2 * EVERY + 8 + 8
            others: list[Any] = [[], hard, [(1,)]]
            sources = [[0] * 3, [0] * source, [0] * 5]
            together = decode(scorer, sources, others, beam_size=3, **given)
            assert together[1] == found


def test_an_output_that_is_cut_off_has_all_of_its_length() -> None:
    """It counts without an end, so that it may not be cut off earlier."""
    table = np.full((3, 3), 1e-9)
    table[:, 2] = 1.0
    scorer = TableScorer(np.log(table), bos=0, eos=0)
    for limit in (34, 60):
        given: dict[str, Any] = {"max_length": limit, "algorithm": "lookahead", "cut": True}
        (found,) = decode(scorer, [[1]], [[(1,)]], beam_size=4, **given)
        assert len(found[0].tokens) == limit

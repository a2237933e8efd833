"""Models that rule out all that may follow: the search goes on where an output is possible."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from lexbeam.search import Form, Pattern, decode, kernel
from lexbeam.testing import TableScorer

A, B, C, END = range(4)
ALGORITHMS = ["dba", "lookahead", "gbs", "cbs", "beam"]


def scorer_of(*possible: int, word_starts: list[bool] | None = None) -> TableScorer:
    """Return a model for which only some tokens are possible."""
    table = np.full((4, 4), -np.inf)
    table[:, list(possible)] = -1.0
    return TableScorer(table, bos=C, eos=END, word_starts=word_starts)


@pytest.mark.parametrize("sentences", [1, 2])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_whole_prefix_ends_though_the_model_rules_out_all_words(
    algorithm: str, sentences: int
) -> None:
    asked: dict[str, Any] = {
        "phrases": [[[C]]],
        "prefix": [[A]],
        "whole_prefix": [True],
        "avoid": [[[B, B]]],
    }
    given = {name: value * sentences for name, value in asked.items()}
    boundary = [True, True, False, True]
    found = decode(
        scorer_of(C),
        ["s"] * sentences,
        **given,
        boundary=boundary,
        algorithm=algorithm,
        max_length=6,
    )
    for (best,) in found:
        assert best.tokens[0] == A
        assert best.tokens[1] in (A, B)
        assert C in best.tokens
        assert best.log_prob < -1e9


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("beam_size", [1, 5])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_something_stands_between_phrases_that_are_avoided_side_by_side(
    algorithm: str, beam_size: int, compiled: bool
) -> None:
    avoid = [[[one, other] for one in (A, B) for other in (A, B)]]
    with nullcontext() if compiled else kernel.switched(on=False):
        best = decode(
            scorer_of(A, B),
            ["s"],
            [[[A], [B]]],
            avoid=avoid,
            algorithm=algorithm,
            beam_size=beam_size,
            max_length=8,
        )[0][0]
    assert best.met == [True, True]
    assert C in best.tokens


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_word_goes_on_that_must_not_end(algorithm: str) -> None:
    starts = [True, True, False, True]
    scorer = scorer_of(A, B, END, word_starts=starts)
    asked: dict[str, Any] = {"prefix": [[A]], "avoid": [[[A]]], "boundary": starts}
    best = decode(scorer, ["s"], algorithm=algorithm, max_length=8, **asked)[0][0]
    assert best.tokens[:2] == [A, C]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("max_length", [1, 2, 19])
def test_an_end_that_is_ruled_out_is_taken_once_all_else_is_closed(
    algorithm: str, max_length: int
) -> None:
    """The output ends with A, behind which the model has no end: it could only run on.

    What may follow is closed behind it, by the limit or since the end is overdue.
    """
    ends_with = Pattern(((Form((A,)),),), last=True)
    given: dict[str, Any] = {"beam_size": 1, "aside": True, "algorithm": algorithm}
    (best,) = decode(scorer_of(A, B), ["s"], [[ends_with]], max_length=max_length, **given)[0]
    assert best.tokens[-1] == A
    assert best.met == [True]
    assert best.finished


def test_a_token_that_was_closed_for_lack_of_room_has_its_own_score() -> None:
    """It was found to be in time when nothing else was left, and taken as if ruled out."""
    table = np.log(np.random.default_rng(1137).dirichlet(np.full(11, 0.7), 11))
    word = Form((1, 6), apart=True), Form((6, 3), apart=True)
    last = Pattern(
        ((Form((6, 0)), Form((10, 7), first=True)), (Form((2,)),), (Form((2, 4)), Form((0,)))),
        within=5,
        last=True,
    )
    near = Pattern(((Form((0,)), Form((10, 5))), (Form((1,)),)), within=2)
    found = decode(
        TableScorer(table, bos=0, eos=9),
        ["s"],
        [[*[Pattern((word,), may_overlap=True)] * 3, last, near]],
        max_length=22,
        boundary=[1] * 11,
        closing=[0, 0, 0, 1, *[0] * 7],
        joining=[7, 0, 2, 2, 7, 4, 6, 0, 0, 4, 1],
        beam_size=7,
        algorithm="beam",
        prune=0,
        lag=0.3,
        stop="now",
        nbest=2,
    )[0]
    for each in found:
        assert each.log_prob > -1000

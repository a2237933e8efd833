from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ScorerError
from lexbeam.search import decode, kernel
from lexbeam.search.scorer import Scores, can_attend, refuse_wrong_shapes
from lexbeam.testing import HistoryScorer, TableScorer


def scores(attention: object) -> Scores:
    none = np.zeros((2, 0))
    return Scores(none, none.astype(int), none, None, np.array(attention))


@pytest.mark.parametrize(
    "attention",
    [[[0.5, 0.5]], [0.5, 0.5], [[0.5, np.nan], [0, 1]], [[-0.5, 1.5], [0, 1]], [[np.inf], [1]]],
)
def test_attention_that_makes_no_sense_is_refused(attention: object) -> None:
    with pytest.raises(ScorerError, match="attention"):
        refuse_wrong_shapes(scores(attention), 2, 0, 0)


def test_attention_that_makes_sense_is_taken() -> None:
    refuse_wrong_shapes(scores([[0.5, 0.5], [1, 0]]), 2, 0, 0)
    refuse_wrong_shapes(scores(np.zeros((2, 0))), 2, 0, 0)


def test_a_scorer_attends_only_if_it_says_so() -> None:
    assert not can_attend(HistoryScorer(4))
    assert can_attend(HistoryScorer(4, alignment=lambda source, _: np.ones(len(source))))


TABLE = np.log(np.full((4, 4), 0.25))

Change = Callable[[Scores], Any]


class Changed(TableScorer):
    """A model whose answers are changed before they are given."""

    def __init__(self, change: Change, restarts: bool = True) -> None:
        super().__init__(TABLE, bos=0, eos=1, alignment=np.ones((4, 1)))
        self.change, self.restarts = change, restarts

    def step(self, *given: Any, **more: Any) -> Scores:
        answer: Scores = self.change(super().step(*given, **more))
        return answer


def with_arrays(**changes: Callable[[Any], Any]) -> Change:
    """Return a change of some arrays of an answer."""
    return lambda scores: scores._replace(
        **{name: change(getattr(scores, name)) for name, change in changes.items()}
    )


def as_type(kind: Any) -> Callable[[Any], Any]:
    return lambda array: array.astype(kind)


PRECISIONS = [
    with_arrays(top_ids=as_type(np.int32)),
    with_arrays(top_ids=as_type(np.uint16)),
    with_arrays(top_ids=as_type(">i8")),
    with_arrays(top_scores=as_type(np.float16), ask_scores=as_type(np.float16)),
    with_arrays(top_scores=as_type(">f8"), ask_scores=as_type(">f8")),
    with_arrays(top_scores=as_type(np.longdouble)),
    with_arrays(top_scores=np.asfortranarray, ask_scores=lambda array: array[:, ::-1][:, ::-1]),
    list,
]
"""Answers that are as good as others."""

WAYS: list[dict[str, Any]] = [
    {"algorithm": "dba"},
    {"algorithm": "lookahead"},
    {"algorithm": "lookahead", "aside": True},
    {"algorithm": "lookahead", "align": True},
]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("change", PRECISIONS)
def test_scores_and_ids_may_have_any_precision(
    change: Change, way: dict[str, Any], on: bool
) -> None:
    with kernel.switched(on):
        found = decode(Changed(change), [[7]], [[[2], [3]]], max_length=6, **way)
    assert found[0][0].tokens == [2, 3]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [np.matrix, np.ma.masked_array])
def test_arrays_with_rules_of_their_own_are_read_as_arrays(kind: Callable[[Any], Any]) -> None:
    asked: Any = [[7]], [[[2], [3]]], [[[0, 0], [2, 2]]]
    kinds = with_arrays(top_scores=kind, top_ids=kind, ask_scores=kind)
    found = decode(Changed(kinds), *asked, max_length=6)
    assert found == decode(Changed(lambda scores: scores), *asked, max_length=6)


BROKEN = [
    (lambda _: None, "answer must have top_scores, top_ids, ask_scores, state"),
    (lambda scores: tuple(scores)[:3], "answer must have"),
    (lambda scores: (*scores, None), "answer must have"),
    (with_arrays(top_scores=lambda array: array.tolist()), "top_scores must be a NumPy array"),
    (with_arrays(top_ids=lambda array: array.tolist()), "top_ids must be a NumPy array of integer"),
    (
        with_arrays(ask_scores=lambda _: None),
        "ask_scores must be a NumPy array of floats, not None",
    ),
    (with_arrays(top_scores=as_type(complex)), "top_scores must be .* not of complex128"),
    (with_arrays(ask_scores=as_type(object)), "ask_scores must be .* not of object"),
    (with_arrays(ask_scores=as_type(str)), "ask_scores must be"),
    (with_arrays(top_ids=as_type(float)), "top_ids must be .* of integers, not of float64"),
    (with_arrays(top_ids=as_type(bool)), "top_ids must be .* not of bool"),
]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(("change", "says"), BROKEN)
def test_answers_of_another_form_are_refused(
    change: Change, says: str, way: dict[str, Any], on: bool
) -> None:
    for restarts in (True, False):  # with a draft and without
        with kernel.switched(on), pytest.raises(ScorerError, match=says):
            decode(Changed(change, restarts), [[7]], [[[2], [3]]], max_length=6, **way)


def at_later_steps(change: Callable[[Any], Any]) -> Change:
    """Return a change of the attention of all steps but the first."""
    steps = iter(range(100))
    return with_arrays(attention=lambda array: change(array) if next(steps) else array)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (at_later_steps(lambda array: np.tile(array, 2)), "attention is to 2 source tokens, but"),
        (at_later_steps(lambda _: None), "attention at some steps, but not at all"),
        (with_arrays(attention=lambda array: array.tolist()), "attention must be a NumPy array"),
        (with_arrays(attention=as_type(complex)), "attention must be .* not of complex128"),
    ],
)
def test_attention_of_another_form_is_refused(change: Change, says: str) -> None:
    with pytest.raises(ScorerError, match=says):
        decode(Changed(change, restarts=False), [[7]], [[[2]]], max_length=6, align=True)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"eos": 9}, "end 9 is outside its vocabulary of 4"),
        ({"ends": [1, 9]}, "end 9 is outside its vocabulary of 4"),
        ({"ends": 1}, "is no scorer"),
        ({"vocabulary_size": 4.0}, "is no scorer: one has the integers vocabulary_size"),
        ({"step": None}, "is no scorer"),
        ({"stops": 5}, "the scorer's stops must be a method, not 5"),
        ({"draft": "x"}, "the scorer's draft must be a method, not 'x'"),
        ({"attends": np.zeros(2)}, "the scorer's attends must be true or false"),
        ({"restarts": np.zeros(2)}, "the scorer's restarts must be true or false"),
    ],
)
def test_what_is_no_scorer_is_refused(given: dict[str, Any], says: str) -> None:
    scorer = TableScorer(TABLE, bos=0, eos=1)
    vars(scorer).update(given)
    with pytest.raises(ScorerError, match=says):
        decode(scorer, [[7]])
    with pytest.raises(ScorerError, match="int is no scorer"):
        decode(5, [[7]])  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [np.matrix, np.ma.masked_array])
def test_attention_of_another_class_is_read_as_an_array(kind: Callable[[Any], Any]) -> None:
    scorer = Changed(with_arrays(attention=lambda each: each if each is None else kind(each)))
    for more in ({"align": True}, {"ties": [{0: [0]}]}):
        found = decode(scorer, [[7]], [[[2], [3]]], max_length=6, **more)
        assert found[0][0].met == [True, True]

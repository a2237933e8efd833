"""Length limits need not be looked at in every step; what is lost by that is searched again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.search import Form, Hypothesis, Pattern, decode
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.looks import Looks
from lexbeam.testing import HistoryScorer, TableScorer

NEAR = Pattern(((Form((2,)), Form((6,))), (Form((1, 7)),)), within=1)
OTHER = Pattern(((Form((7,)), Form((9,)), Form((3, 9))), (Form((9,)),)), within=1)
LAST = Pattern(
    ((Form((6, 9)),), (Form((7,)), Form((1,)), Form((5,))), (Form((7, 5)),)), within=2, last=True
)
DEMANDS = [NEAR, NEAR, NEAR, OTHER, LAST, LAST, Pattern(((Form((4,)),),), may_overlap=True)]


def search(others: int = 0, longest: int = 46, **settings: Any) -> list[Hypothesis]:
    """Search for demands whose plans have to be followed, behind so many free sentences."""
    table = np.log(np.random.default_rng(5612).dirichlet(np.full(10, 0.7), 10))
    found = decode(
        TableScorer(table, bos=0, eos=0),
        ["s000"] * (others + 1),
        [[[4]]] * others + [DEMANDS],
        prefix=[[]] * others + [[1, 5, 3]],
        max_length=[longest] * (others + 1),
        boundary=[1, 1, 1, 1, 1, 1, 0, 1, 1, 1],
        closing=[0, 0, 1, 0, 0, 0, 0, 0, 0, 1],
        starting=[1, 1, 1, 0, 1, 1, 0, 1, 1, 1],
        joining=[0, 0, 0, 7, 2, 4, 6, 2, 0, 0],
        beam_size=3,
        prune=3.0,
        stop="likely",
        length_penalty=0.0,
        **settings,
    )
    return [each[0] for each in found]


def test_what_was_lost_is_searched_again(searched_again: list[list[int]]) -> None:
    (found,) = search()
    assert searched_again == [[0]]
    assert all(found.met)


def test_the_others_of_a_batch_are_not_searched_again(searched_again: list[list[int]]) -> None:
    (alone,) = search()
    *others, found = search(others=2)
    assert searched_again == [[0], [2]]
    assert found.tokens == alone.tokens
    assert all(4 in each.tokens for each in others)


def test_an_observer_sees_the_second_search_from_its_beginning(
    searched_again: list[list[int]],
) -> None:
    steps: list[ObservedStep] = []
    _, found = search(others=1, observer=steps.append)
    first, second = (at for at, step in enumerate(steps) if step.step == 0)
    assert searched_again == [[1]]
    assert first == 0
    assert [step.step for step in steps[second:]] == list(range(len(steps) - second))
    lost = sum(1 in step.sentences for step in steps[:second])
    assert (found.lost_steps, found.steps) == (lost, len(steps) - second)
    assert all(step.sentences.tolist() == [1] for step in steps[second:])


@pytest.mark.parametrize("longest", [46, 90, 120, 150])
@pytest.mark.parametrize("algorithm", ["lookahead", "dba", "beam", "gbs"])
def test_more_room_is_never_too_much(algorithm: str, longest: int) -> None:
    """With 90 tokens and more no output was found: nobody had looked where plans lead."""
    (found,) = search(longest=longest, algorithm=algorithm)
    assert all(found.met)
    assert len(found.tokens) <= longest


@pytest.mark.parametrize("longest", [24, 40, 73])
@pytest.mark.parametrize("algorithm", ["lookahead", "dba", "beam", "gbs"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_word_that_can_only_go_on_with_itself_is_not_begun(
    beam_size: int, algorithm: str, longest: int
) -> None:
    """Token 5, which is avoided, is the only one that goes on with a word: nothing may follow."""

    def chain(*parts: tuple[tuple[int, ...], ...], within: int | None = 0) -> Pattern:
        return Pattern(tuple(tuple(map(Form, part)) for part in parts), within=within)

    begins = Form((4, 3), first=True)
    twice = Pattern(((Form((1, 0)), Form((4, 3)), Form((1,)), begins), (Form((3, 4)),)), within=0)
    demands = [
        chain(((5,), (3,), (3, 3)), ((4, 0),), within=None),
        chain(((4, 0),), ((0,),), ((1,),)),
        chain(((1, 4),), ((0,),), ((0,),), within=5),
        twice,
        twice,
    ]
    table = np.log(np.random.default_rng(6610).dirichlet(np.full(6, 0.7), 6))
    boundary = [1, 1, 1, 1, 1, 0]
    [[found]] = decode(
        TableScorer(table, bos=0, eos=2, word_starts=boundary),
        ["s"],
        [demands],
        [[(5,)]],
        prefix=[[4, 3, 1]],
        max_length=longest,
        boundary=boundary,
        beam_size=beam_size,
        algorithm=algorithm,
        lag=0.3,
        stop="now",
        aside=True,
    )
    assert all(found.met)
    assert 5 not in found.tokens


def test_where_there_is_room_plans_are_not_followed_in_every_step(
    monkeypatch: pytest.MonkeyPatch, searched_again: list[list[int]]
) -> None:
    counted = Pattern(((Form((2,)), Form((2, 3))),), may_overlap=True, exact=True)
    gaps = [Pattern(((Form((3, 4 + i)),), (Form((20 + i,)),)), within=3) for i in range(7)]
    demands = [counted, counted, *gaps, *gaps]
    looks = 0
    needs = RemainingTokens.needs

    def note(self: RemainingTokens, *given: Any) -> Any:
        nonlocal looks
        looks += 1
        return needs(self, *given)

    def count_looks() -> int:
        nonlocal looks
        looks = 0
        scorer = HistoryScorer(40, bos=1, eos=0, seed=1)
        ((found,),) = decode(scorer, ["s"], [demands], max_length=150, beam_size=2)
        assert all(found.met)
        return looks

    monkeypatch.setattr(RemainingTokens, "needs", note)
    some = count_looks()
    monkeypatch.setattr(Looks, "leave_out", lambda *_, **__: False)
    assert not searched_again
    assert some < count_looks() / 2


def test_without_insisting_what_was_lost_is_not_there() -> None:
    table = np.log(np.random.default_rng(5612).dirichlet(np.full(10, 0.7), 10))
    found = decode(
        TableScorer(table, bos=0, eos=0),
        ["s", "s"],
        [DEMANDS, [[4]]],
        prefix=[[1, 5, 3], []],
        max_length=46,
        beam_size=3,
        insists=False,
        boundary=[1, 1, 1, 1, 1, 1, 0, 1, 1, 1],
        closing=[0, 0, 1, 0, 0, 0, 0, 0, 0, 1],
        starting=[1, 1, 1, 0, 1, 1, 0, 1, 1, 1],
        joining=[0, 0, 0, 7, 2, 4, 6, 2, 0, 0],
    )
    assert found[0] == []
    assert all(found[1][0].met)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.search.adjustment import adjust, adjust_one
from lexbeam.search.allocation import (
    HANDICAP,
    POLICIES,
    Cbs,
    Dba,
    Explanation,
    Gbs,
    Lookahead,
    Plain,
    Policy,
    TwoWidths,
    allocate,
    fill_from_top,
    register,
)
from lexbeam.search.arrays import IntArray
from lexbeam.search.beam_search import decode
from lexbeam.testing import HistoryScorer

NO = -np.inf


def test_equal_slots_and_the_remainder_to_the_top_bank() -> None:
    slots = allocate(10, np.array([0, 1, 2, 4, 9, 12]))
    assert slots[0].tolist() == [10] + [0] * 12
    assert slots[1].tolist() == [5, 5] + [0] * 11
    assert slots[2].tolist() == [3, 3, 4] + [0] * 10
    assert slots[3].tolist() == [2] * 5 + [0] * 8
    assert slots[4].tolist() == [1] * 10 + [0] * 3
    assert slots[5].tolist() == [0] * 12 + [10]


def test_the_papers_figure_of_a_step() -> None:
    """k = 5, 15 candidates, one slot per bank: the best of each bank goes on."""
    bank = np.array([[0] * 6 + [1] * 4 + [2] * 3 + [3] + [4]])
    score = -np.arange(1.0, 16.0)[None, :]
    selection = Dba(5, np.array([4]), np.array([1])).select(bank, score)
    assert selection.taken.all()
    assert selection.indices.tolist() == [[14, 13, 10, 6, 0]]


@given(st.lists(st.integers(0, 8), min_size=2, max_size=9), st.integers(1, 20))
def test_with_fewer_slots_than_banks_the_beam_is_filled_from_the_top(
    counts: list[int], beam: int
) -> None:
    beam = min(beam, len(counts) - 1)
    slots = adjust(allocate(beam, np.array([len(counts) - 1])), np.array([counts]))
    assert fill_from_top(beam, np.array([counts])).tolist() == slots.tolist()


@st.composite
def candidate_batches(
    draw: st.DrawFn,
) -> tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    n = draw(st.integers(1, 30))
    bank = np.array([[draw(st.integers(0, size)) for _ in range(n)] for size in sizes])
    score = np.array(
        [[draw(st.sampled_from([NO, -1.0, -2.0, -3.0, -4.5])) for _ in range(n)] for _ in sizes]
    )
    return sizes, bank, score


@given(candidate_batches(), st.integers(1, 12))
def test_dba_fills_each_banks_slots_with_its_best(
    batch: tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]], beam: int
) -> None:
    sizes, bank, score = batch
    selection = Dba(beam, np.array(sizes), np.ones_like(sizes)).select(bank, score)
    for row, size in enumerate(sizes):
        real = np.flatnonzero(score[row] > NO)
        counts = np.bincount(bank[row][real], minlength=size + 1).tolist()
        slots = adjust_one(allocate(beam, np.array([size]))[0].tolist(), counts)
        expected = []
        for number in reversed(range(size + 1)):
            inside = [p for p in real if bank[row][p] == number]
            inside.sort(key=lambda p: (-score[row][p], p))
            expected += inside[: slots[number]]
        indices = selection.indices[row][selection.taken[row]].tolist()
        assert indices == expected
        assert len(indices) == min(beam, len(real))


@given(candidate_batches(), st.integers(1, 12))
def test_lookahead_sets_each_candidate_back_by_those_of_its_bank_before_it(
    batch: tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]], beam: int
) -> None:
    sizes, bank, score = batch
    selection = Lookahead(beam, np.array(sizes), np.ones_like(sizes)).select(bank, score)
    for row in range(len(sizes)):
        real = np.flatnonzero(score[row] > NO).tolist()
        by_bank = sorted(real, key=lambda p: (-bank[row][p], -score[row][p], p))
        before = {
            p: sum(bank[row][q] == bank[row][p] for q in by_bank[:i]) for i, p in enumerate(by_bank)
        }
        best = sorted(by_bank, key=lambda p: -(score[row][p] - HANDICAP * before[p]))[:beam]
        expected = [p for p in by_bank if p in best]
        assert selection.indices[row][selection.taken[row]].tolist() == expected


@given(candidate_batches(), st.integers(1, 6), st.lists(st.booleans(), min_size=9, max_size=9))
@pytest.mark.parametrize("policy", [Dba, Lookahead, Plain])
def test_with_two_widths_each_sentence_gets_what_it_gets_alone(
    policy: type[Policy],
    batch: tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]],
    beam: int,
    drawn: list[bool],
) -> None:
    sizes, bank, score = batch
    wide = np.array(drawn[: len(sizes)])
    ones = np.ones(len(sizes), np.int64)
    both = TwoWidths(policy, (beam, 3 * beam), wide, np.array(sizes), ones)
    assert both.beam_sizes is not None
    assert both.beam_sizes.tolist() == [3 * beam if one else beam for one in wide]
    indices, taken = both.select(bank, score)
    for row, one in enumerate(wide):
        alone = policy(3 * beam if one else beam, np.array(sizes[row : row + 1]), ones[:1])
        selection = alone.select(bank[row : row + 1], score[row : row + 1])
        assert indices[row][taken[row]].tolist() == selection.indices[selection.taken].tolist()


@given(candidate_batches(), st.integers(1, 3))
def test_gbs_gives_each_bank_its_own_beam(
    batch: tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]], base: int
) -> None:
    sizes, bank, score = batch
    policy = Gbs(base, np.array(sizes), np.ones_like(sizes))
    assert policy.beam_sizes is not None
    assert policy.beam_sizes.tolist() == [base * (size + 1) for size in sizes]
    assert policy.beam == base * (max(sizes) + 1)
    selection = policy.select(bank, score)
    for row, size in enumerate(sizes):
        indices = selection.indices[row][selection.taken[row]]
        real = score[row] > NO
        for number in range(size + 1):
            inside = sorted(score[row][real & (bank[row] == number)])[::-1][:base]
            chosen = indices[bank[row][indices] == number]
            assert sorted(score[row][chosen])[::-1] == inside


def test_cbs_needs_a_beam_for_each_set() -> None:
    policy = Cbs(2, np.array([3]), np.array([8]))
    assert policy.beam_sizes is not None
    assert policy.beam_sizes.tolist() == [16]
    bank = np.array([[0, 0, 0, 5, 7, 7]])
    selection = policy.select(bank, -np.arange(6.0)[None, :])
    assert selection.indices[selection.taken].tolist() == [4, 5, 3, 0, 1]


def test_plain_search_does_not_look_at_banks() -> None:
    selection = Plain(2, np.array([3]), np.array([1])).select(
        np.array([[0, 3, 1]]), np.array([[-1.0, -3.0, -2.0]])
    )
    assert selection.indices.tolist() == [[0, 2]]


@pytest.mark.parametrize("name", POLICIES)
def test_without_constraints_all_policies_are_plain_search(name: str) -> None:
    random = np.random.default_rng(0)
    score = random.normal(size=(3, 40))
    nothing = np.zeros((3, 40), np.int64)
    policy = POLICIES[name](6, np.zeros(3, np.int64), np.ones(3, np.int64))
    expected = (-score).argsort(axis=1)[:, :6]
    assert policy.beam == 6
    assert policy.beam_sizes is None or policy.beam_sizes.tolist() == [6, 6, 6]
    assert policy.select(nothing, score).indices.tolist() == expected.tolist()


@pytest.mark.parametrize("policy", [Dba, Lookahead])
def test_large_and_small_batches_select_alike(policy: type[Dba] | type[Lookahead]) -> None:
    random = np.random.default_rng(2)
    bank = random.integers(0, 31, (40, 300))
    score = np.where(random.random((40, 300)) < 0.2, NO, random.normal(size=(40, 300)) - 20)
    whole = policy(8, np.full(40, 30), np.ones(40, np.int64)).select(bank, score)
    for row in range(40):
        one = policy(8, np.array([30]), np.array([1])).select(
            bank[row : row + 1], score[row : row + 1]
        )
        assert whole.indices[row].tolist() == one.indices[0].tolist()


def explain(name: str, beam_size: int, counts: list[int]) -> Explanation:
    policy = POLICIES[name](beam_size, np.array([len(counts) - 1]), np.array([len(counts)]))
    return policy.explain(counts)


def test_a_policy_explains_its_slots_and_moves() -> None:
    moves = [(2, 1, 1), (3, 1, 1), (4, 1, 1)]
    assert explain("dba", 5, [4, 4, 0, 0, 0]) == ([1] * 5, moves)
    assert explain("gbs", 2, [1, 0, 5]) == explain("cbs", 2, [1, 0, 5]) == ([2, 2, 2], [])
    assert explain("lookahead", 5, [4, 4, 0]) == explain("beam", 5, [4]) == (None, [])


@given(candidate_batches(), st.integers(1, 12))
def test_what_dba_explains_is_what_it_selects(
    batch: tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]], beam: int
) -> None:
    sizes, bank, score = batch
    for row, size in enumerate(sizes):
        policy = Dba(beam, np.array([size]), np.array([1]))
        real = score[row] > NO
        counts = np.bincount(bank[row][real], minlength=size + 1).tolist()
        given, moves = policy.explain(counts)
        assert given is not None
        slots = list(given)
        for giver, taker, moved in moves:
            slots[giver] -= moved
            slots[taker] += moved
        selection = policy.select(bank[row : row + 1], score[row : row + 1])
        chosen = bank[row][selection.indices[0][selection.taken[0]]]
        filled = np.bincount(chosen, minlength=size + 1).tolist()
        assert filled == [min(slot, count) for slot, count in zip(slots, counts, strict=True)]


def test_a_policy_is_known_by_the_name_it_is_registered_under() -> None:
    class Mine(Dba):
        """A policy of a user."""

    try:
        assert register("mine")(Mine) is Mine
        scorer = HistoryScorer(6, bos=0, eos=1, seed=3)
        found = [
            decode(scorer, ["s"], [[[2, 3]]], algorithm=name, beam_size=3, max_length=5)
            for name in ("mine", "dba")
        ]
        assert found[0] == found[1]
    finally:
        del POLICIES["mine"]


def test_policies_say_what_they_need() -> None:
    def names(attribute: str) -> set[str]:
        return {name for name, policy in POLICIES.items() if getattr(policy, attribute)}

    assert issubclass(Plain, Policy)
    assert names("needs_sets") == {"cbs"}
    assert names("needs_future_cost") == {"lookahead"}
    assert names("beam_per_bank") == {"gbs", "cbs"}
    assert names("has_banks") == POLICIES.keys() - {"beam"}

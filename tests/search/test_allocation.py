from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.search.allocation import (
    HANDICAP,
    POLICIES,
    Cbs,
    Dba,
    Gbs,
    Lookahead,
    Plain,
    adjust,
    allocate,
    from_top,
    k_best,
)
from lexbeam.search.arrays import IntArray

NO = -np.inf


def adjust_one(slots: list[int], counts: list[int]) -> list[int]:
    """Adjust as the paper tells it, bank by bank, outward from each."""
    slots = list(slots)
    for distance in range(1, len(slots)):
        for step in (distance, -distance):
            for giver in range(len(slots)):
                taker = giver + step
                if 0 <= taker < len(slots):
                    spare = max(slots[giver] - counts[giver], 0)
                    lacking = max(counts[taker] - slots[taker], 0)
                    moved = min(spare, lacking)
                    slots[giver] -= moved
                    slots[taker] += moved
    return [min(slot, count) for slot, count in zip(slots, counts, strict=True)]


def test_equal_slots_and_the_remainder_to_the_top_bank() -> None:
    slots = allocate(10, np.array([0, 1, 2, 4, 9, 12]))
    assert slots[0].tolist() == [10] + [0] * 12
    assert slots[1].tolist() == [5, 5] + [0] * 11
    assert slots[2].tolist() == [3, 3, 4] + [0] * 10
    assert slots[3].tolist() == [2] * 5 + [0] * 8
    assert slots[4].tolist() == [1] * 10 + [0] * 3
    assert slots[5].tolist() == [0] * 12 + [10]


def test_the_papers_figure_of_bank_adjustment() -> None:
    """k = 5, C = 4, one slot a bank; eight candidates, all in banks 0 and 1."""
    slots = allocate(5, np.array([4]))
    assert slots.tolist() == [[1, 1, 1, 1, 1]]
    for in_bank_0 in range(9):
        counts = np.array([[in_bank_0, 8 - in_bank_0, 0, 0, 0]])
        adjusted = adjust(slots, counts)[0]
        assert adjusted.sum() == 5
        assert adjusted[2:].tolist() == [0, 0, 0]
    assert adjust(slots, np.array([[5, 3, 0, 0, 0]])).tolist() == [[2, 3, 0, 0, 0]]
    assert adjust(slots, np.array([[4, 4, 0, 0, 0]])).tolist() == [[1, 4, 0, 0, 0]]


def test_the_papers_figure_of_a_step() -> None:
    """k = 5, 15 candidates, one slot a bank: the best of each bank goes on."""
    bank = np.array([[0] * 6 + [1] * 4 + [2] * 3 + [3] + [4]])
    score = -np.arange(1.0, 16.0)[None, :]
    selection = Dba(5, np.array([4]), np.array([1])).select(bank, score)
    assert selection.taken.all()
    assert selection.places.tolist() == [[14, 13, 10, 6, 0]]


def test_of_two_equally_near_banks_the_one_with_more_constraints_met_is_served() -> None:
    adjusted = adjust(np.array([[1, 1, 1]]), np.array([[5, 0, 5]]))
    assert adjusted.tolist() == [[1, 0, 2]]


banks = st.integers(1, 7)


@given(st.data(), st.integers(1, 20), banks)
def test_adjustment_against_the_definition(data: st.DataObject, beam: int, n: int) -> None:
    counts = [data.draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)) for _ in range(3)]
    slots = allocate(beam, np.array([n - 1] * 3))
    adjusted = adjust(slots, np.array(counts))
    for row, of_row, before in zip(adjusted.tolist(), counts, slots.tolist(), strict=True):
        assert row == adjust_one(before, of_row)
        assert sum(row) == min(beam, sum(of_row)), "the beam is filled"
        assert all(slot <= count for slot, count in zip(row, of_row, strict=True))


@given(st.lists(st.integers(0, 8), min_size=2, max_size=9), st.integers(1, 20))
def test_with_fewer_slots_than_banks_the_beam_is_filled_from_the_top(
    counts: list[int], beam: int
) -> None:
    beam = min(beam, len(counts) - 1)
    slots = adjust(allocate(beam, np.array([len(counts) - 1])), np.array([counts]))
    assert from_top(beam, np.array([counts])).tolist() == slots.tolist()


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
        places = selection.places[row][selection.taken[row]].tolist()
        assert places == expected
        assert len(places) == min(beam, len(real))


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
        assert selection.places[row][selection.taken[row]].tolist() == expected


@given(candidate_batches(), st.integers(1, 3))
def test_gbs_gives_each_bank_its_own_beam(
    batch: tuple[list[int], IntArray, np.ndarray[tuple[int, int], np.dtype[np.float64]]], base: int
) -> None:
    sizes, bank, score = batch
    policy = Gbs(base, np.array(sizes), np.ones_like(sizes))
    assert policy.beam_sizes.tolist() == [base * (size + 1) for size in sizes]
    assert policy.beam == base * (max(sizes) + 1)
    selection = policy.select(bank, score)
    for row, size in enumerate(sizes):
        places = selection.places[row][selection.taken[row]]
        real = score[row] > NO
        for number in range(size + 1):
            inside = sorted(score[row][real & (bank[row] == number)])[::-1][:base]
            chosen = places[bank[row][places] == number]
            assert sorted(score[row][chosen])[::-1] == inside


def test_cbs_needs_a_beam_for_each_set() -> None:
    policy = Cbs(2, np.array([3]), np.array([8]))
    assert policy.beam_sizes.tolist() == [16]
    bank = np.array([[0, 0, 0, 5, 7, 7]])
    selection = policy.select(bank, -np.arange(6.0)[None, :])
    assert selection.places[selection.taken].tolist() == [4, 5, 3, 0, 1]


def test_plain_search_does_not_look_at_banks() -> None:
    selection = Plain(2, np.array([3]), np.array([1])).select(
        np.array([[0, 3, 1]]), np.array([[-1.0, -3.0, -2.0]])
    )
    assert selection.places.tolist() == [[0, 2]]


@pytest.mark.parametrize("name", POLICIES)
def test_without_constraints_all_policies_are_plain_search(name: str) -> None:
    random = np.random.default_rng(0)
    score = random.normal(size=(3, 40))
    nothing = np.zeros((3, 40), np.int64)
    policy = POLICIES[name](6, np.zeros(3, np.int64), np.ones(3, np.int64))
    expected = (-score).argsort(axis=1)[:, :6]
    assert policy.beam == 6
    assert policy.beam_sizes is None or policy.beam_sizes.tolist() == [6, 6, 6]
    assert policy.select(nothing, score).places.tolist() == expected.tolist()


@pytest.mark.parametrize("rows", [1, 60])
def test_k_best_takes_the_first_of_equals(rows: int) -> None:
    random = np.random.default_rng(1)
    keys = random.integers(0, 5, (rows, 200)).astype(float)
    keys[:, ::7] = NO
    for k in (1, 7, 100, 200, 300):
        expected = (-keys).argsort(axis=1, kind="stable")[:, :k]
        assert k_best(keys, k).tolist() == expected.tolist()


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
        assert whole.places[row].tolist() == one.places[0].tolist()

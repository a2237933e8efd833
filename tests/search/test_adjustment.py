from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.search.adjustment import adjust, adjust_one, find_moves
from lexbeam.search.allocation import allocate


def adjust_as_defined(slots: list[int], counts: list[int]) -> list[int]:
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


def test_the_papers_figure_of_bank_adjustment() -> None:
    """k = 5, C = 4, one slot per bank; eight candidates, all in banks 0 and 1."""
    slots = allocate(5, np.array([4]))
    assert slots.tolist() == [[1, 1, 1, 1, 1]]
    for in_bank_0 in range(9):
        counts = np.array([[in_bank_0, 8 - in_bank_0, 0, 0, 0]])
        adjusted = adjust(slots, counts)[0]
        assert adjusted.sum() == 5
        assert adjusted[2:].tolist() == [0, 0, 0]
    assert adjust(slots, np.array([[5, 3, 0, 0, 0]])).tolist() == [[2, 3, 0, 0, 0]]
    assert adjust(slots, np.array([[4, 4, 0, 0, 0]])).tolist() == [[1, 4, 0, 0, 0]]


def test_the_moves_of_the_papers_figure() -> None:
    assert find_moves([1] * 5, [4, 4, 0, 0, 0]) == [(2, 1, 1), (3, 1, 1), (4, 1, 1)]


def test_of_two_equally_near_banks_the_one_with_more_constraints_met_is_first() -> None:
    adjusted = adjust(np.array([[1, 1, 1]]), np.array([[5, 0, 5]]))
    assert adjusted.tolist() == [[1, 0, 2]]
    assert find_moves([1, 1, 1], [5, 0, 5]) == [(1, 2, 1)]


@given(st.data(), st.integers(1, 20), st.integers(1, 7))
def test_both_forms_of_adjustment_keep_to_the_definition(
    data: st.DataObject, beam: int, n: int
) -> None:
    counts = [data.draw(st.lists(st.integers(0, 8), min_size=n, max_size=n)) for _ in range(3)]
    slots = allocate(beam, np.array([n - 1] * 3))
    adjusted = adjust(slots, np.array(counts))
    for row, of_row, before in zip(adjusted.tolist(), counts, slots.tolist(), strict=True):
        assert row == adjust_one(before, of_row) == adjust_as_defined(before, of_row)
        assert sum(row) == min(beam, sum(of_row)), "the beam is filled"
        assert all(slot <= count for slot, count in zip(row, of_row, strict=True))


@given(st.integers(1, 12), st.lists(st.integers(0, 6), min_size=1, max_size=8))
def test_moves_lead_to_the_adjusted_slots(beam: int, counts: list[int]) -> None:
    slots = allocate(beam, np.array([len(counts) - 1]))
    after = slots[0].tolist()
    for giver, taker, moved in find_moves(slots[0].tolist(), counts):
        assert moved > 0
        after[giver] -= moved
        after[taker] += moved
    usable = [min(slot, count) for slot, count in zip(after, counts, strict=True)]
    assert [usable] == adjust(slots, np.array([counts])).tolist()

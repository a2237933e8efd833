from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.search.allocation import adjust
from lexbeam.translation.tracing import slots


@given(st.integers(1, 12), st.lists(st.integers(0, 6), min_size=1, max_size=8))
def test_moves_lead_to_what_the_search_fills(beam: int, counts: list[int]) -> None:
    first = slots.given("dba", beam, len(counts))
    assert first is not None
    after = list(first)
    for giver, taker, many in slots.moves(first, counts):
        after[giver] -= many
        after[taker] += many
    usable = [min(s, c) for s, c in zip(after, counts, strict=True)]
    assert [usable] == adjust(np.array([first]), np.array([counts])).tolist()


def test_the_papers_example() -> None:
    first = slots.given("dba", 5, 5)
    assert first == [1, 1, 1, 1, 1]
    # Eight candidates, all in banks 0 and 1: the slots of banks 2 to 4 go there.
    assert slots.moves(first, [4, 4, 0, 0, 0]) == [(2, 1, 1), (3, 1, 1), (4, 1, 1)]


def test_only_some_algorithms_give_banks_slots_of_their_own() -> None:
    assert slots.given("gbs", 2, 3) == slots.given("cbs", 2, 3) == [2, 2, 2]
    assert slots.given("beam", 2, 1) is None

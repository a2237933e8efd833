from __future__ import annotations

from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from lexbeam.translation.nbest import best_choices, worth_showing
from lexbeam.translation.results import Alternative

FALLING = st.lists(st.integers(-9, 0), min_size=1, max_size=4).map(
    lambda scores: sorted(map(float, scores), reverse=True)
)


@given(st.lists(FALLING, min_size=1, max_size=4), st.integers(1, 30))
def test_the_best_combinations_come_first(scores: list[list[float]], count: int) -> None:
    choices = best_choices(scores, count)
    every = list(product(*(range(len(row)) for row in scores)))

    def total(choice: tuple[int, ...]) -> float:
        return sum(row[i] for row, i in zip(scores, choice, strict=True))

    assert choices[0] == (0,) * len(scores)
    assert len(set(choices)) == len(choices) == min(count, len(every))
    expected = sorted(map(total, every), reverse=True)[: len(choices)]
    assert [total(choice) for choice in choices] == expected


@given(
    st.lists(st.lists(st.integers(-9, 0), min_size=1, max_size=4), min_size=1, max_size=3),
    st.integers(1, 30),
)
def test_what_was_taken_comes_first_and_the_others_in_their_order(
    scores: list[list[float]], count: int
) -> None:
    choices = best_choices(scores, count)
    assert choices[0] == (0,) * len(scores)
    assert len(set(choices)) == len(choices) == min(count, prod(map(len, scores)))
    sums = [sum(row[i] for row, i in zip(scores, choice, strict=True)) for choice in choices[1:]]
    assert sums == sorted(sums, reverse=True)


def test_what_nobody_would_choose_is_not_shown() -> None:
    texts = [("Hallo.", -0.2), ("Hallo!", -0.3), ("Hallo..", -0.4), ("Hallo", -0.5)]
    texts += [("Hallo!", -0.6), ("Guten Tag.", -1.1), ("Guten Abend.", -1.3)]
    shown = worth_showing([Alternative(text, score) for text, score in texts])
    assert [each.text for each in shown] == ["Hallo.", "Hallo!", "Guten Tag."]

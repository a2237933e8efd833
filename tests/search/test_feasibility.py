from __future__ import annotations

import pytest

from lexbeam.errors import ConstraintError
from lexbeam.search import Form, Pattern, decode
from lexbeam.testing import HistoryScorer


def end(*forms: tuple[int, ...], penalty: float | None = None) -> Pattern:
    return Pattern((tuple(map(Form, forms)),), last=True, penalty=penalty)


def ends_of(*demands: Pattern) -> list[int]:
    scorer = HistoryScorer(8, bos=1, eos=0, seed=3)
    return decode(scorer, ["s"], [list(demands)], max_length=9, beam_size=4)[0][0].tokens


def test_two_ends_of_which_neither_is_the_end_of_the_other_are_refused() -> None:
    with pytest.raises(ConstraintError) as refused:
        ends_of(end((2, 3)), Pattern(((Form((5,)),),)), end((4, 3), (6,)))
    assert str(refused.value).endswith(
        "phrases [2, 3] and [4, 3]|[6] can't both be the end of the output"
    )
    assert refused.value.sentence == 0


@pytest.mark.parametrize(
    ("demands", "last"),
    [
        ((end((2, 3)), end((3,))), [2, 3]),
        ((end((3,)), end((6,), (2, 3))), [2, 3]),
        ((end((2, 3)), end((2, 3))), [2, 3]),
        ((end((2, 3)), end((4,), penalty=0.1)), [2, 3]),
    ],
)
def test_ends_that_go_together_are_met(demands: tuple[Pattern, ...], last: list[int]) -> None:
    assert ends_of(*demands)[-2:] == last

from __future__ import annotations

import numpy as np
import pytest

from lexbeam.errors import ScorerError
from lexbeam.search.scorer import Scores, can_attend, refuse_wrong_shapes
from lexbeam.testing import HistoryScorer


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

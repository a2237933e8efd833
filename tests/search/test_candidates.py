from __future__ import annotations

import numpy as np
import pytest

from lexbeam.search.beam_search import decode
from lexbeam.search.candidates import Proposals, _leave_out_closed
from lexbeam.testing import TableScorer

BOS, EOS, HAUS, TUER, IST, GROSS = range(6)
STARTS_A_WORD = np.array([True, True, True, False, True, True])


def compound_lover() -> TableScorer:
    """Return a model that hardly ever lets a word end after HAUS: it goes on with TUER."""
    unlikely = np.full((6, 6), -9.0)
    unlikely[BOS, IST] = unlikely[IST, GROSS] = unlikely[GROSS, EOS] = -0.1
    unlikely[HAUS, TUER] = -0.01
    unlikely[TUER, IST] = unlikely[TUER, EOS] = -0.7
    return TableScorer(unlikely, bos=BOS, eos=EOS, word_starts=STARTS_A_WORD)


@pytest.mark.parametrize("algorithm", ["dba", "lookahead", "gbs"])
@pytest.mark.parametrize("lag", [0, 3])
def test_a_phrase_is_met_even_if_the_model_prefers_to_go_on_with_its_word(
    algorithm: str, lag: float
) -> None:
    found = decode(
        compound_lover(),
        [[0] * 3],
        [[[HAUS]]],
        beam_size=5,
        algorithm=algorithm,
        lag=lag,
        boundary=STARTS_A_WORD,
        max_length=30,
    )[0][0]
    assert found.met == [True]
    assert len(found.tokens) <= 6  # and does not run on to the limit


def test_only_slots_that_wait_for_the_end_of_a_word_give_their_best_end() -> None:
    score = np.array([[-5.0, -1.0, -2.0, -6.0, -1.0, -3.0]])
    token = np.array([[EOS, TUER, IST, EOS, TUER, GROSS]])
    proposals = Proposals(score, token, np.arange(2), slots=2, options=3)
    waiting = np.array([True, False])
    assert proposals.best_ends_of_words(STARTS_A_WORD, waiting).tolist() == [[2, 4]]
    assert proposals.best_of_each().tolist() == [[1, 4]]


def test_candidates_that_are_none_are_left_out_where_they_are_many() -> None:
    score = np.array([[-1.0, *[-np.inf] * 6, -2.0], [*[-np.inf] * 5, -3.0, -np.inf, -np.inf]])
    numbers = np.arange(16).reshape(2, 8)
    narrow, slot, token, nodes = _leave_out_closed(score, numbers, numbers + 100, numbers + 200)
    assert narrow.tolist() == [[-1.0, -2.0], [-3.0, -np.inf]]
    assert slot.tolist() == [[0, 7], [13, 8]]
    assert (token - slot == 100).all()
    assert (nodes - slot == 200).all()


@pytest.mark.parametrize("score", [[[-1.0, -np.inf, -2.0]], [[-np.inf] * 3]])
def test_candidates_stay_as_they_are_where_few_or_all_are_none(score: list[list[float]]) -> None:
    numbers = np.arange(3)[None]
    given = np.array(score), numbers, numbers, numbers
    assert all(a is b for a, b in zip(_leave_out_closed(*given), given, strict=True))

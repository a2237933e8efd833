from __future__ import annotations

import pytest

from lexbeam.search.beam import Hypothesis
from lexbeam.text.phrases import Spelling
from lexbeam.text.sentence_splitter import Part
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spelled_prefix import SpelledPrefix

OPEN = SpelledPrefix((Spelling((3,), "a"), Spelling((3, 4), "ab")))


@pytest.mark.parametrize(
    ("prefix", "met", "is_free"),
    [
        (SpelledPrefix(), [], True),
        (SpelledPrefix(), [True], False),
        (OPEN, [True], True),  # That is the prefix.
        (OPEN, [True, True], False),
    ],
)
def test_a_sentence_is_free_if_nothing_but_its_prefix_was_demanded(
    prefix: SpelledPrefix, met: list[bool], is_free: bool
) -> None:
    sentence = SentenceState(Part("a", ""), (5,), prefix, [])
    sentence.take([Hypothesis([3, 4], -1.0, -2.0, met, True)], [])
    assert sentence.is_free is is_free

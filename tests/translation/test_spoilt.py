"""What is not searched for in another way, because it would be of no use or takes too long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from lexbeam.search.beam import Hypothesis
from lexbeam.translation.document import Document
from lexbeam.translation.effort import Effort
from lexbeam.translation.jobs import Job
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spoilt import is_spoilt, may_search_again


def searched(length: int, steps: int, is_free: bool = False) -> tuple[Document, SentenceState]:
    """Return a sentence of 6 tokens that has to say 3 and begins with 2."""
    spelling, longer = SimpleNamespace(ids=(1, 2, 3)), SimpleNamespace(ids=(1,) * 9)
    sentence = SimpleNamespace(
        source=(7,) * 6,
        best=Hypothesis([8] * length, -2.0, -60.0, [], True, steps=steps),
        is_free=is_free,
        searched=[],
        sought=[],
        assigned=[SimpleNamespace(unit=0, first=0, last=1)],
        prefix=SimpleNamespace(spellings=[SimpleNamespace(ids=(4, 5))]),
    )
    document = SimpleNamespace(
        demand=lambda _: SimpleNamespace(parts=((spelling, longer),)),
        job=lambda *_: Job((7,) * 6, ((1, 2, 3),)),
        effort=Effort(11, 10),
    )
    return cast("Document", document), cast("SentenceState", sentence)


@pytest.mark.parametrize(
    ("length", "steps", "spoilt"), [(20, 0, False), (24, 24, False), (25, 25, True), (10, 25, True)]
)
def test_what_takes_far_more_steps_than_source_and_demands_have_is_spoilt(
    length: int, steps: int, spoilt: bool
) -> None:
    given = searched(length, steps)
    assert is_spoilt(*given) == spoilt
    assert may_search_again(*given) != spoilt


def test_a_sentence_is_not_searched_again_when_much_has_been_searched() -> None:
    document, sentence = searched(20, 20)
    assert may_search_again(document, sentence)
    document.effort.written = 200.0
    assert not may_search_again(document, sentence)


def test_a_free_translation_that_ran_on_says_nothing_of_a_search_with_constraints() -> None:
    assert may_search_again(*searched(25, 25, is_free=True))

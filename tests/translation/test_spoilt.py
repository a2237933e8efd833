"""What is not searched for in another way, because the translation is of no use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from lexbeam.search.beam import Hypothesis
from lexbeam.translation.document import Document
from lexbeam.translation.repair import _is_worth_it
from lexbeam.translation.sentence import SentenceState
from lexbeam.translation.spoilt import is_spoilt

DRAFT = Hypothesis([7] * 6, -1.0, -6.0, [], True)


@pytest.mark.parametrize(
    ("length", "draft", "spoilt"),
    [(20, DRAFT, False), (30, DRAFT, False), (31, DRAFT, True), (99, None, False)],
)
def test_what_is_far_longer_than_draft_and_demands_is_spoilt(
    length: int, draft: Hypothesis | None, spoilt: bool
) -> None:
    spelling, longer = SimpleNamespace(ids=(1, 2, 3)), SimpleNamespace(ids=(1,) * 9)
    best = Hypothesis([8] * length, -2.0, -60.0, [], True, draft=draft)
    sentence = SimpleNamespace(
        best=best,
        searched=[],
        assigned=[SimpleNamespace(unit=0, first=0, last=1)],
        prefix=SimpleNamespace(spellings=[SimpleNamespace(ids=(4, 5))]),
    )
    document = SimpleNamespace(demand=lambda _: SimpleNamespace(parts=((spelling, longer),)))
    given = cast("Document", document), cast("SentenceState", sentence)
    assert is_spoilt(*given) == spoilt
    assert _is_worth_it(*given) != spoilt

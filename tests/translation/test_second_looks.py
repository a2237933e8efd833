"""Second looks are for terms in a sentence; what says much more than its source gets none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lexbeam.translation import second_looks
from lexbeam.translation.second_looks import is_worth_a_second_look


@pytest.fixture(autouse=True)
def may_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_looks, "may_search_again", lambda *_: True)


def looks_again(found: int, draft: int | None, source: int, forms: int, prefixes: int = 0) -> bool:
    """Return whether a sentence of so many tokens, with so many forms, is looked at again."""
    written = None if draft is None else SimpleNamespace(tokens=[0] * draft)
    sentence: Any = SimpleNamespace(
        best=SimpleNamespace(tokens=[0] * found, steps=0, draft=written),
        sought=[],
        source=(0,) * source,
        assigned=[SimpleNamespace(unit=0, first=0, last=1)],
        prefix=SimpleNamespace(spellings=[0] * prefixes),
    )
    document: Any = SimpleNamespace(
        demand=lambda _: SimpleNamespace(parts=([0] * forms, [0] * 999))
    )
    return is_worth_a_second_look(document, sentence)


@pytest.mark.parametrize(
    ("given", "worth"),
    [
        ({"found": 12, "draft": 10, "source": 10, "forms": 3}, True),
        ({"found": 32, "draft": 10, "source": 10, "forms": 3}, True),
        ({"found": 33, "draft": 10, "source": 10, "forms": 3}, False),
        ({"found": 33, "draft": None, "source": 10, "forms": 3}, True),
        ({"found": 12, "draft": 10, "source": 10, "forms": 160}, True),
        ({"found": 12, "draft": 10, "source": 10, "forms": 161}, False),
        ({"found": 12, "draft": 10, "source": 10, "forms": 60, "prefixes": 101}, False),
        ({"found": 3, "draft": 2, "source": 2, "forms": 128}, True),
        ({"found": 3, "draft": 2, "source": 2, "forms": 129}, False),
    ],
)
def test_what_is_worth_a_second_look(given: dict[str, Any], worth: bool) -> None:
    assert looks_again(**given) is worth


def test_what_may_not_be_searched_again_gets_no_second_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(second_looks, "may_search_again", lambda *_: False)
    assert not looks_again(found=12, draft=10, source=10, forms=3)

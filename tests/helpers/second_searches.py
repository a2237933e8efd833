"""Which sentences the search has searched again."""

from __future__ import annotations

from typing import Any

import pytest

from lexbeam.search import beam_search


@pytest.fixture
def searched_again(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The sentences that were searched again, once for each time."""
    calls: list[list[int]] = []
    search_again = beam_search._search_again

    def noted(batch: Any, asked: Any, drafted: Any, sentences: list[int], *others: Any) -> Any:
        calls.append(sentences)
        return search_again(batch, asked, drafted, sentences, *others)

    monkeypatch.setattr(beam_search, "_search_again", noted)
    return calls

from __future__ import annotations

from typing import Any

import pytest

from lexbeam.constraints.glossary import Glossary
from lexbeam.corpus.requests import request_key
from lexbeam.translation.asked import Asked
from lexbeam.translation.records import read_request

COMMON = Asked(["gato"], ["gata"], "O", Glossary.from_terms({"a": "b"}), ["numbers"]).request({})


def key(**record: Any) -> Any:
    return request_key(read_request({"text": "the cat", **record}, COMMON), COMMON)


@pytest.mark.parametrize(
    "other",
    [
        {"text": "the cats"},
        {"constraints": ["casa"]},
        {"constraints": [{"any": ["casa", "x"]}]},
        {"avoid": ["casa"]},
        {"prefix": "A"},
        {"glossary": {"a": "c"}},
        {"keep": ["urls"]},
        {"settings": {"beam_size": 3}},
    ],
)
def test_requests_that_ask_for_something_else_are_not_equal(other: dict[str, Any]) -> None:
    assert key(**other) == key(**other)
    assert key(**other) != key()
    assert key(constraints=["casa"]) != key(avoid=["casa"])


def test_fields_that_mean_nothing_make_no_difference() -> None:
    assert key(id=7) == key(id=8, constraints=[])

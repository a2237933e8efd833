from __future__ import annotations

import re
from typing import Any

import pytest

import lexbeam


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


@pytest.mark.parametrize(
    ("text", "asked", "phrase", "count"),
    [
        ("Come here. Go. Run.", ["Hand in Hand"], "Hand", 2),
        ("Come here. Go.", ["sehr sehr gut"], "sehr", 2),
        ("The song goes on. It is long.", ["na na na"], "na", 3),
        ("The song goes on. It is long.", [{"text": "na na", "count": 2}], "na", 3),
        ("Come here. Go.", [{"order": ["hin", "und", "und"]}], "und", 2),
        ("Come here. Go.", ["new york", "york city"], "york", 1),
        ("Come here. Go.", ["Hand in Hand", {"suffix": "Hand"}], "Hand", 2),
    ],
)
def test_what_is_limited_is_said_where_others_have_it(
    translator: lexbeam.Translator, text: str, asked: list[Any], phrase: str, count: int
) -> None:
    """Each was tried and placed by itself, and the request was refused."""
    result = translator.translate(text, [*asked, {"text": phrase, "exactly": count}])
    assert len(re.findall(rf"\b{phrase}\b", result.text, re.IGNORECASE)) == count
    assert all(report.met for report in result.constraints)

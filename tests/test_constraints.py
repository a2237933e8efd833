from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints import Constraints, quoted
from lexbeam.errors import ConstraintError


def test_phrases_are_cleaned() -> None:
    asked = Constraints.build([" no \n tapete "], avoid=["a\u00a0b", "a b"], prefix=" O  gato ")
    assert asked == Constraints(phrases=("no tapete",), avoid=("a b",), prefix="O gato")


def test_a_phrase_given_twice_stays_twice() -> None:
    assert Constraints.build(["a", "a"]).phrases == ("a", "a")


def test_nothing_asks_nothing() -> None:
    assert Constraints.build() == Constraints.build([], (), "") == Constraints()
    assert Constraints.from_json({"text": "x"}) == Constraints()


def test_from_json() -> None:
    record = {"text": "x", "constraints": ["gato"], "avoid": ["gata"], "prefix": "O"}
    assert Constraints.from_json(record) == Constraints(("gato",), ("gata",), "O")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"constraints": "gato"}, 'constraints must be a list of phrases, not the text "gato"'),
        ({"constraints": 7}, "constraints must be a list"),
        ({"constraints": {"gato": 1}}, "constraints must be a list"),
        ({"constraints": ["a", 7]}, r"constraints\[1\] must be text, not int"),
        ({"constraints": ["a", None]}, r"constraints\[1\] must be text"),
        ({"constraints": ["  \t\n"]}, r"constraints\[0\] is empty or only spaces"),
        ({"constraints": [""]}, r"constraints\[0\] is empty"),
        ({"avoid": ["\u3000"]}, r"avoid\[0\] is empty"),
        ({"constraints": ["a\0b"]}, r'constraints\[0\] "a\\0b" contains a NUL'),
        ({"constraints": ["a\ud800b"]}, "surrogate"),
        ({"prefix": ["O"]}, "prefix must be text, not list"),
        ({"prefix": "  "}, "prefix is empty"),
        ({"constraints": ["gato"], "avoid": ["gato"]}, '"gato" is avoided, but "gato" is demanded'),
        ({"constraints": ["o gato preto"], "avoid": ["gato"]}, '"o gato preto" is demanded'),
        ({"prefix": "o gato", "avoid": ["gato"]}, '"o gato" is demanded'),
    ],
)
def test_what_makes_no_sense_is_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_json(asked)


def test_an_avoided_word_may_be_part_of_a_demanded_one() -> None:
    assert Constraints.build(["gatos"], ["gato"]).avoid == ("gato",)


def test_long_phrases_are_quoted_short() -> None:
    assert len(quoted("x" * 5000)) < 80


@given(st.text())
def test_any_text_is_a_clean_phrase_or_an_error(phrase: str) -> None:
    try:
        (cleaned,) = Constraints.build([phrase]).phrases
    except ConstraintError as error:
        assert str(error).isprintable() or phrase  # noqa: PT017
        return
    assert cleaned == " ".join(cleaned.split()) != ""
    assert Constraints.build([cleaned]).phrases == (cleaned,)

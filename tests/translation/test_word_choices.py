from __future__ import annotations

import pytest

import lexbeam
from lexbeam.translation.translator import Translator


@pytest.fixture(scope="module")
def translator() -> Translator:
    return lexbeam.load("en-de")


def test_words_that_the_model_might_have_begun(translator: Translator) -> None:
    found = translator.word_choices.beginnings("The password is wrong.", "Das ", "Kennwort")
    assert found[0].text.startswith("Das Pass")
    assert [each.log_prob for each in found] == sorted(
        (each.log_prob for each in found), reverse=True
    )
    assert all(each.text.startswith("Das ") for each in found)
    assert not any("Das Kennwort".startswith(each.text) for each in found)


def test_the_first_word(translator: Translator) -> None:
    found = translator.word_choices.beginnings("Please enter your name.", "", "Bitte")
    assert "Geben" in [each.text for each in found]


def test_a_place_within_a_word_has_none(translator: Translator) -> None:
    assert translator.word_choices.beginnings("The password is wrong.", "Das Kenn", "wort") == []


def test_a_text_that_is_too_long_has_none(translator: Translator) -> None:
    assert translator.word_choices.beginnings("a b " * 5000, "Das ", "Kennwort") == []


def test_length(translator: Translator) -> None:
    assert translator.word_choices.length("Kennwort") == 1
    assert translator.word_choices.length(" ") == 0

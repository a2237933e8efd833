from __future__ import annotations

import pytest

import lexbeam


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("He said: «Settings»", "Einstellungen"),
        ("The option “Settings.”: see below", "Einstellungen"),
        ("The file contains A/Settings and A/table", "Einstellungen"),
        ("Use « Next », not the other one", "Extras"),
    ],
)
def test_a_word_of_the_free_translation_behind_a_mark_changes_nothing(
    translator: lexbeam.Translator, text: str, word: str
) -> None:
    free = translator.translate(text)
    assert word in free.text
    found = translator.translate(text, [word])
    assert (found.text, found.score) == (free.text, free.score)
    (report,) = found.constraints
    assert report.met
    assert report.span is not None
    assert found.text[slice(*report.span)] == word


def test_a_word_that_is_not_in_the_free_translation_is_searched_for(
    translator: lexbeam.Translator,
) -> None:
    text = 'Enter the "password" now.'
    assert "Passwort" not in translator.translate(text).text
    found = translator.translate(text, ["Passwort"])
    assert found.text == "Geben Sie jetzt das Passwort ein."
    assert found.constraints[0].met

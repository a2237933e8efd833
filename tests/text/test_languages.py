from __future__ import annotations

import pytest

from lexbeam.text.languages import language_code, same_language


@pytest.mark.parametrize(
    ("written", "code"),
    [("en", "en"), ("EN-us", "en-us"), ("pt_BR", "pt-br"), ("German", "de"), (" de ", "de")],
)
def test_languages_are_recognised(written: str, code: str) -> None:
    assert language_code(written) == code


@pytest.mark.parametrize("written", ["", "house", "xx", "e", "en us", "the", "en-"])
def test_other_words_are_not(written: str) -> None:
    assert language_code(written) is None


def test_the_same_region_is_preferred() -> None:
    assert same_language("pt-BR", {"pt-br", "pt-pt"}) == {"pt-br"}
    assert same_language("pt", {"pt-br", "pt-pt", "en"}) == {"pt-br", "pt-pt"}
    assert same_language("de-AT", {"de", "en"}) == {"de"}
    assert same_language("fr", {"de", "en"}) == set()

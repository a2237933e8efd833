from __future__ import annotations

import builtins
from typing import Any

import pytest

from lexbeam.errors import InputError, MissingExtraError
from lexbeam.text import inflection as lemmas
from lexbeam.text.inflection import MOST_FORMS, forms, lemma


def test_forms_of_a_noun() -> None:
    assert set(forms("Haus", "de")) == {"Haus", "Hause", "Hauses", "Häuser", "Häusern"}
    assert forms("Haus", "de")[0] == "Haus"


def test_an_inflected_form_stands_for_its_lemma() -> None:
    assert forms("Häuser", "de")[0] == "Häuser"
    assert set(forms("Häuser", "de")) == set(forms("Haus", "de"))


@pytest.mark.parametrize("written", ["haus", "fabrik"])
def test_a_german_noun_gets_its_capital(written: str) -> None:
    assert forms(written, "de") == forms(written.capitalize(), "de")


def test_a_capital_that_is_given_stays() -> None:
    assert set(forms("Houses", "en")) == {"House", "Houses", "Housed"}


def test_words_in_capitals_are_not_other_words() -> None:
    assert forms("IT", "en") == ("IT",)


def test_adjectives_have_no_capitals() -> None:
    assert {"schön", "schöne", "schönste"} < set(forms("schön", "de"))
    assert forms("schön", "de")
    assert all(form.islower() for form in forms("schön", "de"))


def test_participles_have_endings() -> None:
    assert {"schockiert", "schockierte", "schockierten"} <= set(forms("schockiert", "de"))


def test_half_of_a_compound_is_no_form() -> None:
    assert set(forms("Anwendung", "de")) == {"Anwendung", "Anwendungen"}


def test_an_unknown_compound_changes_like_its_last_part() -> None:
    assert "Quatschhäusern" in forms("Quatschhaus", "de")
    assert set(forms("E-Mail-Adresse", "de")) == {"E-Mail-Adresse", "E-Mail-Adressen"}
    assert forms("flurbhouse", "en") == ("flurbhouse",)


def test_plurals_that_the_dictionary_lacks_are_forms() -> None:
    assert set(forms("Typ", "de")) >= {"Typ", "Typs", "Typen"}
    assert forms("Typen", "de")[0] == "Typen"
    assert "Typ" in forms("Typen", "de")
    assert "Datentypen" in forms("Datentyp", "de")
    assert forms("Szenario", "de") == ("Szenario", "Szenarien", "Szenarios")
    assert forms("Szenarien", "de") == ("Szenarien", "Szenario", "Szenarios")


def test_an_unknown_word_gives_itself() -> None:
    assert forms("Xyzqv", "de") == ("Xyzqv", "Xyzqvs")
    assert forms("Xyzqx", "de") == ("Xyzqx",)
    assert forms("xyzqv", "de") == ("xyzqv",)
    assert forms("中国", "de") == ("中国",)
    assert forms("  ", "de") == ()


def test_adjective_and_noun_change_together() -> None:
    found = forms("künstliche Intelligenz", "de")
    assert {"künstliche Intelligenz", "künstlichen Intelligenz"} < set(found)
    assert "künstlich Intelligenz" not in found
    assert {"petits chats", "petites chats"} < set(forms("petit chat", "fr"))


def test_what_follows_a_preposition_stays() -> None:
    assert forms("Stand der Technik", "de")
    assert all(form.endswith(" der Technik") for form in forms("Stand der Technik", "de"))
    assert "Stands der Technik" in forms("Stand der Technik", "de")


def test_only_the_last_word_of_a_verb_or_an_english_term_changes() -> None:
    assert {form.split()[0] for form in forms("neu starten", "de")} == {"neu"}
    assert set(forms("new house", "en")) == {"new house", "new houses", "new housed"}


def test_a_term_never_has_too_many_forms() -> None:
    assert len(forms("beau grand petit vieux gros chat", "fr")) == MOST_FORMS


def test_languages_may_have_regions_and_other_names() -> None:
    assert forms("Haus", "de-AT") == forms("Haus", "de_CH") == forms("Haus", "DE")
    assert lemmas._code("no") == "nb"


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(InputError, match=r"'ja'.*there are .*de"):
        forms("a", "ja")
    with pytest.raises(InputError, match="None"):
        lemma("a", None)


def test_the_word_of_a_form() -> None:
    assert lemma("Häusern", "de") == "Haus"
    assert lemma("houses", "en") == "house"
    assert lemma(" ", "en") == " "


def test_without_simplemma_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.startswith("simplemma"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    lemmas._codes.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r'"lexbeam\[glossary\]"'):
        forms("Kaus", "de")
    with pytest.raises(MissingExtraError, match="glossary"):
        lemma("Haus", "de")


@pytest.mark.parametrize(
    ("term", "language"),
    [("mit der rechten Maustaste", "de"), ("em linha", "pt")],
)
def test_a_term_that_begins_with_a_preposition_stays_as_it_is(term: str, language: str) -> None:
    assert forms(term, language) == (term,)

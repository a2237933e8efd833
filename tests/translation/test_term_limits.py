from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import lexbeam
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.glossary import Glossary
from lexbeam.translation.term_limits import lift_limits, limit_terms


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def terms(*shapes: Any) -> Constraints:
    """Return terms of a source, each of which may occur as often as it must."""
    read = Constraints.build(list(shapes)).demanded
    return Constraints(
        tuple(replace(each, at_most=each.count, is_from_source=True) for each in read)
    )


def limits(demanded: Any) -> list[int | None]:
    return [each.at_most for each in demanded]


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (["gato", "tapete"], [1, 1]),
        (["gato", "gatos"], [1, 1]),
        (["gato", "gato"], [1, 1]),  # these count together
        (["gato", "o gato"], [None, 1]),
        ([{"any": ["gato", "tapete"]}, "tapete"], [None, None]),
        ([{"any": ["gato", "o gato"]}, "tapete"], [1, 1]),
        ([{"any": ["gato", "tapete"]}, {"text": "TAPETE", "case": "exact"}], [None, None]),
        ([{"order": ["<b>", "</b>"]}, "<b>", "</b>"], [1, 1, 1]),  # in their places
    ],
)
def test_terms_that_share_words_have_no_limit(shapes: list[Any], expected: list[Any]) -> None:
    asked = terms(*shapes)
    assert limits(limit_terms(asked.demanded, Constraints())) == expected
    assert limits(lift_limits(asked, "")) == expected


def test_in_several_sentences_nothing_stands_in_for_a_term() -> None:
    term = terms("gato").demanded
    for own in (Constraints.build(["o gato"]), Constraints.build(prefix="Gato ")):
        limited = limit_terms(term, own)
        assert limits(limited) == [1]
        both = Constraints((*own.demanded, *limited), prefix=own.prefix)
        assert limits(lift_limits(both, "cat"))[-1] is None


def test_what_a_caller_limits_stays_limited() -> None:
    asked = Constraints.build([{"text": "gato", "exactly": 1}, "o gato"], prefix="Gato ")
    assert limits(lift_limits(asked, "")) == [1, None]


@pytest.mark.parametrize(
    ("text", "entries", "options"),
    [
        ("Look here.\nBooks and the file.", {"file": "Datei"}, {"prefix": "Datei "}),
        (
            "The folder is empty. The directory is full.",
            {"folder": ["Ordner", "Verzeichnis"], "directory": "Ordner"},
            {},
        ),
        (
            "Close the window. Press the button.",
            {"window": ["Fenster", "Knopf"], "button": "Knopf"},
            {},
        ),
        ("Click here. %s", {"click": ["klicken", "%s"]}, {"keep": ["placeholders"]}),
        (
            "Close the file. Open the configuration file.",
            {"file": "Datei", "configuration file": "Datei zur Konfiguration"},
            {},
        ),
    ],
)
def test_terms_that_share_words_are_met(
    translator: lexbeam.Translator, text: str, entries: Any, options: Any
) -> None:
    result = translator.translate(text, glossary=Glossary.from_terms(entries), **options)
    assert all(report.met for report in result.constraints), result.text
    assert len(result.text) < 2 * len(text)


def test_each_of_two_terms_that_share_a_word_has_its_own(translator: lexbeam.Translator) -> None:
    glossary = Glossary.from_terms({"folder": ["Ordner", "Verzeichnis"], "directory": "Ordner"})
    result = translator.translate("The folder and the directory are full.", glossary=glossary)
    assert result.text.count("Ordner") == 2
    assert "Verzeichnis" not in result.text


def test_a_word_for_two_terms_in_one_sentence_is_said_twice(translator: lexbeam.Translator) -> None:
    glossary = Glossary.from_terms(
        {"file": "Datei", "configuration file": "Datei zur Konfiguration"}
    )
    result = translator.translate("Close the file and the configuration file.", glossary=glossary)
    assert result.text.count("Datei") == 2


def test_a_term_is_not_in_what_is_written_in_another_case() -> None:
    """Within a sentence *Das* is not *das*: what needs the one does not need the other."""
    term = terms("das").demanded
    large = Constraints.build([{"text": "Das Haus", "count": 2, "case": "exact"}])
    small = Constraints.build([{"text": "das Haus", "count": 2}])
    assert limits(limit_terms(term, large)) == [1]
    assert limits(limit_terms(term, small)) == [None]


@pytest.mark.parametrize(
    ("text", "keep", "asked"),
    [
        ("Open {a}. Close {b}.", "placeholders", [{"order": ["{b}", "{a}"]}]),
        ("Open {a}. Close {b}.", "placeholders", [{"suffix": "{a}"}]),
        ("Open {a}. Close {a}.", "placeholders", ["Datei {a}"]),
        ("Press <b>OK</b> or cancel.", "markup", [{"gap": ["<b>", "</b>"], "within": 1}]),
        ("Press <b>OK</b> or cancel.", "markup", [{"suffix": "</b>"}]),
    ],
)
def test_what_is_kept_stands_as_often_as_in_the_source(
    translator: lexbeam.Translator, text: str, keep: str, asked: list[Any]
) -> None:
    """What a caller asks for beside it has the same occurrences."""
    glossary = Glossary.from_terms({"OK": "Gut", "cancel": "Abbrechen"})
    result = translator.translate(text, asked, keep=[keep], glossary=glossary)
    assert all(report.met for report in result.constraints)
    for kept in ("{a}", "{b}", "<b>", "</b>"):
        assert result.text.count(kept) == text.count(kept)


def test_a_number_beside_quantities_is_kept(translator: lexbeam.Translator) -> None:
    text = "Add 5 km, 5 km, 5 m and 5 to 5 %."
    result = translator.translate(text, keep=["quantities", "numbers"])
    assert result.text.count("5") == 5
    assert all(report.met for report in result.constraints)


def test_a_term_that_a_mark_goes_on_elsewhere_has_a_place_of_its_own(
    translator: lexbeam.Translator,
) -> None:
    glossary = Glossary.from_terms({"button": "zu sein."})
    suffix = {"suffix": "zu sein.\u0301"}
    found = translator.translate("button.", [suffix], glossary=glossary, beam_size=1)
    assert [report.met for report in found.constraints] == [True, True]
    once = {"text": "zu sein.", "exactly": 1}
    assert translator.translate("button.", [suffix, once]).text.count("zu sein. ") == 1
    begun = translator.translate("button.", [once], prefix="zu sein.\u0301")
    assert begun.text.startswith("zu sein.\u0301")
    assert begun.text.count("zu sein.") == 2


@pytest.mark.parametrize("compounds", [False, True])
def test_a_term_does_not_drive_the_same_word_out_of_other_sentences(
    translator: lexbeam.Translator, compounds: bool
) -> None:
    """*Gebäude* translates *building*, too: it became *Gebäudebild*."""
    glossary = Glossary.from_terms({"house": "Gebäude"}, compounds=compounds)
    text = "The building is old.\nThe house is new."
    result = translator.translate(text, glossary=glossary)
    assert result.text == "Das Gebäude ist alt.\nDas Gebäude ist neu."
    (report,) = result.constraints
    assert report.span == (25, 32)


@pytest.mark.parametrize("nbest", [1, 2])
def test_a_term_is_in_its_own_sentence_though_a_caller_has_it_in_another(
    translator: lexbeam.Translator, nbest: int
) -> None:
    glossary = Glossary.from_terms({"house": "Gebäude"})
    text = "The building is old.\nThe house is new."
    asked = ["Das Gebäude ist alt"]
    result = translator.translate(text, asked, glossary=glossary, nbest=nbest)
    assert result.text == "Das Gebäude ist alt.\nDas Gebäude ist neu."
    assert [report.span for report in result.constraints] == [(0, 19), (25, 32)]


def test_a_limit_is_kept_where_something_soft_is_given_up(translator: lexbeam.Translator) -> None:
    """The sentence was searched again without what was soft, and said the word once more."""
    text = "Tom is happy with it.\nTom isn't happy to be here."
    asked: list[Any] = [{"text": "glücklich", "exactly": 1}, {"text": "Haus", "soft": 3}]
    result = translator.translate(text, asked)
    assert result.text.count("glücklich") == 1
    assert result.constraints[1].dropped

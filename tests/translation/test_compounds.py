"""Terms as parts of compounds, with the model that comes along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lexbeam
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import ConstraintError, InputError
from lexbeam.text.casing import matches

CONFIGURATION = "The configuration file of the NuGet package is missing."


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def compound(word: str, **more: Any) -> dict[str, Any]:
    return {"text": word, "compound": True, **more}


@pytest.mark.parametrize(
    ("source", "word", "form"),
    [
        (CONFIGURATION, "Datei", "datei"),
        ("The file system is full.", "Datei", "Datei"),
        ("Open the trace file.", "Datei", "datei"),
        ("The XPath expression is not valid.", "Ausdruck", "Ausdruck"),
    ],
)
def test_a_compound_stays_as_it_is(
    translator: lexbeam.Translator, source: str, word: str, form: str
) -> None:
    free = translator.translate(source).text
    found = translator.translate(source, constraints=[compound(word)])
    assert found.text == free
    report = found.constraints[0]
    assert report.met
    assert report.span is not None
    assert free[slice(*report.span)] == report.form == form


def test_a_word_behind_a_hyphen_needs_no_key(translator: lexbeam.Translator) -> None:
    source = "The XPath expression is not valid."
    free = translator.translate(source).text
    assert "XPath-Ausdruck" in free
    for word in ("Ausdruck", "XPath"):
        found = translator.translate(source, constraints=[word])
        assert found.text == free
    avoided = translator.translate(source, avoid=["Ausdruck"])
    assert not matches(avoided.text, "Ausdruck", "start")


def test_compounds_stand_beside_other_constraints(translator: lexbeam.Translator) -> None:
    asked: list[Any] = [compound("Datei"), "Paket"]
    found = translator.translate(CONFIGURATION, constraints=asked)
    assert "Konfigurationsdatei" in found.text
    assert all(report.met for report in found.constraints)
    # Whatever the search takes for a part of a compound, the text has to show.
    for options in ({"count": 2}, {"soft": 30.0}, {"count": 2, "soft": 50.0}, {"case": "any"}):
        found = translator.translate(CONFIGURATION, constraints=[compound("Datei", **options)])
        spans = matches(found.text, "Datei", "start", compound=True)
        assert found.constraints[0].met
        assert set(found.constraints[0].spans) <= set(spans)


def test_lines_together_and_alone_are_the_same(translator: lexbeam.Translator) -> None:
    sources = [CONFIGURATION, "The file system is full.", "The server must be restarted."]
    asked: list[Any] = [
        [compound("Datei"), "Paket"],
        [compound("System"), "voll"],
        [compound("Neustart")],
    ]
    together = translator.translate(sources, constraints=asked)
    alone = [translator.translate(s, constraints=c) for s, c in zip(sources, asked, strict=True)]
    assert [each.text for each in together] == [each.text for each in alone]


def test_what_is_avoided_is_avoided_in_compounds(translator: lexbeam.Translator) -> None:
    assert "Konfigurationsdatei" in translator.translate(CONFIGURATION, avoid=["Datei"]).text
    found = translator.translate(CONFIGURATION, avoid=[compound("Datei")])
    assert not matches(found.text, "Datei", "start", compound=True)
    assert found.unavoided == []
    with pytest.raises(ConstraintError, match='"Datei" is avoided, but "Dateisystem" is demanded'):
        translator.translate("x", constraints=["Dateisystem"], avoid=[compound("Datei")])


def test_glossaries_accept_compounds(translator: lexbeam.Translator, tmp_path: Path) -> None:
    source = "The error message is in the log file."
    terms = {"file": "Datei", "message": "Nachricht"}
    glossary = lexbeam.Glossary.from_terms(terms, compounds=True)
    found = translator.translate(source, glossary=glossary)
    assert "nachricht" in found.text.lower()
    assert "Protokolldatei" in found.text
    assert " Datei" not in found.text
    assert [report.met for report in found.constraints] == [True, True]
    path = tmp_path / "terms.csv"
    path.write_text("source,target,compound,status\nfile,Datei,yes,\nlog,Logbuch,,forbidden\n")
    demands = lexbeam.Glossary.load(path).find(source, "en", "de")
    assert demands.constraints == [compound("Datei")]
    assert demands.avoid == ["Logbuch"]
    assert lexbeam.Glossary.load(path).find(source, "en", "pt").constraints == ["Datei"]


def test_other_languages_have_no_compounds() -> None:
    with pytest.raises(ConstraintError, match=r"constraints\[0\].compound: pt does not write"):
        Constraints.build([compound("casa")], language="pt")
    glossary = lexbeam.Glossary.from_terms({"house": "casa"}, compounds=True)
    with pytest.raises(InputError, match="pt does not write compounds as one word"):
        glossary.prepare("en", "pt")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"exactly": 1}, '"exactly" and "compound"'),
        ({"at_most": 1}, '"at_most" and "compound"'),
        ({"compound": "yes"}, "compound must be true or false"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], error: str) -> None:
    with pytest.raises(ConstraintError, match=error):
        Constraints.build([{"text": "Datei", "compound": True} | options])
    off = Constraints.build([{"text": "Datei", "compound": False, "exactly": 1}])
    assert not off.demanded[0].compound


def test_compounds_are_not_avoided_one_by_one(translator: lexbeam.Translator) -> None:
    for word in ("Konfiguration", "Datei"):
        found = translator.translate(CONFIGURATION, avoid=[compound(word)])
        assert found.unavoided == []
        assert not matches(found.text, word, "start", compound=True)
    source = "The file system is full."
    assert "Datei" not in translator.translate(source, avoid=[compound("Datei")]).text


def test_what_was_found_by_chance_is_not_lost_when_a_term_is_given_up() -> None:
    """*wird* was in the output already, so that it was not searched for again without the term."""
    glossary = lexbeam.Glossary.from_terms({"file": ["Akte"], "water": ["Nass"]}, compounds=True)
    text = "more. Vancouver, and is file accessed via scheduled water taxis"
    result = lexbeam.load().translate(text, ["wird"], glossary=glossary)
    assert result.constraints[0].met

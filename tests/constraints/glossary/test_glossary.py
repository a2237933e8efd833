from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError, LexbeamError, SettingError

SETS = "en,de,pt-BR\nhouse,Haus,casa\ncat,Katze|Kater,gato\n"


@pytest.fixture
def sets(tmp_path: Path) -> Glossary:
    return Glossary.load(write(tmp_path, SETS))


def write(folder: Path, text: str, name: str = "terms.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_term_demands_its_translation_as_often_as_it_occurs() -> None:
    found = Glossary.from_terms({"house": "Haus"}).find("A house is a house.")
    assert found.constraints == ["Haus", "Haus"]
    assert [match.start for match in found.entries] == [2, 13]


def test_several_targets_are_alternatives() -> None:
    glossary = Glossary.from_terms({"factory": ["Fabrik", "Werk"]})
    assert glossary.find("a factory").constraints == [{"any": ["Fabrik", "Werk"]}]
    assert glossary.find("factory, factory").constraints == [
        {"any": ["Fabrik", "Werk"], "count": 2}
    ]


def test_synonyms_add_up() -> None:
    glossary = Glossary.from_terms({"car": "Auto", "automobile": "Auto"})
    assert glossary.find("the car, an automobile").constraints == ["Auto", "Auto"]


def test_forbidden_targets_are_avoided() -> None:
    glossary = Glossary.from_terms({"car": "Auto"}, forbidden={"car": ["Karre", "Kiste"]})
    found = glossary.find("The car.")
    assert (found.constraints, found.avoid) == (["Auto"], ["Karre", "Kiste"])
    assert glossary.find("The cat.").avoid == []


def test_what_one_entry_demands_another_cannot_forbid() -> None:
    glossary = Glossary.from_terms(
        {"car": "Auto", "car park": "Auto Park"}, forbidden={"bus": "Auto"}
    )
    assert glossary.find("a bus in a car park").avoid == []


def test_languages_are_chosen(sets: Glossary) -> None:
    assert sets.languages == ("de", "en", "pt-br")
    assert sets.find("the house", "en", "de").constraints == ["Haus"]
    assert sets.find("the house", "en-GB", "pt").constraints == ["casa"]
    assert sets.find("das Haus", "de", "en").constraints == ["house"]
    assert sets.find("der Kater", "de", "en").constraints == ["cat"]


def test_languages_that_are_missing_are_named(sets: Glossary) -> None:
    with pytest.raises(InputError, match=r"terms.csv has no terms in fr, only in de, en, pt-br"):
        sets.find("x", "en", "fr")
    with pytest.raises(InputError, match="which is the source language"):
        sets.find("x")


def test_languages_may_be_given_with_the_files(tmp_path: Path) -> None:
    glossary = Glossary.load(write(tmp_path, SETS), source="en", target="pt")
    assert glossary.find("the house").constraints == ["casa"]
    assert glossary.find("the house", target="de").constraints == ["Haus"]


def test_an_export_holds_in_its_direction_only(tmp_path: Path) -> None:
    glossary = Glossary.load(write(tmp_path, "gift,Geschenk,EN,DE\nGift,poison,DE,EN\n"))
    assert glossary.find("a gift", "en", "de").constraints == ["Geschenk"]
    assert glossary.find("das Gift", "de", "en").constraints == ["poison"]


def test_rows_for_the_same_term_are_alternatives(tmp_path: Path) -> None:
    glossary = Glossary.load(write(tmp_path, "factory,Fabrik\nfactory,Werk\n"))
    assert glossary.find("factory").constraints == [{"any": ["Fabrik", "Werk"]}]


def test_later_glossaries_win(tmp_path: Path) -> None:
    first = write(tmp_path, "factory,Fabrik\ncat,Katze\n", "a.csv")
    second = write(tmp_path, "factory\tWerk\n", "b.tsv")
    assert Glossary.load(first, second).find("factory cat").constraints == ["Werk", "Katze"]
    assert Glossary.load(second, first).find("factory cat").constraints == ["Fabrik", "Katze"]
    assert len(Glossary.load(first, second)) == 3


@pytest.mark.parametrize("name", ["terms.tbx", "terms.xml", "terms", "terms.martif"])
def test_a_term_base_is_recognised(tmp_path: Path, name: str) -> None:
    text = """<martif><text><body><termEntry>
        <langSet xml:lang="en"><tig><term>house</term></tig></langSet>
        <langSet xml:lang="de"><tig><term>Haus</term></tig></langSet>
        </termEntry></body></text></martif>"""
    assert Glossary.load(write(tmp_path, text, name)).find("house", "en", "de").constraints


def test_a_file_without_a_usable_entry_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'terms.csv has no entry that can be used: "a" has no'):
        Glossary.load(write(tmp_path, "a,\nb,\n"))
    with pytest.raises(InputError, match="No such file"):
        Glossary.load(tmp_path / "nothing")


def test_case(tmp_path: Path) -> None:
    path = write(tmp_path, "Purchase Order,Bestellung\nit,es\n")
    assert not Glossary.load(path).find("a purchase order").constraints
    assert Glossary.load(path, case="any").find("a purchase order").constraints == ["Bestellung"]
    assert not Glossary.load(path, case="exact").find("It").constraints


def test_by_lemma() -> None:
    glossary = Glossary.from_terms({"house": "Haus"}, {"house": "Gebäude"}, lemmas=True)
    found = glossary.find("three houses", "en", "de")
    (demanded,) = found.constraints
    assert {"Haus", "Häuser", "Häusern"} <= set(demanded["any"])
    assert {"Gebäude", "Gebäuden"} <= set(found.avoid)


def test_by_lemma_on_one_side() -> None:
    terms = {"house": "Haus"}
    source = Glossary.from_terms(terms, lemmas="source").find("houses", "en", "de")
    target = Glossary.from_terms(terms, lemmas="target")
    assert source.constraints == ["Haus"]
    assert not target.find("houses", "en", "de").constraints
    assert target.find("house", "en", "de").constraints[0]["any"][0] == "Haus"


def test_lemmas_need_languages() -> None:
    glossary = Glossary.from_terms({"house": "Haus"}, lemmas=True)
    with pytest.raises(InputError, match="source language must be known"):
        glossary.find("house")
    with pytest.raises(InputError, match="target language must be known"):
        glossary.find("house", "en")


@pytest.mark.parametrize("options", [{"case": "loud"}, {"lemmas": "yes"}])
def test_unknown_settings_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match=r"loud|yes"):
        Glossary.from_terms({"a": "b"}, **options)


@pytest.mark.parametrize(
    "terms", [{"": "a"}, {"a": " "}, {"a": ["b", None]}, {"a": "b\0"}, {"a": 1}, 1]
)
def test_terms_must_be_text(terms: Any) -> None:
    with pytest.raises(InputError, match=r"must be a text|NUL|must be a mapping"):
        Glossary.from_terms(terms)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda one: one.find(1), "looked for in a text, not in 1"),
        (lambda one: one.find(b"a", "en", "de"), "looked for in a text"),
        (lambda one: one.find("a", 1), "source must be a language, not 1"),
        (lambda one: one.check("en", {}), "target must be a language"),
        (lambda one: one.prepare(target=5), "target must be a language, not 5"),
        (lambda one: one.overridden_by({"a": "b"}), "overridden by another, not"),
    ],
)
def test_what_a_glossary_is_asked_for_must_be_of_the_right_kind(
    call: Callable[[Glossary], object], says: str
) -> None:
    with pytest.raises(LexbeamError, match=says):
        call(Glossary.from_terms({"a": "b"}))


def test_problems_are_kept(tmp_path: Path) -> None:
    glossary = Glossary.load(write(tmp_path, "a,b\nc\n"))
    (problem,) = glossary.problems
    assert str(problem).endswith('terms.csv:2: error: "c" has no target term')

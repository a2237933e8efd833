"""Parts of compounds in a text, against a regular expression; and what pieces say of them."""

from __future__ import annotations

import re
from random import Random

import pytest

from lexbeam.search.automaton import whole_words
from lexbeam.text import compounds
from lexbeam.text.casing import Case, matches

LETTER = "[^\\W\\d_]"


def by_regex(text: str, phrase: str, case: Case) -> list[tuple[int, int]]:
    """Find a phrase as a word, or as a part of a compound, in another way."""
    small, large = phrase[0].lower() + phrase[1:], phrase[0].upper() + phrase[1:]
    firsts = {phrase, phrase if case == "exact" or phrase[0].isupper() else large}
    lasts = {phrase, small}
    flags = re.IGNORECASE if case == "any" else 0
    first = "|".join(sorted(map(re.escape, firsts)))
    last = "|".join(sorted(map(re.escape, lasts)))
    word = re.escape(phrase)
    found = {m.span() for m in re.finditer(rf"(?<!\w)(?:{word})(?!\w)", text, flags)}
    if sum(c.isalpha() for c in phrase) >= 3:
        behind = rf"(?={LETTER}{{3}}|{LETTER}{{1,2}}-)"
        found |= {m.span() for m in re.finditer(rf"(?<!\w)(?:{first}){behind}", text, flags)}
        found |= {
            m.span() for m in re.finditer(rf"(?<={LETTER}{{3}})(?:{last})(?!\w)", text, flags)
        }
    if sum(c.isalpha() for c in phrase) >= 5:
        middle = rf"(?<={LETTER}{{3}})(?:{last}){behind}"
        found |= {m.span() for m in re.finditer(middle, text, flags)}
    return sorted(found)


@pytest.mark.parametrize("case", ["exact", "any"])
def test_compounds_are_found_as_a_regular_expression_finds_them(case: Case) -> None:
    random = Random(5)
    pieces = ["Datei", "datei", "DATEI", "s", "en", "name", "Konfig", " ", "-", ".", "2", "_", "Öl"]
    found = 0
    for _ in range(3000):
        text = "".join(random.choices(pieces, k=random.randint(1, 5)))
        phrase = random.choice(("Datei", "datei", "Öl", "s", "Datei name"))
        expected = by_regex(text, phrase, case)
        assert matches(text, phrase, case, (), compound=True) == expected, (text, phrase)
        found += len(expected)
    assert found > 200


@pytest.mark.parametrize(
    ("text", "phrase", "written"),
    [
        ("das Dateisystem", "Datei", ["Datei"]),
        ("die Konfigurationsdatei", "Datei", ["datei"]),
        ("der Arbeitsplatz", "Arbeit", ["Arbeit"]),
        ("XPath-Ausdruck", "Ausdruck", ["Ausdruck"]),
        ("Datei, Dateidatei", "Datei", ["Datei", "Datei", "datei"]),
        ("ein Softwarepaket", "software", ["Software"]),
        ("die Dateien der Dateis", "Datei", []),
        ("der Systemdateiname", "Datei", ["datei"]),
        ("die Berichtsserverinstanz", "Server", ["server"]),
        ("alle Auswertungen", "Wert", []),
        ("die Anwendungs-ID", "Anwendung", ["Anwendung"]),
        ("Anwendungs- und Dienstname", "Anwendung", ["Anwendung"]),
        ("eine Zeilenversions-Spalte", "Version", ["version"]),
        ("Dateisys-Test, Dateis_-, Datei--s-", "Datei", ["Datei", "Datei"]),
        ("Datei_name, Datei2000, Xdatei", "Datei", []),
        ("der Ölfilter", "Filter", []),
        ("Öldose", "Öl", []),
        ("eine Papi, die Therapie", "API", []),
    ],
)
def test_what_is_part_of_a_compound(text: str, phrase: str, written: list[str]) -> None:
    spans = matches(text, phrase, "start", compound=True)
    assert [text[slice(*span)] for span in spans] == written


def test_pieces_say_how_they_join_words() -> None:
    written = ["", " Datei", "datei", "s", "en", "-Datei", "sys.", " Öl", "2abc", "数据库", "ab1"]
    short, long, ends = compounds.SHORT, compounds.LONG, compounds.ENDS
    flags = compounds.joining_flags(written, len(written) + 1).tolist()
    assert flags == [0, ends, long | ends, short, short, ends, long, 0, ends, 0, 0, 0]
    assert (short, long, ends) == (whole_words.SHORT, whole_words.LONG, whole_words.ENDS)


def test_languages_with_compounds() -> None:
    known = {code: compounds.has_compounds(code) for code in ("de", "de-AT", "nl", "pt", None)}
    assert known == {"de": True, "de-AT": True, "nl": True, "pt": False, None: True}


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("Debuggen", "Debug"),
        ("Drucken", "Druck"),
        ("Laden", "Lad"),
        ("Erstellen", "Erstell"),
        ("Datei", ""),
        ("debuggen", ""),
        ("XMLen", ""),
        ("Aen", ""),
    ],
)
def test_the_stem_of_an_infinitive(word: str, stem: str) -> None:
    assert compounds.stem_of_infinitive(word) == stem


@pytest.mark.parametrize(
    ("word", "may_be"),
    [("Datei", True), ("Dateien", True), ("Informationen", False), ("Nr.", False), ("Ab", False)],
)
def test_some_plurals_are_only_last_in_compounds(word: str, may_be: bool) -> None:
    assert compounds.may_be_first(word) == may_be

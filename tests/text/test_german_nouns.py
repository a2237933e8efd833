"""Gender, case and number of German nouns."""

from __future__ import annotations

import pytest

from lexbeam.text.german_nouns import (
    ACCUSATIVE,
    ALL,
    CASES,
    DATIVE,
    GENITIVE,
    NOMINATIVE,
    PLURAL,
    readings_of_noun,
)

BASE = NOMINATIVE, ACCUSATIVE, DATIVE
NOT_DATIVE = NOMINATIVE, ACCUSATIVE, GENITIVE


@pytest.mark.parametrize(
    ("noun", "readings"),
    [
        ("Vorfall", [(case, "m") for case in BASE]),
        ("Vorfalls", [(GENITIVE, "m")]),
        ("Vorfalle", [(DATIVE, "m")]),
        ("Vorfälle", [(case, PLURAL) for case in NOT_DATIVE]),
        ("Vorfällen", [(DATIVE, PLURAL)]),
        ("Verzeichnis", [(case, "n") for case in BASE]),
        ("Verzeichnisses", [(GENITIVE, "n")]),
        ("Verzeichnisse", [(case, PLURAL) for case in NOT_DATIVE]),
        ("Verzeichnissen", [(DATIVE, PLURAL)]),
        ("Ausfallumschaltung", [(case, "f") for case in CASES]),
        ("Optionen", [(case, PLURAL) for case in CASES]),
        ("Softwarepaketen", [(DATIVE, PLURAL)]),
        ("SQL-Programm", [(case, "n") for case in BASE]),
        ("Benutzers", [(GENITIVE, "m")]),
        ("Benutzern", [(DATIVE, PLURAL)]),
        ("Benutzer", [*((c, "m") for c in BASE), *((c, PLURAL) for c in NOT_DATIVE)]),
        ("Dokumente", [(case, PLURAL) for case in NOT_DATIVE]),
        ("Tasks", [(GENITIVE, "m"), *((case, PLURAL) for case in CASES)]),
    ],
)
def test_what_a_form_may_be(noun: str, readings: list[tuple[int, str]]) -> None:
    assert readings_of_noun(noun) == set(readings)


def test_what_is_not_known_may_be_all_that_its_ending_allows() -> None:
    assert readings_of_noun("Xyzn") == ALL
    assert readings_of_noun("Xyz") == ALL - {(DATIVE, PLURAL)}


def test_the_end_of_a_word_need_not_be_its_last_part() -> None:
    """A *Systemverwalter* has nothing to do with *das Alter*."""
    genders = {kind for _, kind in readings_of_noun("Systemverwalter")}
    assert "m" in genders
    assert "f" not in genders


def test_forms_show_the_gender() -> None:
    forms = ("Dialogqux", "Dialogquxen")
    assert readings_of_noun("Dialogqux", forms) == {(case, "f") for case in CASES}
    assert readings_of_noun("Sprachdialogquxen", forms) == {(case, PLURAL) for case in CASES}
    forms = ("Quxa", "Quxas")
    assert {kind for _, kind in readings_of_noun("Quxa", forms)} == {"m", "n"}
    assert readings_of_noun("Quxa", ("Quxa",)) == readings_of_noun("Quxa")

"""The forms of German words beside a noun."""

from __future__ import annotations

import pytest

from lexbeam.text.agreement import (
    forms_before_noun,
    forms_in_number,
    forms_of_relative,
    has_agreement,
    is_determiner,
)


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("der", "die"),
        ("mit dem neuen", "mit der neuen"),
        ("eine neue", "ein neues"),
        ("im", "in der"),
        ("in der alten", "im alten"),
        ("zur", "zum"),
        ("Diese", "Dieses"),
        ("jedes neue große", "jeder neue große"),
        ("jedes neue große", "jedem neuen großen"),
    ],
)
def test_words_have_the_forms_that_another_noun_may_need(words: str, form: str) -> None:
    found = forms_before_noun(words.split())
    assert found[0] == words.split()
    assert form.split() in found


def test_other_words_stay() -> None:
    assert forms_before_noun([]) == [[]]
    assert forms_before_noun(["und", "für"]) == [["und", "für"]]
    assert all(form[0] == "mit" for form in forms_before_noun(["mit", "dem"]))


def test_nouns_are_in_one_number() -> None:
    forms = ("Ablauf", "Ablaufe", "Ablaufs", "Abläufe", "Abläufen")
    assert forms_in_number(forms, is_other=False) == ["Ablauf", "Ablaufe", "Ablaufs"]
    assert forms_in_number(forms, is_other=True) == ["Abläufe", "Abläufen"]
    assert forms_in_number(("Aufgabe", "Aufgaben"), is_other=True) == ["Aufgaben"]
    assert forms_in_number(("Pakete", "Paket", "Pakets", "Paketen"), is_other=False) == [
        "Pakete",
        "Paketen",
    ]
    both = ["Anwender", "Anwendern", "Anwenders"]
    assert forms_in_number(both, is_other=True) == both
    assert forms_in_number(["Daten"], is_other=True) == ["Daten"]


def test_relative_pronouns_have_forms() -> None:
    assert forms_of_relative("der", ["Xyz"]) == ["der", "die", "das"]
    assert forms_of_relative("dessen", ["Xyz"]) == ["dessen", "deren"]
    assert forms_of_relative("weil", ["Xyz"]) == []
    assert forms_of_relative("die", ["Modul"]) == ["das"]
    assert forms_of_relative("die", ["Ordner"]) == ["die", "der", "den"]
    assert forms_of_relative("das", ["Einstellung", "Programm"]) == ["das", "der", "die"]


def test_only_german_is_known() -> None:
    assert has_agreement("de")
    assert has_agreement("de-AT")
    assert not has_agreement("pt")
    assert not has_agreement(None)
    assert is_determiner("Ihrer")
    assert not is_determiner("neuer")

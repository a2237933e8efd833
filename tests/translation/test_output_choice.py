"""Which of several outputs is taken."""

from __future__ import annotations

import pytest

import lexbeam
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.output_choice import Output, choose, is_better


def _output(text: str, as_given: float, as_read: float) -> Output:
    hypothesis = Hypothesis([], as_given, as_given, [], finished=True)
    return Output(hypothesis, text, as_given, as_read)


def _has_term(word: str) -> bool:
    return "Programm" in word


def test_what_both_sources_find_more_probable_is_taken() -> None:
    old = _output("Das Programm läuft.", -0.8, -0.5)
    better, worse = _output("a", -0.87, -0.3), _output("b", -0.87, -0.46)
    assert is_better(better, old)
    assert not is_better(worse, old)
    assert choose(old, [worse, better], _has_term) is better
    assert choose(old, [worse], _has_term) is old


def test_what_forgets_the_given_source_is_not_taken() -> None:
    old = _output("Das Programm läuft.", -0.8, -0.5)
    assert not is_better(_output("a", -0.9, -0.1), old)
    assert is_better(_output("a", -0.9, -0.1), old, has_same_forms=False)
    assert not is_better(_output("a", -1.0, -0.1), old, has_same_forms=False)


def test_what_has_two_spaces_in_a_row_is_not_taken() -> None:
    old, better = _output("Programm", -0.8, -0.5), _output("Programm  da", -0.8, -0.1)
    assert choose(old, [better], _has_term) is old
    assert choose(old, [better._replace(text="Programm da")], _has_term) is not old


def test_another_form_of_the_term_may_cost_more() -> None:
    old = _output("Die Daten der Programme sind da.", -0.8, -0.5)
    other = _output("Die Daten des Programms sind da.", -0.9, -0.1)
    assert choose(old, [other], _has_term) is other
    same = _output("Daten der Programme sind da.", -0.9, -0.1)
    assert choose(old, [same], _has_term) is old


@pytest.mark.parametrize(
    ("chosen", "other", "is_taken"),
    [
        ("Der Programm läuft.", "Das Programm läuft.", True),
        ("Er hat einen neuen Programm.", "Er hat eine neues Programm.", True),
        ("Er hat ein gutes Programm.", "Er hat ein tolles Programm.", False),
        ("Programm der Firma.", "Programm die Firma.", False),  # behind the term
        ("Der Programm läuft.", "Die Programme läuft.", False),  # another form
        ("Der Programm läuft.", "Programm läuft.", False),  # another number of words
    ],
)
def test_articles_before_terms_are_those_of_the_given_source(
    chosen: str, other: str, is_taken: bool
) -> None:
    old = _output("Das ist nicht hier.", -0.85, -1.0)
    found = [_output(chosen, -0.85, -0.1), _output(other, -0.8, -0.9)]
    assert choose(old, found, _has_term) is found[is_taken]


@pytest.mark.parametrize(
    ("chosen", "other", "is_taken"),
    [
        ("Das Programm wurde beendet.", "Das Programm wurden beendet.", True),
        ("Das Programm ist da.", "Das Programm war da.", False),
        ("Das neue Programm ist da.", "Das neuen Programm ist da.", False),
        ("Das Programm wurde beendet.", "Das Programm wurden gestoppt.", False),
    ],
)
def test_endings_behind_terms_are_those_of_the_source_with_terms(
    chosen: str, other: str, is_taken: bool
) -> None:
    old, found = _output(chosen, -0.8, -0.5), _output(other, -0.99, -0.45)
    assert choose(old, [found], _has_term) is (found if is_taken else old)
    too_bad = _output(other, -1.2, -0.45)
    assert choose(old, [too_bad], _has_term) is old


def test_the_verb_agrees_with_its_subject_and_not_with_the_term() -> None:
    text = "The settings of the application were saved."
    glossary = lexbeam.Glossary.from_terms({"application": "Programm"})
    found = lexbeam.load().translate(text, glossary=glossary).text
    assert "Einstellungen" in found
    assert "wurden" in found

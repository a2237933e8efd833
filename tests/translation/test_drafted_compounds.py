"""Terms that a draft has as parts of compounds."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lexbeam
from lexbeam.translation import drafted_compounds


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def test_a_copy_that_no_draft_says_is_said(translator: lexbeam.Translator) -> None:
    glossary = lexbeam.Glossary.from_terms({"report": "Bericht"}, compounds=True)
    text = "The report has a report title, and this report is old."
    result = translator.translate(text, glossary=glossary)
    report = result.constraints[0]
    assert report.met or report.dropped
    assert translator.translate([text, text], glossary=glossary)[1].text == result.text


def test_a_free_translation_that_has_all_compounds_is_taken_as_it_is(
    translator: lexbeam.Translator,
) -> None:
    source = "Name of the instance of the class being traced."
    glossary = lexbeam.Glossary.from_terms({"instance": "Instanz"}, compounds=True)
    free = translator.translate(source)
    assert "Instanz" in free.text
    with_glossary = translator.translate(source, glossary=glossary)
    assert with_glossary.text == free.text
    assert with_glossary.score == pytest.approx(free.score)
    assert with_glossary.constraints[0].met


PROMPT = "Run the program from the command prompt."


def test_a_term_is_not_torn_out_of_one_word_for_two(translator: lexbeam.Translator) -> None:
    terms = {"command": "Befehl"}
    free = translator.translate(PROMPT).text
    assert "Eingabeaufforderung" in free
    glossary = lexbeam.Glossary.from_terms(terms, compounds=True)
    left = translator.translate(PROMPT, glossary=glossary)
    assert "Eingabeaufforderung" in left.text
    assert [(each.met, each.dropped) for each in left.constraints] == [(False, True)]
    # It is left to the model, not moved into another sentence.
    both = translator.translate(f"{PROMPT} Then close the window.", glossary=glossary)
    assert "Befehl" not in both.text
    # Without compounds a term is a term.
    firm = translator.translate(PROMPT, glossary=lexbeam.Glossary.from_terms(terms))
    assert firm.constraints[0].met
    # And what a caller demands himself is never let go of.
    asked = {"text": "Befehl", "source": "command", "compound": True}
    assert translator.translate(PROMPT, [asked]).constraints[0].met


def test_a_term_in_a_compound_of_the_draft_is_not_left(translator: lexbeam.Translator) -> None:
    glossary = lexbeam.Glossary.from_terms({"database": "Datenbank"}, compounds=True)
    result = translator.translate("Start the database server.", glossary=glossary)
    assert result.text == translator.translate("Start the database server.").text
    assert [(each.met, each.dropped) for each in result.constraints] == [(True, False)]


def test_of_a_term_that_the_draft_says_once_a_second_one_may_be_left(
    translator: lexbeam.Translator,
) -> None:
    text = "The log file and the file name are stored in a file."
    glossary = lexbeam.Glossary.from_terms({"file": "Datei"}, compounds=True)
    result = translator.translate(text, glossary=glossary)
    assert [each.met or each.dropped for each in result.constraints] == [True] * 3
    assert result.constraints[0].met
    # What is met comes first, whichever of them was let go of.
    met = [each.met for each in result.constraints]
    assert met == sorted(met, reverse=True)


PRINTING = "The printing job was cancelled."


def test_an_infinitive_is_not_forced_into_a_compound_that_has_its_stem(
    translator: lexbeam.Translator,
) -> None:
    terms = {"printing": "Drucken"}
    free = translator.translate(PRINTING).text
    assert "Druckauftrag" in free
    glossary = lexbeam.Glossary.from_terms(terms, compounds=True)
    left = translator.translate(PRINTING, glossary=glossary)
    assert left.text == free
    (report,) = left.constraints
    assert (report.met, report.dropped, report.reason) == (False, True, drafted_compounds.REASON)
    # Where the draft has no compound with it, the term is said.
    said = translator.translate("The printing of books is expensive.", glossary=glossary)
    assert said.constraints[0].met
    # Without compounds a term is a term, and so is what a caller demands himself.
    firm = translator.translate(PRINTING, glossary=lexbeam.Glossary.from_terms(terms))
    assert firm.constraints[0].met
    asked = {"text": "Drucken", "source": "printing", "compound": True}
    assert translator.translate(PRINTING, [asked]).constraints[0].met


def test_nothing_is_unsaid_that_a_word_of_the_draft_attends_to() -> None:
    attention = np.array([[0.8, 0.2, 0.0], [0.1, 0.25, 0.65]], np.float32)
    words = [(0, 1), (1, 2)]
    assert drafted_compounds._is_unsaid(attention, words, [1])
    assert not drafted_compounds._is_unsaid(attention, words, [2])
    assert not drafted_compounds._is_unsaid(attention, words, [1, 2])


@dataclass(frozen=True)
class _Asked:
    soft: float | None = None
    left_because: str | None = None


@dataclass(frozen=True)
class _Demand:
    name: str
    surface: str = "term"
    asked: _Asked = _Asked()


def _document(units: list[int], names: str, surfaces: str = "") -> Any:
    each = zip(names, surfaces or "t" * len(names), strict=True)
    demands = [_Demand(name, surface) for name, surface in each]

    def demand(unit: int) -> _Demand:
        return demands[units[unit]]

    return SimpleNamespace(
        units=units,
        demands=demands,
        demand=demand,
        is_soft=lambda unit: demand(unit).asked.soft is not None,
    )


def test_units_that_are_left_become_soft_and_stand_behind_the_others() -> None:
    document = _document([0, 1, 2], "abc")
    drafted_compounds.soften(document, {0}, 2.0)
    assert document.units == [2, 0, 1]
    assert [demand.name for demand in document.demands] == ["b", "c", "a"]
    assert [demand.asked.soft for demand in document.demands] == [None, None, 2.0]
    # Those of another sentence, left before, stay behind.
    drafted_compounds.soften(document, {1}, 0.0, "why")
    assert [demand.name for demand in document.demands] == ["c", "a", "b"]
    assert [demand.asked.left_because for demand in document.demands] == [None, None, "why"]


def test_other_terms_stay_where_they_are() -> None:
    document = _document([0, 1, 2], "abc", "tut")
    drafted_compounds.soften(document, {0}, 2.0)
    assert [demand.name for demand in document.demands] == ["c", "b", "a"]
    assert document.units == [2, 1, 0]


def test_one_constraint_that_is_wanted_several_times_is_left_as_it_is() -> None:
    document = _document([0, 0], "a")
    drafted_compounds.soften(document, {0}, 2.0)
    assert document.units == [0, 0]
    assert document.demands[0].asked.soft is None


def test_a_term_that_a_draft_never_says_is_demanded_all_the_same(
    translator: lexbeam.Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafted_compounds, "_is_unsaid", lambda *_: True)
    monkeypatch.setattr(drafted_compounds, "_is_joined", lambda *_: False)
    glossary = lexbeam.Glossary.from_terms({"car": "Donaudampfschiff"}, compounds=True)
    result = translator.translate("The car is new.", glossary=glossary)
    assert [(each.met, each.dropped) for each in result.constraints] == [(True, False)]

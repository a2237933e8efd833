"""Terms that a draft has as parts of compounds."""

from __future__ import annotations

import pytest

import lexbeam


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

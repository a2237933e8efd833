"""Terms for which a free translation has no word."""

from __future__ import annotations

import pytest

import lexbeam
from lexbeam.translation import unsaid_terms

COSTLY = (
    "If the problem continues, check the {0} for solutions or contact your organization's "
    "{#Brand_CRM} Administrator."
)
CHEAP = (
    "The report that is created by using the following code will use the parameters that are "
    "associated with an Object Explorer node."
)


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def test_what_costs_much_is_left_out(translator: lexbeam.Translator) -> None:
    glossary = lexbeam.Glossary.from_terms({"organization": "Organisation"}, compounds=True)
    result = translator.translate(COSTLY, glossary=glossary)
    assert result.text == translator.translate(COSTLY).text
    [report] = result.constraints
    assert (report.met, report.dropped, report.reason) == (False, True, unsaid_terms.REASON)


def test_what_was_just_missing_is_said(translator: lexbeam.Translator) -> None:
    glossary = lexbeam.Glossary.from_terms({"node": "Knoten"}, compounds=True)
    result = translator.translate(CHEAP, glossary=glossary)
    assert "Objekt-Explorer-Knoten" in result.text
    assert result.constraints[0].met


def test_what_a_caller_demands_is_never_left_out(translator: lexbeam.Translator) -> None:
    asked = {"text": "Organisation", "source": "organization", "compound": True}
    assert translator.translate(COSTLY, [asked]).constraints[0].met


def test_terms_that_may_not_be_in_compounds_are_never_left_out(
    translator: lexbeam.Translator,
) -> None:
    glossary = lexbeam.Glossary.from_terms({"organization": "Organisation"})
    assert translator.translate(COSTLY, glossary=glossary).constraints[0].met

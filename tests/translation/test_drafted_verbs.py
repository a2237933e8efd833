"""Nouns of a glossary whose sources are verbs."""

from __future__ import annotations

from typing import Any

import pytest

import lexbeam
from lexbeam.translation import drafted_verbs

TEXT = "The type of subscription you choose controls where the agent runs."


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def _glossary(**options: Any) -> lexbeam.Glossary:
    return lexbeam.Glossary.from_terms({"controls": "Steuerelemente"}, **options)


@pytest.mark.parametrize("compounds", [False, True])
def test_a_noun_is_left_out_where_the_draft_has_a_verb(
    translator: lexbeam.Translator, compounds: bool
) -> None:
    free = translator.translate(TEXT).text
    assert "steuert" in free
    result = translator.translate(TEXT, glossary=_glossary(compounds=compounds))
    assert result.text == free
    [report] = result.constraints
    assert (report.met, report.dropped, report.reason) == (False, True, drafted_verbs.REASON)
    assert report.sources == ((36, 44),)
    assert report.to_dict()["reason"] == drafted_verbs.REASON


def test_prices_and_alternatives_do_not_need_it(translator: lexbeam.Translator) -> None:
    result = translator.translate(TEXT, glossary=_glossary(), nbest=3, prices=True)
    assert len(result.nbest) == 3
    [report] = result.constraints
    assert (report.reason, report.price) == (drafted_verbs.REASON, None)


def test_a_noun_is_demanded_for_a_verb_on_request(translator: lexbeam.Translator) -> None:
    assert translator.translate(TEXT, glossary=_glossary(verbs=True)).constraints[0].met


def test_what_a_caller_demands_is_never_left_out(translator: lexbeam.Translator) -> None:
    asked = {"text": "Steuerelemente", "source": "controls"}
    assert translator.translate(TEXT, [asked]).constraints[0].met
    both = translator.translate(TEXT, [asked], glossary=_glossary())
    assert [each.met for each in both.constraints] == [True]


@pytest.mark.parametrize("compounds", [False, True])
def test_the_noun_beside_the_verb_is_demanded(
    translator: lexbeam.Translator, compounds: bool
) -> None:
    text = "This setting controls access. The controls are in the window."
    for source in (text, text.replace(". The", ", and the")):
        result = translator.translate(source, glossary=_glossary(compounds=compounds))
        assert "Steuerelemente" in result.text
        firm, left = result.constraints
        assert firm.met
        assert firm.reason is None
        assert firm.sources == ((34, 42) if ". The" in source else (38, 46),)
        assert left.reason == drafted_verbs.REASON
        assert left.sources == ((13, 21),)


def test_other_terms_are_demanded(translator: lexbeam.Translator) -> None:
    terms = {"controls": "Steuerelemente", "agent": "Vertreter"}
    result = translator.translate(TEXT, glossary=lexbeam.Glossary.from_terms(terms))
    assert {each.text: each.met for each in result.constraints} == {
        "Vertreter": True,
        "Steuerelemente": False,
    }


@pytest.mark.parametrize(
    ("said", "is_verb"),
    [
        ([(0.9, "steuert")], True),
        ([(0.9, "steuert"), (0.7, "die")], True),
        ([(0.9, "steuert"), (0.1, "Steuerung")], True),
        ([(0.9, "steuert"), (0.4, "Steuerung")], False),
        ([(0.9, "Steuerung")], False),
        ([(0.9, "controls")], False),  # it is copied
        ([(0.9, "die")], False),
        ([(0.2, "steuert")], False),
        ([], False),
    ],
)
def test_a_word_without_a_capital_is_a_verb(said: list[tuple[float, str]], is_verb: bool) -> None:
    assert drafted_verbs._is_verb(said, "Controls") is is_verb

"""Terms that replace what the model would say for their source, on the embedded model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import lexbeam
from lexbeam.errors import ConstraintError
from lexbeam.translation import ties

FACTORY = "The company wants to build a new factory in Berlin."


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def test_a_term_of_a_glossary_replaces_the_word_of_the_model(
    translator: lexbeam.Translator,
) -> None:
    glossary = lexbeam.Glossary.from_terms({"factory": "Werk"})
    assert "Fabrik" in translator.translate(FACTORY).text
    beside = translator.translate(FACTORY, glossary=glossary, ties="off")
    assert "Fabrik" in beside.text
    assert "Werk" in beside.text
    replaced = translator.translate(FACTORY, glossary=glossary)
    assert replaced.constraints[0].met
    assert "Fabrik" not in replaced.text
    assert "neues Werk" in replaced.text


def test_what_stands_before_a_term_of_several_tokens_is_not_lost_before_it_ends(
    translator: lexbeam.Translator,
) -> None:
    # That *des Rechner* would have to go on shows only behind its last token.
    source = "The name of the computer was changed."
    alone = translator.translate(source, [{"text": "Rechner", "source": "computer"}])
    asked = translator.translate(source, [{"text": "Name der Rechner", "source": "computer"}])
    assert alone.text == asked.text == "Der Name der Rechner wurde geändert."


@pytest.mark.parametrize("source", ["factory", "Factory", [37, 44]])
def test_a_constraint_can_name_its_source(
    translator: lexbeam.Translator, source: str | list[int]
) -> None:
    result = translator.translate(FACTORY, [{"text": "Werk", "source": source}])
    assert result.constraints[0].met
    assert "Fabrik" not in result.text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("office", 'source "office" of "Werk" is not in the text'),
        ([40, 60], "outside the text, which has 51 characters"),
        ([3, 4], r"the source \[3, 4\] of .* is only white space"),
        ([5, 2], "must be words of the source"),
        (3, "must be words of the source"),
        ("", "is empty"),
    ],
)
def test_wrong_sources_are_refused(
    translator: lexbeam.Translator, source: object, message: str
) -> None:
    with pytest.raises(ConstraintError, match=message):
        translator.translate(FACTORY, [{"text": "Werk", "source": source}])


def test_a_source_that_occurs_twice_and_two_terms_for_one_word_work(
    translator: lexbeam.Translator,
) -> None:
    twice = "The file is in the file list."
    result = translator.translate(twice, [{"text": "Akte", "source": "file"}])
    assert result.constraints[0].met
    both = [{"text": "Werk", "source": "factory"}, {"text": "Betrieb", "source": "factory"}]
    assert all(each.met for each in translator.translate(FACTORY, both).constraints)


def test_ties_that_leave_no_way_are_given_up(translator: lexbeam.Translator) -> None:
    terms = [{"text": "Fabrik", "source": "company"}, {"text": "Firma", "source": "factory"}]
    result = translator.translate(FACTORY, terms)
    assert all(each.met for each in result.constraints)


def test_each_sentence_has_its_own_ties(translator: lexbeam.Translator) -> None:
    text = "The factory is closed. The new factory is open."
    glossary = lexbeam.Glossary.from_terms({"factory": "Werk"})
    result = translator.translate(text, glossary=glossary)
    assert result.text.count("Werk") == 2
    assert "Fabrik" not in result.text


def test_what_is_impossible_is_refused_with_ties_as_without(
    translator: lexbeam.Translator,
) -> None:
    asked = [{"suffix": "<b>", "source": "Yes"}, {"suffix": "Dampfschiff"}]
    with pytest.raises(ConstraintError, match=r'"<b>", "Dampfschiff" can.t all be placed$'):
        translator.translate("Yes", asked)


@pytest.mark.parametrize(
    ("cost", "costly"), [(ties.COSTLY - 0.1, False), (ties.COSTLY + 0.1, True)]
)
def test_what_costs_much_more_than_its_draft_is_costly(cost: float, costly: bool) -> None:
    best = SimpleNamespace(score=-1.0 - cost, draft=SimpleNamespace(score=-1.0))
    sentence: Any = SimpleNamespace(hypotheses=[best], best=best)
    assert ties._is_costly(sentence) is costly


@pytest.mark.parametrize(("score", "taken"), [(-1.5, True), (-2.0, False), (-2.5, False)])
def test_of_two_looks_the_better_one_is_taken(score: float, taken: bool) -> None:
    found: list[Any] = []
    sentence: Any = SimpleNamespace(
        assigned=["piece"], best=SimpleNamespace(score=-2.0), take=lambda *a: found.append(a)
    )
    document: Any = SimpleNamespace(job=lambda *_, thorough: thorough)
    search: Any = ties._search_thoroughly(document, [sentence])
    assert next(search) == [True]
    second: Any = [SimpleNamespace(score=score)]
    with pytest.raises(StopIteration):
        search.send([second])
    assert found == ([(second, ["piece"])] if taken else [])

"""Terms that replace what the model would say for their source, on the embedded model."""

from __future__ import annotations

import pytest

import lexbeam
from lexbeam.errors import ConstraintError
from lexbeam.search import Beginning
from lexbeam.translation import ties
from lexbeam.translation.ties import split_words

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


def test_words_of_pieces() -> None:
    pieces = ["▁Die", "▁Fab", "rik", ",", "▁„", "Werk", "“"]
    assert split_words(pieces) == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    assert split_words([]) == []


def test_what_is_demanded_in_another_place_is_not_avoided(translator: lexbeam.Translator) -> None:
    """The word that a term replaces is part of a constraint that has no place yet."""
    text = "Please enter your name. Then click the button."
    glossary = lexbeam.Glossary.from_terms({"button": "Knopf"})
    found = translator.translate(text, ["„Schaltfläche“"], glossary=glossary, beam_size=2)
    assert all(report.met for report in found.constraints)


def test_what_is_inside_of_a_term_is_not_avoided_by_a_later_search(
    translator: lexbeam.Translator,
) -> None:
    # The draft says "Vektor" for the source, whose pieces stand in the term too. A term that costs
    # so much is searched for a second time.
    result = translator.translate(
        "Begin by creating an R variable, stateAbb, and defining the vector of strings to add to "
        "it, as follows.",
        constraints=[{"text": "Zeichenfolgenvektor", "source": [60, 66]}],
    )
    assert result.constraints[0].met


def test_what_a_term_displaces_may_still_be_in_the_prefix(
    translator: lexbeam.Translator,
) -> None:
    tied = {"text": "Donaudampfschiff", "source": "factory"}
    result = translator.translate("The factory is new.", [tied], prefix="Die Fabrik ", beam_size=3)
    assert result.text.startswith("Die Fabrik ")
    assert result.constraints[0].met


def test_no_longer_word_begins_with_a_displaced_one(translator: lexbeam.Translator) -> None:
    target = translator._target
    long, short = ties._ways_to_say("Fabrik", target), ties._ways_to_say("zu", target)
    assert {target.decode(way) for way in long} >= {"Fabrik", "fabrik", "FABRIK"}
    assert all(isinstance(way, Beginning) for way in long)
    assert not any(isinstance(way, Beginning) for way in short)


def test_a_term_is_not_torn_from_a_hyphen(translator: lexbeam.Translator) -> None:
    target = translator._target
    torn = ties._torn(target.spell_all("Werk"), target)
    assert torn
    assert {target.decode([*target.spell("Core").ids, *each]) for each in torn} == {"Core- Werk"}
    text = "The company wants to build a new factory in Berlin."
    found = translator.translate(text, [{"text": "Werk", "source": "factory"}]).text
    assert "- Werk" not in found


def test_what_is_impossible_is_refused_with_ties_as_without(
    translator: lexbeam.Translator,
) -> None:
    asked = [{"suffix": "<b>", "source": "Yes"}, {"suffix": "Dampfschiff"}]
    with pytest.raises(ConstraintError, match=r'"<b>", "Dampfschiff" can.t all be placed$'):
        translator.translate("Yes", asked)

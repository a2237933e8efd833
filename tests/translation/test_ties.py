"""Terms that replace what the model would say for their source, on the embedded model."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import lexbeam
from lexbeam.errors import ConstraintError
from lexbeam.search.arrays import Tokens
from lexbeam.search.beam import Hypothesis
from lexbeam.search.settings import Settings
from lexbeam.text.sentence_splitter import Part
from lexbeam.translation import ties
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.spelled_prefix import SpelledPrefix

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
    with pytest.raises(ConstraintError, match=r'"<b>" and "Dampfschiff" can.t both be the end'):
        translator.translate("Yes", asked)


def _searched(cost: float, attention: list[float], finished: bool = True) -> SentenceState:
    """Return a sentence whose output costs so much more than its draft, in all and per token."""
    attends = np.array([attention, [1.0, 0.0]])
    draft = Hypothesis([7], -0.5, -1.5, [], finished, attention=attends)
    sentence = SentenceState(Part("a", ""), (3, 4), SpelledPrefix(), [])
    sentence.take([Hypothesis([8], -0.5 - cost, -1.5 - cost, [], True, draft=draft)], [])
    return sentence


def _with_time_for(looks: float) -> SimpleNamespace:
    """Return an account of which so many looks are left, each of which counts one."""
    return SimpleNamespace(
        cost=lambda *_: 1.0,
        affordable=lambda asked: [each for each, cost in asked if cost <= looks],
    )


@pytest.mark.parametrize(
    ("cost", "terms", "attention", "is_searched"),
    [
        (12.9, 1, [0.4, 0.6], False),
        (13.1, 1, [0.4, 0.6], True),
        (13.1, 2, [0.4, 0.6], False),  # so much for each of two terms
        (26.1, 2, [0.4, 0.6], True),
        (0.6, 1, [0.6, 0.4], True),
    ],
)
def test_what_is_costly_or_has_no_place_in_the_draft_is_searched_once_more(
    cost: float, terms: int, attention: list[float], is_searched: bool
) -> None:
    sentence = _searched(cost, attention)
    sentence.assigned = [Piece(unit, 0, 1) for unit in range(terms)]
    settings = Settings(lag=3.0)
    document = SimpleNamespace(
        settings=SimpleNamespace(of_search=settings, nbest=1),
        ties=lambda *_: dict.fromkeys(range(terms), (1,)),
        demand=lambda _: SimpleNamespace(parts=[[]]),
        job=lambda _, __, asked=settings, thorough=False, **___: (asked.lag, thorough),
        effort=_with_time_for(9),
    )
    better, worse = Hypothesis([9], 0.0, 0.0, [], True), Hypothesis([9], -99.0, -99.0, [], True)
    for found in (worse, better):
        generator = ties._search_thoroughly(cast("Document", document), [sentence])
        looks = cast("list[object]", next(generator, []))
        assert looks == [(None, True)] * is_searched  # nothing is dropped for its lag
        if looks:
            with pytest.raises(StopIteration):
                generator.send([[found]] * len(looks))
        assert (sentence.best is found) == (is_searched and found is better)


@pytest.mark.parametrize(
    ("length", "parts", "is_searched"), [(2, 1, True), (60, 1, False), (2, 2, False)]
)
def test_what_runs_on_or_has_several_parts_is_not_searched_once_more(
    length: int, parts: int, is_searched: bool
) -> None:
    sentence = _searched(13.1, [0.4, 0.6])
    sentence.assigned = [Piece(0, 0, parts)]
    sentence.take([replace(sentence.best, tokens=[8] * length)], [])
    document = SimpleNamespace(
        settings=SimpleNamespace(of_search=Settings(), nbest=1),
        ties=lambda *_: {0: (1,)},
        demand=lambda _: SimpleNamespace(parts=[[]] * parts),
        job=lambda *_, thorough, insists: thorough and not insists,
        effort=_with_time_for(9),
    )
    generator = ties._search_thoroughly(cast("Document", document), [sentence])
    assert cast("list[object]", next(generator, [])) == [True] * is_searched


@pytest.mark.parametrize(("looks", "is_searched"), [(1.4, True), (1.2, False)])
def test_a_thorough_search_is_made_if_there_is_time_for_more_steps(
    looks: float, is_searched: bool
) -> None:
    sentence = _searched(13.1, [0.4, 0.6])
    sentence.assigned = [Piece(0, 0, 1)]
    document = SimpleNamespace(
        settings=SimpleNamespace(of_search=Settings(), nbest=1),
        ties=lambda *_: {0: (1,)},
        demand=lambda _: SimpleNamespace(parts=[[]]),
        job=lambda *_, thorough, insists: thorough and not insists,
        effort=_with_time_for(looks),
    )
    generator = ties._search_thoroughly(cast("Document", document), [sentence])
    assert cast("list[object]", next(generator, [])) == [True] * is_searched


@pytest.mark.parametrize(
    ("cost", "finished", "displaced", "other_uses", "is_taken"),
    [
        (0.1, True, [(6,)], {}, True),
        (-0.1, True, [], {}, False),
        (0.1, False, [], {}, False),
        (0.1, True, [(7,)], {}, False),
        (0.1, True, [], {0: 1}, False),
    ],
)
def test_a_draft_with_all_terms_in_their_places_is_taken_if_it_is_better(
    monkeypatch: pytest.MonkeyPatch,
    cost: float,
    finished: bool,
    displaced: list[Tokens],
    other_uses: dict[int, int],
    is_taken: bool,
) -> None:
    sentence = _searched(cost, [0.4, 0.6], finished)
    sentence.displaced, sentence.other_uses = displaced, other_uses
    monkeypatch.setattr(ties, "has_everything", lambda *_: True)
    document = SimpleNamespace(settings=SimpleNamespace(nbest=1))
    ties._add_draft(cast("Document", document), sentence)
    assert (sentence.best.tokens == [7]) == is_taken


def test_of_several_outputs_the_best_are_kept_each_once() -> None:
    sentence = _searched(0.1, [0.4, 0.6])
    known = sentence.best
    others = [Hypothesis([token], -score, -1.0, [], True) for token, score in ((1, 0.2), (8, 9.0))]
    sentence.add(others, 2)
    assert [each.tokens for each in sentence.hypotheses] == [[1], [8]]
    assert sentence.hypotheses[1] is known
    sentence.add([Hypothesis([2], -0.3, -1.0, [], True)], 2)
    assert [each.tokens for each in sentence.hypotheses] == [[1], [2]]
    sentence.add([Hypothesis([3], -0.2, -1.0, [], True)], 1)
    assert sentence.best.tokens == [1]


def test_a_draft_that_lacks_a_term_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = _searched(0.1, [0.4, 0.6])
    monkeypatch.setattr(ties, "has_everything", lambda *_: False)
    document = SimpleNamespace(settings=SimpleNamespace(nbest=1))
    ties._add_draft(cast("Document", document), sentence)
    assert sentence.best.tokens == [8]

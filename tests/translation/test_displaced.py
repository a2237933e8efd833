"""What terms displace, on the embedded model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

import lexbeam
from lexbeam.constraints.parsing import Reader
from lexbeam.search import Beginning
from lexbeam.search.beam import Hypothesis
from lexbeam.text.sentence_splitter import Part
from lexbeam.translation import displaced
from lexbeam.translation.displaced import split_words
from lexbeam.translation.document import Document
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.spelled import SpelledConstraint
from lexbeam.translation.spelled_prefix import SpelledPrefix


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def test_words_of_pieces() -> None:
    pieces = ["▁Die", "▁Fab", "rik", ",", "▁„", "Werk", "“"]
    assert split_words(pieces) == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    assert split_words([]) == []


def test_no_longer_word_begins_with_a_displaced_one(translator: lexbeam.Translator) -> None:
    target = translator._target
    long, short = (displaced._ways_to_say(word, target, True) for word in ("Fabrik", "zu"))
    assert {target.decode(way) for way in long} >= {"Fabrik", "fabrik", "FABRIK"}
    assert all(isinstance(way, Beginning) for way in long)
    assert not any(isinstance(way, Beginning) for way in short)
    # A longer word of the draft that begins with it may stay.
    alone = displaced._ways_to_say("Fabrik", target, False)
    assert list(map(tuple, alone)) == list(map(tuple, long))
    assert not any(isinstance(way, Beginning) for way in alone)
    assert displaced._begins_another("Fabrik", ["die", "fabrik", "fabriktor"])
    assert not displaced._begins_another("Fabrik", ["die", "fabrik"])


def test_a_word_that_stands_twice_is_displaced_where_both_are_for_terms(
    translator: lexbeam.Translator,
) -> None:
    text = "The car is old and the car is red."
    assert translator.translate(text).text.count("Auto") == 2
    glossary = lexbeam.Glossary.from_terms({"car": "Wagen"})
    result = translator.translate(text, glossary=glossary)
    assert "Auto" not in result.text
    assert [each.met for each in result.constraints] == [True, True]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The file and the folder.", {"file": "Datei", "folder": "Datei"}),
        ("Close the window and the dialog.", {"window": "Fenster", "dialog": "Fenster"}),
    ],
)
def test_two_terms_may_have_one_translation(
    translator: lexbeam.Translator, text: str, terms: dict[str, str]
) -> None:
    result = translator.translate(text, glossary=lexbeam.Glossary.from_terms(terms))
    assert result.text.count(terms.popitem()[1]) == 2
    assert [each.met for each in result.constraints] == [True, True]


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


def test_a_term_is_not_torn_from_a_hyphen(translator: lexbeam.Translator) -> None:
    target = translator._target
    demands = [SimpleNamespace(spellings=target.spell_all(word)) for word in ("Firma", "Werk")]
    document = SimpleNamespace(
        vocabulary=target, demand=demands.__getitem__, ties=lambda *_: {1: (5,)}
    )
    sentence = SimpleNamespace(assigned=[Piece(0, 0, 1), Piece(1, 0, 1)])
    torn = displaced.behind_hyphens(cast("Document", document), cast("SentenceState", sentence))
    assert torn
    assert {target.decode([*target.spell("Core").ids, *each]) for each in torn} == {"Core- Werk"}
    text = "The company wants to build a new factory in Berlin."
    found = translator.translate(text, [{"text": "Werk", "source": "factory"}]).text
    assert "- Werk" not in found


def test_a_term_that_translates_another_word_as_well_is_said_for_both(
    translator: lexbeam.Translator,
) -> None:
    text, glossary = "My house is a building.", lexbeam.Glossary.from_terms({"house": "Gebäude"})
    assert "Haus" in translator.translate(text).text
    result = translator.translate(text, glossary=glossary)
    assert result.text.count("Gebäude") == 2
    assert "Haus" not in result.text
    assert result.constraints[0].met
    twice = translator.translate([text, "A house.", text], glossary=glossary)
    assert [twice[0].text, twice[2].text] == [result.text] * 2
    # What a caller asks for once is there once.
    exact = {"text": "Gebäude", "source": "house", "exactly": 1}
    assert translator.translate(text, [exact]).text.count("Gebäude") == 1
    # Where there is no room for both, one has to do.
    short = translator.translate(text, glossary=glossary, max_length=4)
    assert short.constraints[0].met


def test_a_term_is_for_another_word_only_where_attention_is_clear() -> None:
    attention = np.array([[0.7, 0.1, 0.2], [0.3, 0.3, 0.4]], np.float32)
    assert displaced._is_for_others(attention[:1], [1])
    assert not displaced._is_for_others(attention[:1], [2])
    assert not displaced._is_for_others(attention[1:], [1])
    assert not displaced._is_for_others(attention[:0], [1])


@pytest.mark.parametrize(("last", "found"), [("Auto", set()), ("Rad", {"Auto"})])
def test_a_word_that_stands_for_something_else_as_well_is_not_displaced(
    translator: lexbeam.Translator, last: str, found: set[str]
) -> None:
    target = translator._target
    words = [target.spell(word).ids for word in ("Auto", "Haus", last)]
    attention = [row for i, ids in enumerate(words) for row in [np.eye(4)[i]] * len(ids)]
    tokens = [token for ids in words for token in ids]
    draft = Hypothesis(tokens, 0.0, 0.0, [], True, attention=np.array([*attention, np.eye(4)[3]]))
    asked = SpelledConstraint.spell(Reader(None).demands(["Wagen"], "")[0], target)
    document = SimpleNamespace(
        target=target,
        vocabulary=target,
        demands=[asked],
        demand=lambda _: asked,
        ties=lambda *_: {0: (0,)},
        token_spans=lambda _: [(0, 1), (2, 3), (4, 5)],
    )
    sentence = SentenceState(Part("a b c", ""), (0, 1, 2), SpelledPrefix(), [])
    sentence.assigned = [Piece(0, 0, 1)]
    displaced_words = displaced.find_displaced(cast("Document", document), sentence, draft)
    assert {target.decode(way) for way in displaced_words} & {"Auto"} == found

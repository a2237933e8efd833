from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.errors import InputError
from lexbeam.study.constraint_sets import (
    choose_constraints,
    count_met,
    exact,
    find_phrase,
    make_constraint_set,
    parse_set_name,
)
from lexbeam.translation.translator import Translator

REFERENCE = "O gato (preto) sentou no tapete, perto da casa velha."


@given(st.integers(1, 6), st.integers(0, 50), st.integers(0, 3))
def test_random_words_stand_in_the_reference(words: int, sentence: int, seed: int) -> None:
    chosen = choose_constraints(f"rand{words}", REFERENCE, sentence, seed)
    assert len(chosen) == words
    assert count_met(REFERENCE, chosen) == words


@given(st.integers(1, 12), st.integers(0, 50))
def test_a_phrase_is_a_stretch_of_the_reference(words: int, sentence: int) -> None:
    (phrase,) = choose_constraints(f"phr{words}", REFERENCE, sentence)
    assert find_phrase(REFERENCE, phrase) is not None
    assert len(phrase.split()) == min(words, len(REFERENCE.split()))


def test_sets_depend_on_seed_name_and_sentence_only() -> None:
    references = [REFERENCE] * 20
    made = make_constraint_set("rand2", references)
    assert made == make_constraint_set("rand2", references)
    assert made != make_constraint_set("rand2", references, seed=1)
    assert len(set(map(tuple, made))) > 5


def test_nothing_is_demanded_where_there_is_nothing() -> None:
    assert make_constraint_set("none", [REFERENCE]) == [[]]
    assert choose_constraints("rand3", "… !", 0) == []
    assert choose_constraints("phr3", "… !", 0) == []


def test_a_short_reference_gives_what_it_has() -> None:
    assert sorted(choose_constraints("rand4", "zwei Worte", 0)) == ["Worte", "zwei"]
    assert choose_constraints("phr4", "zwei Worte.", 0) == ["zwei Worte"]


def test_scripts_without_spaces_are_cut_too() -> None:
    reference = "中国的经济增长很快。我们在北京看到了猫。"
    words = choose_constraints("rand3", reference, 0)
    assert len(words) == 3
    assert words
    assert all(len(word) <= 2 for word in words)
    assert count_met(reference, words) == 3
    (phrase,) = choose_constraints("phr3", reference, 1)
    assert phrase in reference
    assert len(phrase) > 2


@pytest.mark.parametrize("name", ["rand", "rand0", "phr", "phr-1", "some3", "rand1 "])
def test_unknown_sets_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown constraint set"):
        parse_set_name(name)


@pytest.mark.parametrize(
    ("text", "phrases", "met"),
    [
        ("Die Haustür ist alt.", ["Haus"], 0),
        ("Das Haus ist alt.", ["Haus"], 1),
        ("Das Haus ist alt.", ["Haus", "Haus"], 1),
        ("Haus an Haus", ["Haus", "Haus"], 2),
        ("na na na", ["na na", "na na"], 2),
        ("Es kostet 1.5 Euro", ["1.5"], 1),
        ("Es kostet 1x5 Euro", ["1.5"], 0),
    ],
)
def test_met_is_found_on_the_text(text: str, phrases: list[str], met: int) -> None:
    assert count_met(text, phrases) == met


def test_a_demanded_word_is_not_capitalised(translator: Translator) -> None:
    said = translator.translate("Cat sat.", exact(["the"])).text
    assert count_met(said, ["the"]) == 1

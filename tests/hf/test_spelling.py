from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from helpers.hf_models import gpt2, marian, write_byte_level_tokenizer, write_marian_tokenizer
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import ConstraintError, InputError
from lexbeam.hf import constrained
from lexbeam.hf.spelling import Speller, _segmentations, joining_marks, word_marks
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.text.word_boundaries import contains


@pytest.fixture(scope="module")
def sentencepiece(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return write_marian_tokenizer(Path(tmp_path_factory.mktemp("marian")))


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return write_byte_level_tokenizer(Path(tmp_path_factory.mktemp("gpt2")))


@pytest.fixture(params=["sentencepiece", "byte_level"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("phrase", ["Haus", "New York", "Größe", "casa velha", "don't"])
def test_a_phrase_is_spelt_as_inside_a_sentence(tokenizer: Any, phrase: str) -> None:
    ids = Speller(tokenizer).ids(phrase)
    assert tokenizer.decode(ids).strip() == phrase
    assert tokenizer.convert_ids_to_tokens(ids)[0][0] in "▁Ġ"


def test_scripts_without_spaces_bring_none_along(sentencepiece: Any) -> None:
    ids = Speller(sentencepiece).ids("北京")
    assert "".join(sentencepiece.convert_ids_to_tokens(ids)) == "北京"


def test_unknown_characters_are_refused(sentencepiece: Any) -> None:
    with pytest.raises(ConstraintError, match=r'sentence 1: "Ω☃" has characters'):
        constrained(sentencepiece, constraints=[["Haus"], ["Ω☃"]])


def test_words_end_where_the_vocabulary_shows_it(tokenizer: Any) -> None:
    boundary, closing = word_marks(tokenizer)
    assert boundary is not None
    assert closing is not None
    spelt = {tokenizer.convert_ids_to_tokens(i): i for i in range(len(tokenizer))}
    mark = "▁" if "▁a" in spelt else "Ġ"
    assert boundary[spelt[f"{mark}a"]]
    assert not boundary[spelt["e"]]
    assert boundary[spelt[","]]
    assert closing[spelt[","]]
    assert not closing[spelt[f"{mark}a"]]


def test_parts_of_compounds_have_forms_of_their_own(tokenizer: Any) -> None:
    asked = Constraints.build([{"text": "Haus", "compound": True}]).demanded[0]
    pattern = Speller(tokenizer).demands(asked)[0]
    assert isinstance(pattern, Pattern)
    whole, *others = pattern.parts[0]
    assert whole.goes_on
    inside = [form for form in others if form.inside]
    assert {tokenizer.decode(form.tokens).strip() for form in inside} == {"Haus", "haus"}
    marks = joining_marks(tokenizer)
    assert marks is not None
    assert set(marks.tolist()) - {0}


@pytest.mark.parametrize(
    ("constraints", "is_exact"),
    [
        ([{"text": "cat", "exactly": 2}], True),
        ([{"any": ["cat", "dog"], "exactly": 2}], True),
        ([{"any": ["cat", "the cat"], "exactly": 2}], False),  # one is inside the other
        ([{"text": "cat", "exactly": 2}, {"order": ["cat", "dog"]}], False),
        ([{"text": "cat", "exactly": 2}, "cat"], True),  # twice in all
        ([{"text": "cat", "at_most": 2}], False),
    ],
)
def test_the_search_counts_what_it_can_count(
    tokenizer: Any, constraints: list[Any], is_exact: bool
) -> None:
    """By the same rule as for the texts of other models."""
    spelled = Speller(tokenizer).spell([constraints], None).phrases
    assert spelled is not None
    assert any(isinstance(each, Pattern) and each.exact for each in spelled[0]) == is_exact


def test_outputs_with_too_much_come_last(sentencepiece: Any) -> None:
    spelled = Speller(sentencepiece).spell([[{"text": "cat", "at_most": 1}]], None)
    once, twice = (
        Hypothesis(sentencepiece(text_target=text)["input_ids"], score, score, [True], True)
        for text, score in (("The cat sat.", -2.0), ("The cat cat sat.", -1.0))
    )
    assert spelled.clean_first(0, [twice, once]) == [once, twice]
    assert spelled.clean_first(1, [twice, once]) == [twice, once]  # nothing is asked there


def test_avoided_phrases_are_closed_in_every_spelling(tokenizer: Any) -> None:
    ways = Speller(tokenizer).every_way("Haus")
    assert ways[0] == Speller(tokenizer).ids("Haus")
    assert len({tuple(way) for way in ways}) == len(ways) > 2
    assert {tokenizer.decode(way).strip() for way in ways} == {"Haus"}


def test_segmentations_come_shortest_first() -> None:
    found = _segmentations("abc", {"a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5})
    assert sorted(found[:2]) == [[1, 5], [4, 3]]
    assert found[2:] == [[1, 2, 3]]


@pytest.mark.parametrize("given", ["Haus", 3])
def test_lists_are_asked_for(byte_level: Any, given: Any) -> None:
    with pytest.raises(InputError, match="a list of phrases for each sentence"):
        constrained(byte_level, constraints=given)


def test_a_text_where_a_list_belongs_is_named(byte_level: Any) -> None:
    with pytest.raises(ConstraintError, match="sentence 0: constraints must be a list"):
        constrained(byte_level, constraints=["Haus"])


# --- with a model --------------------------------------------------------------------------


def texts(tokenizer: Any, model: Any, given: dict[str, Any], **asked: Any) -> list[str]:
    found = model.generate(
        **given,
        custom_generate=constrained(tokenizer, **asked),
        num_beams=5,
        max_new_tokens=20,
        no_repeat_ngram_size=1,  # random models like to say one thing over and over
        do_sample=False,
    )
    start = 1 if model.config.is_encoder_decoder else given["input_ids"].shape[1]
    decoded: list[str] = tokenizer.batch_decode(found[:, start:], skip_special_tokens=True)
    return decoded


def test_phrases_are_placed_as_whole_words(sentencepiece: Any) -> None:
    model = marian(0, vocabulary=len(sentencepiece))
    given = sentencepiece(["The cat sat.", "He said no."], return_tensors="pt", padding=True)
    phrases = [["Haus", "New York"], []]
    found = texts(sentencepiece, model, dict(given), constraints=phrases)
    for phrase in phrases[0]:
        assert contains(found[0], phrase), found[0]


def test_any_of_several_forms_will_do(sentencepiece: Any) -> None:
    model = marian(0, vocabulary=len(sentencepiece))
    given = dict(sentencepiece(["The cat sat."], return_tensors="pt"))
    asked: list[Any] = [{"any": ["Haus", "casa"]}, {"order": ["cat", "dog"]}]
    found = texts(sentencepiece, model, given, constraints=[asked])[0]
    assert contains(found, "Haus") or contains(found, "casa"), found
    assert found.index("cat") < found.index("dog"), found


def test_keywords_are_placed_by_a_language_model(byte_level: Any) -> None:
    model = gpt2(0, vocabulary=len(byte_level))
    byte_level.pad_token, byte_level.padding_side = "<|endoftext|>", "left"
    given = byte_level(["The cat", "He said no to the"], return_tensors="pt", padding=True)
    found = texts(byte_level, model, dict(given), constraints=[["mat"], ["dog", "house"]])
    assert contains(found[0], "mat"), found
    assert contains(found[1], "dog"), found
    assert contains(found[1], "house"), found


def test_what_is_avoided_does_not_come_back(sentencepiece: Any) -> None:
    model = marian(0, vocabulary=len(sentencepiece))
    given = dict(sentencepiece(["The cat sat."], return_tensors="pt"))
    free = texts(sentencepiece, model, given)[0]
    words = [word for word in re.findall(r"\w+", free)[1:] if contains(free, word)]
    assert len(words) > 2, free
    found = texts(sentencepiece, model, given, avoid=[words])[0]
    assert found
    assert not [word for word in words if contains(found, word)]

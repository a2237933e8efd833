from __future__ import annotations

import math
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lexbeam
from helpers.toy_text import EchoScorer
from lexbeam.errors import ConstraintError, InputError, LexbeamError, ModelError, SettingError
from lexbeam.models import loading
from lexbeam.models.model import Model
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.translator import Translator, load

TEXT = "The cat sat on the mat."


def test_a_text_gives_a_translation(translator: Translator) -> None:
    result = translator.translate(TEXT)
    assert result.text == TEXT  # the toy model repeats what it reads
    assert -1 < result.score < 0
    assert result.constraints == []
    assert [each.text for each in result.nbest] == [TEXT]


def test_constraints_are_in_the_text_where_the_report_says(translator: Translator) -> None:
    result = translator.translate(TEXT, constraints=["gato", "no tapete"], beam_size=10)
    assert [report.text for report in result.constraints] == ["gato", "no tapete"]
    for report in result.constraints:
        assert report.met
        assert report.span
        assert result.text[slice(*report.span)] == report.text
    assert contains(result.text, "gato")


def test_a_phrase_given_twice_is_there_twice(translator: Translator) -> None:
    result = translator.translate(TEXT, constraints=["gato", "gato", "cat"])
    first, second, third = (report.span for report in result.constraints)
    assert first
    assert second
    assert third
    assert first != second


def test_whole_words_only(translator: Translator) -> None:
    result = translator.translate("Die Haustür ist alt.", constraints=["Haus"])
    assert contains(result.text, "Haus")
    (report,) = result.constraints
    assert report.span
    assert result.text[slice(*report.span)] == "Haus"
    assert result.text[report.span[1] : report.span[1] + 1] in ("", " ", ".", ",")


def test_a_normalised_phrase_is_found_and_reported_as_asked(translator: Translator) -> None:
    (report,) = translator.translate(TEXT, constraints=["cafe\u0301"]).constraints
    assert report.met
    assert report.text == "cafe\u0301"


@pytest.mark.parametrize("avoided", ["cat", "the mat", "sat on"])
def test_avoided_phrases_are_not_there(translator: Translator, avoided: str) -> None:
    assert contains(TEXT, avoided)
    assert not contains(translator.translate(TEXT, avoid=[avoided]).text, avoided)


def test_an_avoided_word_is_found_in_other_pieces_too(translator: Translator) -> None:
    """After a bracket the word has no space of its own, and other pieces."""
    text = "O (gato) preto"
    assert translator.translate(text).text == text
    assert not contains(translator.translate(text, avoid=["gato"]).text, "gato")


def test_a_word_that_only_contains_an_avoided_one_may_stay(translator: Translator) -> None:
    assert translator.translate("Die Haustür", avoid=["Haus"]).text == "Die Haustür"


def test_the_prefix_comes_first(translator: Translator) -> None:
    result = translator.translate(TEXT, prefix="O gato", constraints=["casa"])
    assert result.text.startswith("O gato")
    assert result.constraints[0].met


def test_lists_keep_their_order(translator: Translator) -> None:
    texts = ["The dog sat near the old house.", "a", "The cat", "", TEXT]
    constraints = [["gato"], [], ["casa", "azul"], [], ["no tapete"]]
    results = translator.translate(texts, constraints=constraints, batch_size=2)
    for text, asked, result in zip(texts, constraints, results, strict=True):
        alone = translator.translate(text, constraints=asked)
        assert result.text == alone.text
        assert result.constraints == alone.constraints
        assert math.isclose(result.score, alone.score)
        assert [report.met for report in result.constraints] == [True] * len(asked)


def test_sentences_of_like_length_are_searched_together(
    translator: Translator, echo: EchoScorer
) -> None:
    translator.translate(["a b c", "a", "a b", "a b c d"] * 3, batch_size=5)
    assert echo.batches == [5, 5, 2]


def test_nbest_are_different_and_falling(translator: Translator) -> None:
    result = translator.translate(TEXT, constraints=["gato"], nbest=3)
    assert result.nbest[0].text == result.text
    assert len({each.text for each in result.nbest}) == len(result.nbest) == 3
    scores = [each.score for each in result.nbest]
    assert scores == sorted(scores, reverse=True)
    for each in result.nbest:
        assert (
            [report.met for report in each.constraints] == [contains(each.text, "gato")] == [True]
        )


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_nothing_gives_nothing(translator: Translator, text: str) -> None:
    result = translator.translate(text)
    assert (result.text, result.score) == ("", 0.0)
    assert translator.translate([]) == []


def test_even_nothing_says_what_is_demanded(translator: Translator) -> None:
    assert contains(translator.translate("", constraints=["gato"]).text, "gato")


@pytest.mark.parametrize("algorithm", ["dba", "lookahead", "gbs", "cbs"])
def test_every_algorithm_meets_constraints(translator: Translator, algorithm: str) -> None:
    result = translator.translate(TEXT, ["gato", "no tapete"], algorithm=algorithm, beam_size=4)
    assert result.constraints
    assert all(report.met for report in result.constraints)


class TestLongTexts:
    text = "The cat sat. The dog sat near the old house.\n\nNew York City is a city. Yes!"

    def test_line_breaks_stay(self, translator: Translator) -> None:
        assert translator.translate(self.text).text == self.text

    def test_a_phrase_that_is_there_stays_where_it_is(self, translator: Translator) -> None:
        result = translator.translate(self.text, constraints=["old house", "York"])
        assert result.text == self.text
        assert [report.span for report in result.constraints] == [(34, 43), (50, 54)]

    def test_missing_phrases_are_placed_in_some_sentence(self, translator: Translator) -> None:
        result = translator.translate(self.text, constraints=["gato", "dog", "no tapete", "gato"])
        spans = [report.span for report in result.constraints]
        assert all(spans)
        assert spans[0] != spans[3]
        for report in result.constraints:
            assert result.text[slice(*(report.span or ()))] == report.text
        assert "\n\n" in result.text

    def test_alternatives_meet_the_constraints_too(self, translator: Translator) -> None:
        result = translator.translate(self.text, constraints=["gato", "dog"], nbest=4)
        assert len({each.text for each in result.nbest}) == 4
        for each in result.nbest:
            assert each.constraints
            assert all(report.met for report in each.constraints)
        scores = [each.score for each in result.nbest]
        assert scores == sorted(scores, reverse=True)

    def test_avoiding_holds_everywhere(self, translator: Translator) -> None:
        result = translator.translate(self.text, constraints=["gato"], avoid=["sat", "city"])
        assert not contains(result.text, "sat")
        assert not contains(result.text, "city")
        assert contains(result.text, "gato")

    def test_the_prefix_is_for_the_whole_text(self, translator: Translator) -> None:
        result = translator.translate(self.text, prefix="O gato")
        assert result.text.startswith("O gato")
        assert result.text.count("O gato") == 1

    def test_sentences_longer_than_the_model_reads_are_cut(self, translator: Translator) -> None:
        text = " ".join(["the old house, the cat"] * 40)
        result = translator.translate(text, constraints=["gato"])
        assert contains(result.text, "gato")
        assert result.text.replace(" gato", "").replace("gato ", "") == text

    def test_a_text_can_be_taken_as_one_sentence(
        self, translator: Translator, echo: EchoScorer
    ) -> None:
        text = "The cat sat. The dog sat."
        assert translator.translate(text, split=False).text == text
        assert echo.batches == [1]

    def test_a_huge_text(self, translator: Translator) -> None:
        text = "a" * 3_000 + " " + "The cat sat. " * 30
        result = translator.translate(text, constraints=["gato"], beam_size=2)
        assert contains(result.text, "gato")


def test_in_chinese_sentences_stand_without_spaces(toy_model: Model) -> None:
    translator = Translator(replace(toy_model, info={"target_language": "zh"}))
    text = "我们在北京看到了猫。中国的经济增长很快。"
    assert translator.translate(text).text == text
    result = translator.translate(text, constraints=["日本", "GDP"])
    for report in result.constraints:
        assert report.span
        assert result.text[slice(*report.span)] == report.text


def test_a_phrase_that_ran_into_the_word_before_gets_a_space(toy_model: Model) -> None:
    translator = Translator(replace(toy_model, info={"target_language": "zh"}))
    for text in ("The cat", "The cat sat on the mat", "中国 The cat"):
        result = translator.translate(text, constraints=["GDP"])
        assert result.constraints[0].met
        assert contains(result.text, "GDP")


def test_a_word_the_vocabulary_can_not_write_is_met(translator: Translator) -> None:
    result = translator.translate(TEXT, ["Müslüm €", "日本酒", "¥5", "“gato”", "¥"], prefix="„A“")
    assert result.text.startswith("„A“")
    for report in result.constraints:
        assert result.text[slice(*(report.span or ()))] == report.text
    text = "The cat sat. The dog sat."
    result = translator.translate(text, ["¥5", "€5"], nbest=3)
    for each in result.nbest:
        assert each.constraints
        assert all(report.met for report in each.constraints)


def test_a_long_constraint_is_met(translator: Translator) -> None:
    phrase = " ".join(["gato preto casa"] * 100)
    (report,) = translator.translate(TEXT, constraints=[phrase], beam_size=2).constraints
    assert report.met


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"constraints": ["\u200b"]}, ConstraintError, "no characters that can be written"),
        ({"constraints": ["  "]}, ConstraintError, "only spaces"),
        ({"constraints": "gato"}, ConstraintError, "must be a list of phrases"),
        ({"constraints": range(10**12)}, ConstraintError, "must be a list of phrases, not range"),
        ({"constraints": ["gato"], "avoid": ["gato"]}, ConstraintError, "drop one"),
        ({"constraints": ["o fim"], "avoid": ["fim"]}, ConstraintError, "drop one"),
        ({"constraints": ["gato preto"], "max_length": 1}, ConstraintError, "max_length is 1"),
        ({"beam_size": 0}, SettingError, "beam_size"),
        ({"beam_size": 2.5}, SettingError, "beam_size"),
        ({"batch_size": 0}, SettingError, "batch_size"),
        ({"nbest": 0}, SettingError, "nbest"),
        ({"max_length": 0}, SettingError, "max_length"),
        ({"algorithm": "magic"}, SettingError, "magic"),
        ({"stop": "never"}, SettingError, "never"),
        ({"prune": -1}, SettingError, "prune"),
        ({"beams": 5}, SettingError, "unknown setting beams"),
    ],
)
def test_what_can_not_be_done_is_named(
    translator: Translator, asked: dict[str, Any], error: type[LexbeamError], message: str
) -> None:
    with pytest.raises(error, match=message):
        translator.translate(TEXT, **asked)


@pytest.mark.parametrize(
    ("texts", "asked", "message"),
    [
        (["a", "b"], {"constraints": [[], ["\u200b"]]}, "^sentence 1: .*no characters"),
        (["a", "b"], {"constraints": [[]]}, "constraints has 1 entries for 2 texts"),
        (["a", "b"], {"constraints": ["gato", "gata"]}, "sentence 0: constraints must be a list"),
        (["a", "b"], {"avoid": "gato"}, "avoid must be a list"),
        (["a", 7], {}, "sentence 1: the text must be a string, not int"),
        (["a", "b\0"], {}, "sentence 1: .*NUL"),
        (["a\ud800"], {}, "sentence 0: .*surrogate"),
        (7, {}, "must be a string or a list, not int"),
        (range(10**12), {}, "must be a string or a list, not range"),
        (b"abc", {}, "not bytes"),
        (None, {}, "not NoneType"),
    ],
)
def test_the_text_at_fault_is_named(
    translator: Translator, texts: Any, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        translator.translate(texts, **asked)


def test_what_the_search_refuses_is_said_in_words(translator: Translator, toy_model: Model) -> None:
    phrases = ["gato", "casa"]
    limit = max(len(toy_model.target.encode(phrase)) for phrase in phrases)
    with pytest.raises(ConstraintError, match=r'^phrases "gato", "casa" need'):
        translator.translate(TEXT, phrases, max_length=limit)
    with pytest.raises(ConstraintError, match=r'^sentence 1: phrases "gato", "casa" need'):
        translator.translate([TEXT, TEXT], [[], phrases], max_length=limit)


def test_models_that_are_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEXBEAM_HOME", str(tmp_path))
    monkeypatch.setattr(loading, "EMBEDDED", tmp_path / "not in this package")
    with pytest.raises(ModelError, match="run: lexbeam pull xx-yy"):
        load("xx-yy")
    with pytest.raises(ModelError, match="check the path"):
        load(tmp_path / "nothing here")
    with pytest.raises(ModelError, match="none was pulled yet"):
        load()
    with pytest.raises(SettingError, match="threads"):
        load("xx-yy", threads=0)


WORDS = st.sampled_from(
    ["gato", "casa", "Haus", "New York", "York City", "o", "a", "city", "猫", "中国", "القط", "(a)"]
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=2), st.sampled_from([TEXT, "", "a. B."])
)
def test_what_is_reported_can_be_found(
    translator: Translator, demanded: list[str], avoided: list[str], text: str
) -> None:
    try:
        result = translator.translate(text, demanded, avoided, beam_size=4)
    except ConstraintError:
        assert any(contains(phrase, each) for phrase in demanded for each in avoided)
        return
    for report in result.constraints:
        assert report.span
        assert result.text[slice(*report.span)].lower() == report.text.lower()
    assert not any(contains(result.text, each) for each in avoided)


@pytest.mark.parametrize(
    "constraints",
    [
        ["€", {"any": ["¥", "§"]}],
        ["€", {"suffix": "¥"}],
        [{"order": ["€"]}, {"any": ["xq", "¥"]}],
        ["€", {"text": "¥", "soft": 1000}],
        [{"gap": ["€", "¥"], "within": 1}, {"order": ["¥", "€"]}, "§"],
        [{"prefix": "→ "}, "€", {"suffix": "¥"}],
        [{"text": "gato ¥"}, "€ a"],
        [{"order": ["gato", "¥"]}, {"suffix": "€"}],
    ],
)
def test_unknown_characters_of_all_kinds_are_there(
    translator: Translator, constraints: list[Any]
) -> None:
    found = translator.translate("The cat sat on the mat.", constraints)
    assert [report.met for report in found.constraints] == [True] * len(constraints), found.text
    assert "⁇" not in found.text


def test_the_cost_of_what_is_impossible_is_not_known(translator: Translator) -> None:
    ends: list[Any] = [{"suffix": "gato"}, {"suffix": "¥", "soft": 0.5}]
    first, second = translator.translate("The cat.", ends, prices=True).constraints
    assert first.met
    assert first.price is not None
    assert second.dropped
    assert second.price is None


def test_a_translator_shows_what_it_is_and_can_be_pickled() -> None:
    loaded = lexbeam.load()
    assert "en→de" in repr(loaded)
    copied = pickle.loads(pickle.dumps(loaded))
    text = "The house is old."
    assert copied.translate(text, beam_size=1) == loaded.translate(text, beam_size=1)


def test_only_what_can_be_loaded_again_is_pickled(translator: Translator) -> None:
    with pytest.raises(pickle.PicklingError, match=r"lexbeam\.load"):
        pickle.dumps(translator)


def test_a_glossary_may_be_the_path_of_its_file(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("source,target\ncat,gato\n", encoding="utf-8")
    for glossary in (str(path), path):
        result = translator.translate("The cat", glossary=glossary)
        assert [report.met for report in result.constraints] == [True]
    path.write_text("source,target\ncat,dog\n", encoding="utf-8")
    os.utime(path, ns=(1, 1))
    assert translator.translate("The cat", glossary=path).constraints[0].text == "dog"
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        translator.translate("The cat", glossary=str(tmp_path / "nowhere.csv"))


LARGE = 10**5000
NESTED: list[Any] = []
NESTED.append(NESTED)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": LARGE}, r"settings must be given by their names, not as a value of the type"),
        ({"settings": {LARGE: 1}}, r"unknown setting a value of the type int"),
        ({"settings": NESTED, "lag": 1}, r"settings must be given by their names, not as \[\["),
        ({"keep": LARGE}, r"keep must be a list .*, not a value of the type int"),
        ({"keep": [LARGE]}, r"keep must list .*, not a value of the type int"),
        ({"constraints": [{"text": "x", "source": [0, LARGE]}]}, r'of "x" is outside the text'),
        ({"constraints": [{"text": "x", LARGE: 1}]}, r"has the unknown key a value of the type"),
    ],
)
def test_what_can_not_be_printed_is_refused_by_name(
    translator: Translator, options: Any, message: str
) -> None:
    with pytest.raises(LexbeamError, match=message):
        translator.translate("The cat.", **options)

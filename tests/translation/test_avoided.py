from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import sentencepiece

import lexbeam
from lexbeam.constraints.parsing import Reader
from lexbeam.text.spelling import TargetText
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.avoided import Avoidance
from lexbeam.translation.jobs import Found, Job
from lexbeam.translation.translator import Translator


@pytest.fixture
def target(processor: sentencepiece.SentencePieceProcessor) -> TargetText:
    return TargetText(processor)


def avoid(target: TargetText, *given: Any) -> Avoidance:
    return Avoidance.spell(tuple(Reader().avoided(list(given), "avoid")), target)


def test_tokens_are_those_that_may_stand_anywhere(target: TargetText) -> None:
    avoidance = avoid(target, "gato", {"any": ["casa", "Haus"]}, {"text": "mat", "case": "any"})
    words = ["gato", "casa", "Haus", "mat", "Mat", "MAT"]
    assert avoidance.tokens == [target.spell(word).ids for word in words]
    assert avoidance.names[target.spell("MAT").ids] == "MAT"


def test_what_the_model_can_not_write_needs_no_tokens(target: TargetText) -> None:
    avoidance = avoid(target, "¥")
    assert avoidance.tokens == []
    assert avoidance.find("20 ¥.") == [(3, 4)]


def test_it_is_found_as_it_is_given_and_as_the_vocabulary_writes_it(target: TargetText) -> None:
    avoidance = avoid(target, "ﬁm")
    assert avoidance.find("o fim") == [(2, 5)]
    assert avoidance.find("o ﬁm") == [(2, 4)]


def test_where_it_stands(target: TargetText) -> None:
    avoidance = avoid(target, "gato", {"text": "mat", "case": "any"})
    assert avoidance.find("Gato e Gato, gato") == [(0, 4), (13, 17)]
    assert avoidance.find("Um Gato. Gato “Gato”") == [(9, 13)]  # The model has made two of one.
    assert avoidance.find("e. Gato", starts=[0, 3]) == [(3, 7)]
    assert avoidance.find("On MAT", starts=[0]) == [(3, 6)]
    assert avoidance.find("gatos") == []


def test_a_large_word_that_is_demanded_may_begin(target: TargetText) -> None:
    avoidance = avoid(target, "gato")
    assert avoidance.find("Gato", demanded=[(0, 4)]) == []
    assert avoidance.find("gato", demanded=[(0, 4)]) == [(0, 4)]


def test_a_long_list_is_banned_only_where_it_matters(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"]
    text = "The cat sat on the mat."
    jobs: list[int] = []
    run = translator._decoder.run

    def count(asked: Sequence[Job], batch_size: int) -> Found:
        jobs.extend(len(job.avoid) for job in asked)
        return run(asked, batch_size)

    monkeypatch.setattr(translator._decoder, "run", count)
    assert translator.translate(text, avoid=many).text == text
    assert jobs == [0]
    result = translator.translate(text, avoid=[*many, "cat", "mat"])
    assert not contains(result.text, "cat")
    assert not contains(result.text, "mat")
    assert jobs[1] == 0
    assert jobs[2] >= 100


def test_a_word_does_not_come_back_before_the_bytes_of_a_sign() -> None:
    asked: list[Any] = [
        "http://x.org/a?b=c",
        {"gap": ["☺", "€"], "count": 5},
        {"text": "don't", "count": 2},
    ]
    translate, text = lexbeam.load().translate, "She said: “I don't know!”"
    result = translate(text, asked, ["Sie"], "z. B. ", beam_size=1, algorithm="beam")
    assert result.unavoided == []
    assert not contains(result.text, "Sie")
    assert all(report.met for report in result.constraints)


def test_it_begins_no_sentence_that_the_source_has_not() -> None:
    text = (
        "System-defined FileTable columns cannot be dropped and recreated; otherwise, however, "
        "they behave like ordinary columns for DML operations."
    )
    translator = lexbeam.load()
    said = ". Andernfalls" in translator.translate(text).text
    found = translator.translate(text, avoid=["andernfalls"])
    assert said
    assert "Andernfalls" not in found.text
    assert not found.unavoided

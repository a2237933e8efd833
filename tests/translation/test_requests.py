from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from helpers.toy_text import EchoScorer
from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import (
    ConstraintError,
    InputError,
    LexbeamError,
    SettingError,
)
from lexbeam.translation.requests import TextRequest, line_up
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import TextSettings
from lexbeam.translation.translator import Translator

TEXT = "The cat sat on the mat."
GLOSSARY = Glossary.from_terms({"cat": "gato"})


def texts(results: list[Translation | LexbeamError]) -> list[str]:
    return [each.text if isinstance(each, Translation) else str(each) for each in results]


def test_each_text_has_its_own_settings(translator: Translator) -> None:
    requests = [
        TextRequest(TEXT),
        TextRequest(TEXT, glossary=GLOSSARY),
        TextRequest("a 5 b", ["Haus"], keep=["numbers"]),
        TextRequest(TEXT, settings={"nbest": 3}),
        TextRequest("The cat. The dog.", settings=TextSettings(split=False, beam_size=3)),
        TextRequest(TEXT, ["gato"], ["mat"], "O", settings={"prices": True}),
    ]
    together = translator.translate_each(requests)
    assert together == [translator.translate_each([request])[0] for request in requests]
    found = [each for each in together if isinstance(each, Translation)]
    assert len(found) == len(requests)
    wanted = [each.signature.settings.nbest for each in found if each.signature is not None]
    assert wanted == [1, 1, 1, 3, 1, 1]
    assert found[1].constraints[0].text == "gato"
    assert found[5].constraints[0].price is not None


BAD: list[tuple[TextRequest, str]] = [
    (TextRequest(7), "the text must be a string, not int"),  # type: ignore[arg-type]
    (TextRequest("a\0"), 'the text "a\\0" contains a NUL character'),
    (TextRequest("a", ["b"], ["b"]), "drop one"),
    (TextRequest("a", settings={"beam_size": 0}), "beam_size must be at least 1"),
    (TextRequest("a", settings={"beams": 3}), "unknown setting beams"),
    (TextRequest("a", settings=3), "by their names"),  # type: ignore[arg-type]
    (TextRequest("a", keep=["("]), "regular expression"),
    (TextRequest("a", glossary={"a": "b"}), "must be a lexbeam.Glossary"),  # type: ignore[arg-type]
    (TextRequest("a b", ["gato preto"], settings={"max_length": 1}), "max_length is 1"),
]


def test_a_refused_text_spares_its_neighbours(translator: Translator, echo: EchoScorer) -> None:
    requests = [each for bad, _ in BAD for each in (TextRequest(TEXT), bad)]
    results = texts(translator.translate_each(requests))
    assert results[::2] == [TEXT] * len(BAD)
    for (_, message), result in zip(BAD, results[1::2], strict=True):
        assert message in result
        assert not result.startswith("sentence")
    assert echo.batches == [len(BAD)]


def test_what_the_search_refuses_is_not_searched_for(
    translator: Translator, echo: EchoScorer
) -> None:
    bad = TextRequest(TEXT, ["gato", "casa"], settings={"max_length": 1})
    usual = TextRequest("The", settings={"max_length": 1})
    results = translator.translate_each([usual, bad, usual, usual, bad, usual])
    assert [isinstance(each, ConstraintError) for each in results] == [
        False, True, False, False, True, False
    ]  # fmt: skip
    assert str(results[1]).startswith('phrases "gato", "casa" need')
    assert echo.batches == [4]


def test_sentences_share_batches_where_their_searches_are_alike(
    translator: Translator, echo: EchoScorer
) -> None:
    alike: list[dict[str, Any]] = [{"split": False}, {"prices": True}, {"max_length": 20}, {}]
    other: list[dict[str, Any]] = [{"beam_size": 3}] * 2
    translator.translate_each([TextRequest("a b", settings=each) for each in alike + other])
    assert echo.batches == [4, 2]


def test_lists_of_glossaries_patterns_and_settings(translator: Translator) -> None:
    first, second = translator.translate(
        ["The cat 5", "The cat 5"],
        glossary=[GLOSSARY, None],
        keep=[None, ["numbers"]],
        settings=[{"nbest": 2}, None],
        beam_size=4,
    )
    assert [report.text for report in first.constraints] == ["gato"]
    assert [report.text for report in second.constraints] == ["5"]
    assert (len(first.nbest), len(second.nbest)) == (2, 1)
    assert first.signature is not None
    assert first.signature.settings == TextSettings(nbest=2, beam_size=4)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"glossary": [GLOSSARY]}, "glossary has 1 entries for 2 texts"),
        ({"keep": [["numbers"]]}, "keep has 1 entries for 2 texts"),
        ({"settings": [{}, {}, {}]}, "settings has 3 entries for 2 texts"),
        ({"settings": [{}, {"nbest": 0}]}, "^sentence 1: nbest"),
        ({"glossary": [None, 3]}, "^sentence 1: glossary must be"),
        ({"keep": [None, ["("]]}, r"^sentence 1: keep"),
        ({"settings": {"nbest": 0}}, "^nbest"),
        ({"keep": ["("]}, "^keep"),
        ({"keep": [3]}, "^keep must list names"),
        ({"settings": []}, "settings has 0 entries for 2 texts"),
        ({"settings": TextSettings(), "nbest": 2}, "given twice"),
        ({"settings": [TextSettings(), None], "nbest": 2}, "given twice"),
        ({"settings": 3}, "by their names"),
    ],
)
def test_what_is_wrong_with_lists_is_named(
    translator: Translator, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        translator.translate(["a", "b"], **asked)


def test_settings_as_an_object(translator: Translator) -> None:
    settings = TextSettings(nbest=2)
    for found in (
        translator.translate(TEXT, settings=settings),
        *translator.translate([TEXT], settings=settings),
    ):
        assert found.signature is not None
        assert found.signature.settings == settings
    with pytest.raises(SettingError, match="given twice"):
        translator.translate(TEXT, settings=settings, nbest=3)


def test_texts_are_lined_up() -> None:
    asked = line_up(["a", "b"], constraints=[["c"], None], keep=["urls"])
    assert asked == [TextRequest("a", ["c"], keep=["urls"]), TextRequest("b", keep=["urls"])]
    assert line_up([], keep=["urls"]) == []
    assert replace(asked[1], keep=None) == TextRequest("b")

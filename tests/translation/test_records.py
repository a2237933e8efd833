from __future__ import annotations

import json
from typing import Any

import pytest

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError
from lexbeam.translation.records import (
    dump_record,
    parse_record,
    read_request,
    write_error,
    write_translation,
)
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import TextSettings, read_settings
from lexbeam.translation.signature import Signature
from lexbeam.translation.translator import Translator

NOTHING = TextRequest("")


def test_all_that_a_record_may_ask_for() -> None:
    record = {
        "text": "a",
        "constraints": ["b"],
        "avoid": ["c"],
        "prefix": "d",
        "glossary": {"e": "f", "g": ["h", "i"]},
        "keep": ["numbers"],
        "settings": {"beam_size": 3},
    }
    request = read_request(record, NOTHING)
    assert (request.text, request.constraints, request.avoid) == ("a", ["b"], ["c"])
    assert (request.prefix, request.keep) == ("d", ["numbers"])
    assert request.glossary is not None
    assert request.glossary.find("e g").constraints == ["f", {"any": ["h", "i"]}]
    assert read_settings(request.settings).beam_size == 3


def test_lists_come_on_top_and_the_rest_stands_in() -> None:
    glossary = Glossary.from_terms({"x": "y"})
    common = TextRequest(
        "", ["x"], ["y"], "z", glossary, ["urls"], TextSettings(beam_size=7, nbest=2)
    )
    request = read_request({"text": "a", "settings": {"nbest": 3}, "keep": ["tags"]}, common)
    assert (request.constraints, request.avoid, request.prefix) == (["x"], ["y"], "z")
    assert request.keep == ["tags", "urls"]
    assert request.glossary is glossary
    settings = read_settings(request.settings)
    assert (settings.beam_size, settings.nbest) == (7, 3)
    request = read_request(
        {"text": "a", "constraints": ["b"], "prefix": "c", "glossary": {}}, common
    )
    assert (request.constraints, request.prefix) == (["b", "x"], "c")
    assert request.glossary is not glossary
    assert request.settings is common.settings


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, 'no "text"'),
        ({"text": 3}, 'no "text"'),
        ({"text": "a", "constraints": "b"}, '"constraints" must be a list of phrases, not str'),
        ({"text": "a", "avoid": {}}, '"avoid" must be a list'),
        ({"text": "a", "keep": "numbers"}, '"keep" must be a list'),
        ({"text": "a", "glossary": ["b"]}, '"glossary" must be an object of terms, not list'),
        ({"text": "a", "glossary": {"b": 3}}, "text or a list of texts for 'b'"),
        ({"text": "a", "glossary": {"b": [3]}}, "a term must be a text"),
        ({"text": "a", "settings": 3}, '"settings" must be an object, not int'),
    ],
)
def test_fields_of_the_wrong_type_are_named(record: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_request(record, NOTHING)


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": NaN}', "[" * 100_000, "7"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not "):
        parse_record(text)


def test_what_is_written_keeps_the_other_fields() -> None:
    signature = Signature("toy", TextSettings())
    translation = Translation("b", -1.0, signature=signature)
    record = {"text": "a", "id": 7}
    written = {"text": "a", "id": 7, "translation": "b", "score": -1.0, "constraints": []}
    assert write_translation(record, translation) == written
    signed = write_translation(record, translation, signature=True)
    assert signed == {**written, "signature": signature.to_json()}
    assert write_error(record, "no", 3) == {"text": "a", "id": 7, "error": "no", "line": 3}
    assert write_error(record, "no") == {"text": "a", "id": 7, "error": "no"}


def test_any_record_can_be_written_as_a_line() -> None:
    assert dump_record({"a": "é"}) == '{"a": "é"}'
    broken = {"a": "é\ud800\n"}
    line = dump_record(broken)
    assert line.encode()
    assert "\n" not in line
    assert json.loads(line) == broken


def test_a_record_is_translated_as_it_asks(translator: Translator) -> None:
    record = {"text": "The cat 5", "glossary": {"cat": "gato"}, "keep": ["numbers"]}
    (result,) = translator.translate_each([read_request(record, NOTHING)])
    assert isinstance(result, Translation)
    assert [report.text for report in result.constraints] == ["5", "gato"]
    assert all(report.met for report in result.constraints)

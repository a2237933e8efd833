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
    assert signed == {**written, "signature": signature.to_dict()}
    assert write_error(record, "no", 3) == {"text": "a", "id": 7, "error": "no", "line": 3}
    assert write_error(record, "no") == {"text": "a", "id": 7, "error": "no"}


def test_any_record_can_be_written_as_a_line() -> None:
    assert dump_record({"a": "é"}) == '{"a": "é"}'
    broken = {"a": "é\ud800\n"}
    line = dump_record(broken)
    assert line.encode()
    assert "\n" not in line
    assert json.loads(line) == broken


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "a", "x": 1e999}', r'^"x" has the value inf, which is not JSON$'),
        ('{"text": "a", "x": {"y": [1, -1e999]}}', r'^"x" has the value -inf, which is not JSON$'),
        (
            '{"text": "a", "constraints": [{"text": "b", "soft": NaN}]}',
            r'^"constraints" has .* nan',
        ),
        ('{"x": ' + "[" * 101 + "]" * 101 + "}", r'^"x" is nested more than 100 levels deep$'),
    ],
)
def test_values_that_json_does_not_have_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_record(text)


def test_large_numbers_and_nested_values_are_kept() -> None:
    text = '{"x": [1e308, 123456789012345678901234567890], "y": ' + "[" * 100 + "]" * 100 + "}"
    assert dump_record(parse_record(text)) == text.replace("1e308", "1e+308")


def test_a_number_without_end_is_null_in_json() -> None:
    line = dump_record({"score": float("-inf"), "nbest": [{"score": float("nan")}], "a": "\ud800"})
    assert json.loads(line) == {"score": None, "nbest": [{"score": None}], "a": "\ud800"}


def test_what_an_earlier_run_said_does_not_stay() -> None:
    translation = Translation("b", -1.0)
    failed = {"text": "a", "error": "no", "line": 3, "id": 7}
    fresh = {"text": "a", "id": 7, "translation": "b", "score": -1.0, "constraints": []}
    assert write_translation(failed, translation) == fresh
    assert write_error(fresh, "no", 4) == {
        "text": "a", "id": 7, "constraints": [], "error": "no", "line": 4
    }  # fmt: skip


def test_a_line_that_is_no_part_of_an_error_is_the_users_own() -> None:
    written = write_translation({"text": "a", "line": "B12"}, Translation("b", -1.0))
    assert written["line"] == "B12"


def test_a_record_is_translated_as_it_asks(translator: Translator) -> None:
    record = {"text": "The cat 5", "glossary": {"cat": "gato"}, "keep": ["numbers"]}
    (result,) = translator.translate_each([read_request(record, NOTHING)])
    assert isinstance(result, Translation)
    assert [report.text for report in result.constraints] == ["5", "gato"]
    assert result.constraints
    assert all(report.met for report in result.constraints)

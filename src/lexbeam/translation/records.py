"""A text and what is asked of it as a JSON object, and what comes back.

Command line, server and files all read and write these records::

    {"text": "The cat sat.", "constraints": ["gato"], "avoid": ["gata"], "prefix": "O",
     "glossary": {"cat": "gato"}, "keep": ["numbers"], "settings": {"beam_size": 5}, "id": 7}
    {"text": …, "id": 7, "translation": "O gato …", "score": -0.4, "constraints": [{…}]}

Only ``text`` has to be there. Fields that mean nothing here are kept. Where something is asked
of all records, lists (constraints, avoid, keep) come on top of a record's own, and a record's own
prefix, glossary and settings stand in for the common ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from lexbeam.arguments import read_json_integer
from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError, SettingError, quoted
from lexbeam.translation.requests import GivenSettings, TextRequest
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import TextSettings

Record = dict[str, Any]

_OF_AN_ERROR = ("error", "line")
_OF_A_TRANSLATION = ("translation", "score", "nbest", "unavoided", "signature")
_DEEPEST = 100  # lists and objects within each other


def parse_record(text: str) -> Record:
    """Return the JSON object that a text is.

    Raises:
        InputError: it is not one.
    """
    try:
        record = json.loads(text, parse_int=read_json_integer)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"not a JSON object but {type(record).__name__}")
    _check_values(record)
    return record


def _check_values(record: Record) -> None:
    """Raise InputError for a value that can't be written as JSON again, with its field."""
    waiting: list[tuple[str, int, Any]] = [(name, 1, value) for name, value in record.items()]
    while waiting:
        name, depth, value = waiting.pop()
        if isinstance(value, float) and not isfinite(value):
            raise InputError(f"{quoted(name)} has the value {value}, which is not JSON")
        if isinstance(value, list | dict):
            if depth > _DEEPEST:
                raise InputError(f"{quoted(name)} is nested more than {_DEEPEST} levels deep")
            inner = value.values() if isinstance(value, dict) else value
            waiting += ((name, depth + 1, each) for each in inner)


def read_request(record: Mapping[str, Any], common: TextRequest) -> TextRequest:
    """Return what a record asks for; ``common`` is what is asked of all, its text aside.

    Raises:
        InputError: a field has the wrong type.
    """
    if not isinstance(record.get("text"), str):
        raise InputError('the JSON object has no "text" that is a string')
    prefix = record.get("prefix")
    keep = _list(record, "keep", "names and patterns")
    return replace(
        common,
        text=record["text"],
        constraints=[*_list(record, "constraints", "phrases"), *(common.constraints or ())],
        avoid=[*_list(record, "avoid", "phrases"), *(common.avoid or ())],
        prefix=common.prefix if prefix is None else prefix,
        glossary=_glossary(record, common.glossary),
        keep=[*keep, *(common.keep or ())] if keep else common.keep,
        settings=_settings(record, common.settings),
    )


def write_translation(
    record: Mapping[str, Any], translation: Translation, signature: bool = False
) -> Record:
    """Return a record with its translation; with ``signature``, also what made it.

    An error that an earlier run left in the record is no longer true: it goes, with its line.
    """
    return {**_without(record, _OF_AN_ERROR), **translation.to_dict(signature)}


def write_error(record: Mapping[str, Any], error: str, line: int | None = None) -> Record:
    """Return a record with what is wrong with it, and the line that it stands in.

    A translation that an earlier run left in the record goes, with its score.
    """
    where = {} if line is None else {"line": line}
    return {**_without(record, _OF_A_TRANSLATION), "error": error, **where}


def _without(record: Mapping[str, Any], names: Sequence[str]) -> Record:
    """Return a record without some fields, if it has the first of them."""
    stale = names if names[0] in record else ()
    return {name: value for name, value in record.items() if name not in stale}


def dump_record(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON that can be encoded, whatever was in it."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    except ValueError:  # NaN or infinity in some field: JSON has null for them
        record = _with_nulls(record)
        text = json.dumps(record, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair in some field: escape it as it came
        return json.dumps(record)
    return text


def _with_nulls(value: Any) -> Any:
    """Return a value with None in place of NaN and infinity."""
    if isinstance(value, dict):
        return {name: _with_nulls(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _list(record: Mapping[str, Any], name: str, content: str) -> list[Any]:
    given = record.get(name)
    if given is None:
        return []
    if not isinstance(given, list):
        raise InputError(f'"{name}" must be a list of {content}, not {type(given).__name__}')
    return given


def _glossary(record: Mapping[str, Any], common: Glossary | None) -> Glossary | None:
    """Return the glossary of a record: source terms and their translations, one or several."""
    given = record.get("glossary")
    if given is None:
        return common
    if not isinstance(given, dict):
        raise InputError(f'"glossary" must be an object of terms, not {type(given).__name__}')
    for term, targets in given.items():
        if not isinstance(targets, str | list):
            raise InputError(f'"glossary" must have text or a list of texts for {term!r}')
    return Glossary.from_terms(given)


def _settings(record: Mapping[str, Any], common: GivenSettings | None) -> GivenSettings | None:
    given = record.get("settings")
    if given is None:
        return common
    if not isinstance(given, dict):
        raise SettingError(f'"settings" must be an object, not {type(given).__name__}')
    known = vars(common) if isinstance(common, TextSettings) else common or {}
    return {**{name: value for name, value in known.items() if name in _SETTINGS}, **given}


_SETTINGS = TextSettings.__dataclass_fields__

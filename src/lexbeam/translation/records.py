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
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError, SettingError
from lexbeam.translation.requests import GivenSettings, TextRequest
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import TextSettings

Record = dict[str, Any]


def parse_record(text: str) -> Record:
    """Return the JSON object that a text is.

    Raises:
        InputError: it is not one.
    """
    try:
        record = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"not a JSON object but {type(record).__name__}")
    return record


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
    """Return a record with its translation; with ``signature``, also what made it."""
    return {**record, **translation.to_json(signature)}


def write_error(record: Mapping[str, Any], error: str, line: int | None = None) -> Record:
    """Return a record with what is wrong with it, and the line that it stands in."""
    where = {} if line is None else {"line": line}
    return {**record, "error": error, **where}


def dump_record(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON that can be encoded, whatever was in it."""
    text = json.dumps(record, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair in some field: escape it as it came
        return json.dumps(record)
    return text


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


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")

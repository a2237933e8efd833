"""What the endpoints of glossaries read: names, language pairs, dictionaries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lexbeam.constraints.phrases import unusable
from lexbeam.server.bodies import Fields
from lexbeam.server.context import Call
from lexbeam.server.errors import bad_request, unsupported
from lexbeam.server.glossaries import Pair
from lexbeam.server.glossary_entries import Entries, read_entries
from lexbeam.server.languages import known_language

_FORM_FIELD = re.compile(r"dictionaries\[(\d{1,3})\][.\[](\w+)\]?")
_LONGEST_NAME = 1024


def read_name(fields: Fields) -> str:
    """Return the name of a glossary.

    Raises:
        ApiError: it is missing, empty or can't be stored.
    """
    name = fields.string("name")
    if name is None or not name.strip():
        raise bad_request("Parameter 'name' not specified or empty.")
    if len(name) > _LONGEST_NAME:
        raise bad_request(f"Value for 'name' is longer than {_LONGEST_NAME} characters.")
    if fault := unusable(name):
        raise bad_request(f"Value for 'name' contains {fault}.")
    return name


def read_pair(values: Mapping[str, Any]) -> Pair:
    """Return the two languages of a dictionary.

    Raises:
        ApiError: one is missing or unknown, or they are the same.
    """
    pair = []
    for name in ("source_lang", "target_lang"):
        given = values.get(name)
        if given in (None, ""):
            raise bad_request(f"Parameter '{name}' not specified.")
        code = known_language(given)
        if code is None:
            raise unsupported(name)
        pair.append(code)
    if pair[0] == pair[1]:
        raise unsupported("target_lang", "It is the source language.")
    return pair[0], pair[1]


def read_dictionary(values: Mapping[str, Any]) -> tuple[Pair, Entries]:
    """Return the languages and entries of a dictionary."""
    pair = read_pair(values)
    entries, written_in = values.get("entries"), values.get("entries_format")
    if not isinstance(entries, str):
        raise bad_request("Parameter 'entries' not specified.")
    if not isinstance(written_in, str):
        raise bad_request("Parameter 'entries_format' not specified.")
    return pair, read_entries(entries, written_in, pair)


def read_dictionaries(fields: Fields) -> dict[Pair, Entries]:
    """Return the dictionaries of a request; a form has them in fields with numbers.

    Raises:
        ApiError: one can't be used, or two are for the same languages.
    """
    listed = _listed(fields)
    dictionaries: dict[Pair, Entries] = {}
    for each in listed:
        if not isinstance(each, Mapping):
            raise bad_request("Value for 'dictionaries' must be a list of objects.")
        pair, entries = read_dictionary(each)
        if pair in dictionaries:
            raise bad_request(f"There are two dictionaries for {pair[0]}-{pair[1]}.")
        dictionaries[pair] = entries
    return dictionaries


def _listed(fields: Fields) -> list[Any]:
    if fields.is_json:
        given = fields.get("dictionaries")
        if given is not None and not isinstance(given, list):
            raise bad_request("Value for 'dictionaries' must be a list of objects.")
        return given or []
    numbered: dict[int, dict[str, Any]] = {}
    for name in fields.values:
        if found := _FORM_FIELD.fullmatch(name):
            numbered.setdefault(int(found[1]), {})[found[2]] = fields.get(name)
    return [numbered[number] for number in sorted(numbered)]


def flat(fields: Fields) -> dict[str, Any]:
    """Return the fields of a request, one value each."""
    return {name: fields.get(name) for name in fields.values}


def check_glossary_source(call: Call) -> None:
    """Refuse a glossary without a source language: nobody could say which terms are meant."""
    if not call.fields.string("source_lang"):
        raise bad_request("Parameter 'source_lang' is required for a glossary.")

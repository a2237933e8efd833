"""What a request asks of its translations beyond the APIs: constraints and the like, in bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lexbeam.errors import InputError, LexbeamError
from lexbeam.server.bodies import Fields
from lexbeam.server.context import Limits
from lexbeam.server.errors import bad_request
from lexbeam.translation.keep import PATTERNS
from lexbeam.translation.records import read_request
from lexbeam.translation.requests import TextRequest

FIELDS = ("constraints", "avoid", "prefix", "glossary", "keep", "settings")
"""The fields of a record beside its text; see `lexbeam.translation.records`."""

_MOST_GLOSSARY_TERMS = 20_000
_MOST_CHARACTERS = 2_000


def read_wishes(record: Mapping[str, Any], common: TextRequest, limits: Limits) -> TextRequest:
    """Return what a record asks for.

    Raises:
        InputError: a field has the wrong type, or asks for more than a server gives.
    """
    request = read_request(record, common)
    for name in ("constraints", "avoid"):
        given = getattr(request, name) or ()
        if len(given) > limits.constraints:
            raise InputError(
                f'"{name}" has {len(given)} entries, at most {limits.constraints} may be'
            )
        if len(repr(given)) > _MOST_CHARACTERS * 10:
            raise InputError(f'"{name}" is too long')
    if request.prefix is not None and not isinstance(request.prefix, str):
        raise InputError(f'"prefix" must be a string, not {type(request.prefix).__name__}')
    if request.prefix is not None and len(request.prefix) > _MOST_CHARACTERS:
        raise InputError(f"the prefix is longer than {_MOST_CHARACTERS} characters")
    named = [each for each in request.keep or () if isinstance(each, str) and each in PATTERNS]
    unknown = [each for each in request.keep or () if each not in named]
    if unknown:
        raise InputError(f'"keep" may have only {", ".join(PATTERNS)} here, not {unknown[0]!r}')
    terms = record.get("glossary")
    if isinstance(terms, dict) and len(terms) > _MOST_GLOSSARY_TERMS:
        raise InputError(f'"glossary" may have {_MOST_GLOSSARY_TERMS} terms at most')
    _check_settings(request.settings, limits)
    return request


def _check_settings(settings: Any, limits: Limits) -> None:
    if not isinstance(settings, Mapping):
        return
    bounds = {"beam_size": limits.beam_size, "nbest": limits.beam_size, "max_length": 1000}
    for name, most in bounds.items():
        value = settings.get(name)
        if isinstance(value, int | float) and value > most:
            raise InputError(f"{name} may be {most} at most here, not {value}")
    if "batch_size" in settings:
        raise InputError("batch_size is the server's to choose")


def extra_fields(fields: Fields) -> dict[str, Any]:
    """Return the fields of a request that are ours."""
    found = {name: fields.data(name) for name in FIELDS if name in fields}
    if isinstance(found.get("prefix"), list) and not fields.is_json and len(found["prefix"]) == 1:
        found["prefix"] = found["prefix"][0]
    return found


def shared_wishes(
    fields: Mapping[str, Any], texts: int, common: TextRequest, limits: Limits
) -> list[TextRequest]:
    """Return what the extra fields of a request ask of each of its texts.

    ``constraints`` and ``avoid`` go for every text, or are a list with a list for each; ``prefix``
    goes for every text, or is a list with one for each.

    Raises:
        ApiError: they can't be used.
    """
    rows: list[dict[str, Any]] = [{} for _ in range(texts)]
    for name in FIELDS:
        given = fields.get(name)
        if given is None:
            continue
        per_text = isinstance(given, list) and (
            name == "prefix" or (bool(given) and all(isinstance(e, list | None) for e in given))
        )
        if per_text and len(given) != texts:
            raise bad_request(f"'{name}' has {len(given)} entries for {texts} texts")
        for i, row in enumerate(rows):
            row[name] = given[i] if per_text else given
    try:
        return [read_wishes({**row, "text": ""}, common, limits) for row in rows]
    except LexbeamError as error:
        raise bad_request(str(error)) from None

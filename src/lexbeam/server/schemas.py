"""The shapes of what is sent and answered, for the description of the API."""

from __future__ import annotations

from typing import Any

from lexbeam.server.deepl.languages import RESOURCES
from lexbeam.translation.keep import PATTERNS

Schema = dict[str, Any]
_STRING: Schema = {"type": "string"}
_TEXT: Schema = {"type": "string", "minLength": 1}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_INTEGER: Schema = {"type": "integer"}
_ANY_LIST: Schema = {
    "type": ["array", "null"],
    "items": {"type": ["string", "object"]},
    "maxItems": 100,
}
_UUID: Schema = {
    "type": "string",
    "format": "uuid",
    "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
}
_FILE_NAME: Schema = {"type": "string", "pattern": "^[0-9A-F]{32}\\.[0-9A-F]{64}\\.[a-z]{2,5}$"}


def _object(required: str = "", /, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required.split()}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _both(schema: Schema) -> dict[str, Any]:
    return {
        "application/json": {"schema": schema},
        "application/x-www-form-urlencoded": {"schema": schema},
    }


def _file(**more: Schema) -> dict[str, Any]:
    file = {"type": "string", "format": "binary"}
    return {"multipart/form-data": {"schema": _object("file", file=file, **more)}}


def _query(*names: str, required: bool = False, choices: list[str] | None = None) -> list[Any]:
    schema: Schema = {"type": "string", **({"enum": choices} if choices else {})}
    return [{"name": n, "in": "query", "required": required, "schema": schema} for n in names]


WISHES: dict[str, Schema] = {
    "constraints": {**_ANY_LIST, "description": "What must be in the translation"},
    "avoid": {**_ANY_LIST, "description": "What must not be in it"},
    "prefix": {"type": ["string", "null"], "description": "What it begins with"},
    "glossary": {
        "type": ["object", "null"],
        "additionalProperties": {"type": ["string", "array"]},
        "description": "Source terms and their translations",
    },
    "keep": {
        "type": ["array", "null"],
        "items": {"enum": list(PATTERNS)},
        "description": "Patterns whose matches must be in it",
    },
    "settings": {"type": ["object", "null"], "description": "Settings of the search"},
}
_RECORD = _object("text", text=_STRING, **WISHES)
_ANY_RECORD: Schema = {"type": "object", "properties": {"text": {}}}
_REPORT = _object("text met", text=_STRING, met={"type": "boolean"})
_TRANSLATED = _object(
    "translation score constraints",
    translation=_STRING,
    score={"type": "number"},
    constraints=_list(_REPORT),
)
_DICTIONARY = _object(
    "source_lang target_lang entries entries_format",
    source_lang=_STRING,
    target_lang=_STRING,
    entries=_TEXT,
    entries_format={"enum": ["tsv", "csv"]},
)
_DICTIONARY_INFO = _object(
    "source_lang target_lang entry_count",
    source_lang=_STRING,
    target_lang=_STRING,
    entry_count=_INTEGER,
)
_GLOSSARY_V2 = _object(
    "glossary_id name ready source_lang target_lang creation_time entry_count",
    glossary_id=_STRING,
    name=_STRING,
    ready={"type": "boolean"},
    source_lang=_STRING,
    target_lang=_STRING,
    creation_time=_STRING,
    entry_count=_INTEGER,
)
_GLOSSARY_V3 = _object(
    "glossary_id name creation_time dictionaries",
    glossary_id=_STRING,
    name=_STRING,
    creation_time=_STRING,
    dictionaries=_list(_DICTIONARY_INFO),
)
_DEEPL_TEXT = _object(
    "text target_lang",
    text={**_STRINGS, "minItems": 1, "maxItems": 1000},
    target_lang=_STRING,
    source_lang=_STRING,
    glossary_id=_STRING,
    tag_handling={"enum": ["xml", "html"]},
    split_sentences={"enum": ["0", "1", "nonewlines"]},
    ignore_tags=_STRINGS,
    splitting_tags=_STRINGS,
    non_splitting_tags=_STRINGS,
    **WISHES,
)
_DETECTED = _object("language confidence", language=_STRING, confidence={"type": "number"})
_V3 = "/v3/glossaries/{id}"
_DOCUMENT_KEY = _object("document_key", document_key=_STRING)

BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/v2/translate"): _json(_DEEPL_TEXT),
    ("POST", "/v2/glossaries"): _both(
        _object(
            "name source_lang target_lang entries entries_format",
            name=_TEXT,
            **_DICTIONARY["properties"],
        )
    ),
    ("POST", "/v3/glossaries"): _json(
        _object("name dictionaries", name=_TEXT, dictionaries={**_list(_DICTIONARY), "minItems": 1})
    ),
    ("PATCH", _V3): _json(_object(name=_TEXT, dictionaries=_list(_DICTIONARY))),
    ("PUT", f"{_V3}/dictionaries"): _json(_DICTIONARY),
    ("POST", "/v2/document"): _file(target_lang=_STRING, source_lang=_STRING, glossary_id=_STRING),
    ("POST", "/v2/document/{id}"): _both(_DOCUMENT_KEY),
    ("POST", "/v2/document/{id}/result"): _both(_DOCUMENT_KEY),
    ("POST", "/translate"): _json(
        _object(
            "q source target",
            q={"anyOf": [_TEXT, {**_STRINGS, "minItems": 1}]},
            source=_STRING,
            target=_STRING,
            format={"enum": ["text", "html"]},
            alternatives={"type": "integer", "minimum": 0, "maximum": 20},
            **WISHES,
        )
    ),
    ("POST", "/detect"): _both(_object("q", q={"anyOf": [_TEXT, {**_STRINGS, "minItems": 1}]})),
    ("POST", "/translate_file"): _file(source=_STRING, target=_STRING),
    ("POST", "/v1/translate"): _json(
        {"anyOf": [_RECORD, _object("records", records=_list(_ANY_RECORD))]}
    ),
    ("POST", "/v1/alternatives"): _json(
        _object(
            "text translation start",
            translation=_STRING,
            start={"type": "integer", "minimum": 0},
            **_RECORD["properties"],
        )
    ),
    ("POST", "/v1/trace"): _json(_RECORD),
    ("POST", "/v1/sentences"): _both(_object("text", text=_STRING)),
}

PATH_PARAMETERS: dict[str, Schema] = {
    "/v2/document/{id}": _STRING,
    "/v2/document/{id}/result": _STRING,
    "/download_file/{name}": _FILE_NAME,
}
"""What stands in a path; where nothing is said, the number of a glossary."""


def path_parameter(path: str) -> Schema:
    """Return the schema of what stands in a path."""
    return PATH_PARAMETERS.get(path, _UUID)


PARAMETERS: dict[tuple[str, str], list[Any]] = {
    ("GET", "/v2/languages"): _query("type", choices=["source", "target"]),
    ("GET", "/v3/languages"): _query("resource", required=True, choices=list(RESOURCES)),
    ("GET", f"{_V3}/entries"): _query("source_lang", "target_lang", required=True),
    ("DELETE", f"{_V3}/dictionaries"): _query("source_lang", "target_lang", required=True),
    ("GET", "/v2/document/{id}"): _query("document_key", required=True),
    ("GET", "/v2/document/{id}/result"): _query("document_key", required=True),
}

_USAGE = _object(
    "character_count character_limit", character_count=_INTEGER, character_limit=_INTEGER
)
_LANGUAGES = _list(_object("language name", language=_STRING, name=_STRING))
_STATUS = _object("document_id status", document_id=_STRING, status=_STRING)

RESPONSES: dict[tuple[str, str], Schema] = {
    ("POST", "/v2/translate"): _object(
        "translations",
        translations=_list(
            _object(
                "detected_source_language text billed_characters",
                detected_source_language=_STRING,
                text=_STRING,
                billed_characters=_INTEGER,
            )
        ),
    ),
    ("GET", "/v2/usage"): _USAGE,
    ("POST", "/v2/usage"): _USAGE,
    ("GET", "/v2/languages"): _LANGUAGES,
    ("POST", "/v2/languages"): _LANGUAGES,
    ("GET", "/v3/languages"): _list(_object("lang name", lang=_STRING, name=_STRING)),
    ("GET", "/v3/languages/resources"): _list(_object("name features", name=_STRING)),
    ("GET", "/v2/glossary-language-pairs"): _object(
        "supported_languages",
        supported_languages=_list(
            _object("source_lang target_lang", source_lang=_STRING, target_lang=_STRING)
        ),
    ),
    ("POST", "/v2/glossaries"): _GLOSSARY_V2,
    ("GET", "/v2/glossaries"): _object("glossaries", glossaries=_list(_GLOSSARY_V2)),
    ("GET", "/v2/glossaries/{id}"): _GLOSSARY_V2,
    ("POST", "/v3/glossaries"): _GLOSSARY_V3,
    ("GET", "/v3/glossaries"): _object("glossaries", glossaries=_list(_GLOSSARY_V3)),
    ("GET", _V3): _GLOSSARY_V3,
    ("PATCH", _V3): _GLOSSARY_V3,
    ("GET", f"{_V3}/entries"): _object("dictionaries", dictionaries=_list(_DICTIONARY)),
    ("PUT", f"{_V3}/dictionaries"): _DICTIONARY_INFO,
    ("POST", "/v2/document"): _object(
        "document_id document_key", document_id=_STRING, document_key=_STRING
    ),
    ("POST", "/v2/document/{id}"): _STATUS,
    ("GET", "/v2/document/{id}"): _STATUS,
    ("POST", "/translate"): _object("translatedText"),
    ("GET", "/languages"): _list(
        _object("code name targets", code=_STRING, name=_STRING, targets=_STRINGS)
    ),
    ("POST", "/detect"): _list(_DETECTED),
    ("POST", "/translate_file"): _object("translatedFileUrl", translatedFileUrl=_STRING),
    ("GET", "/health"): _object("status", status=_STRING),
    ("POST", "/v1/translate"): {"anyOf": [_TRANSLATED, _object("records")]},
    ("POST", "/v1/alternatives"): _object(
        "alternatives",
        alternatives=_list(
            _object("text start translation", text=_STRING, start=_INTEGER, translation=_STRING)
        ),
    ),
    ("POST", "/v1/sentences"): _object("sentences"),
    ("GET", "/v1/models"): _object("models"),
}

"""LibreTranslate's API."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from lexbeam.server.bodies import File
from lexbeam.server.context import Call, succeeded
from lexbeam.server.document_files import (
    FORMATS,
    content_type,
    extension,
    text_of,
    translate_file,
)
from lexbeam.server.endpoints import Endpoint
from lexbeam.server.errors import ApiError, bad_request
from lexbeam.server.languages import language_name
from lexbeam.server.marked import translate_html
from lexbeam.server.models import ServedModel
from lexbeam.server.texts import translate_texts
from lexbeam.server.wishes import extra_fields, shared_wishes
from lexbeam.translation.requests import TextRequest

_LANGUAGE_FIELDS = ("source", "target")
_FORMATS = ("text", "html")


async def translate(call: Call) -> Any:
    """Translate a text or a list of texts."""
    fields, limits = call.fields, call.context.limits
    texts, is_list = _texts(call)
    written_in = fields.string("format") or "text"
    if written_in not in _FORMATS:
        raise bad_request(f"{written_in} format is not supported")
    alternatives = fields.number("alternatives", limits.alternatives)
    served, detected = _models(call, texts)
    call.charge(sum(map(len, texts)))
    nbest = {"nbest": alternatives + 1, "beam_size": max(10, alternatives + 1)}
    common = TextRequest("", glossary=call.context.glossary, settings=nbest if alternatives else {})
    wishes = shared_wishes(extra_fields(call.fields), len(texts), common, limits)
    requests = [replace(wish, text=text) for wish, text in zip(wishes, texts, strict=True)]
    results: list[tuple[str, list[str]]] = [("", [])] * len(texts)
    for model in dict.fromkeys(served):
        places = [i for i, each in enumerate(served) if each is model]
        translated = await _translate(call, model, [requests[i] for i in places], written_in)
        for i, result in zip(places, translated, strict=True):
            results[i] = result
    answer: dict[str, Any] = {"translatedText": [text for text, _ in results]}
    if detected:
        answer["detectedLanguage"] = detected
    if alternatives:
        answer["alternatives"] = [others[:alternatives] for _, others in results]
    return answer if is_list else {name: value[0] for name, value in answer.items()}


async def _translate(
    call: Call, model: ServedModel, requests: list[TextRequest], written_in: str
) -> list[tuple[str, list[str]]]:
    if written_in == "html":
        return [(text, []) for text in await translate_html(call, model, requests)]
    found = succeeded(await translate_texts(call, model, requests), "q")
    return [
        (each.text, list(dict.fromkeys(other.text for other in each.nbest[1:]))) for each in found
    ]


def _texts(call: Call) -> tuple[list[str], bool]:
    """Return the texts of a request, and whether they came as a list."""
    given = call.fields.values.get("q") if call.fields.is_json else call.fields.get("q")
    if isinstance(given, list):
        if not all(isinstance(each, str) for each in given):
            raise bad_request("Invalid request: q must be a text or a list of texts")
        if len(given) > call.context.limits.texts:
            raise bad_request(f"Invalid request: more than {call.context.limits.texts} texts")
        if not given:
            raise bad_request("Invalid request: missing q parameter")
        return given, True
    if given is None or given == "":
        raise bad_request("Invalid request: missing q parameter")
    if not isinstance(given, str):
        raise bad_request("Invalid request: q must be a text or a list of texts")
    return [given], False


def _models(call: Call, texts: list[str]) -> tuple[list[ServedModel], list[dict[str, Any]]]:
    """Return the model of each text, and what was detected if that was asked for."""
    fields, models = call.fields, call.context.models
    source, target = fields.string("source"), fields.string("target")
    for name, value in zip(_LANGUAGE_FIELDS, (source, target), strict=True):
        if not value:
            raise bad_request(f"Invalid request: missing {name} parameter")
    if source != "auto":
        served = models.find(source, target, "", _LANGUAGE_FIELDS)
        return [served] * len(texts), []
    sources = models.sources_of(models.target(target, "target"))
    found = [models.detect(text, sources)[0] for text in texts]
    detected = [{"language": code, "confidence": round(100 * sure)} for code, sure in found]
    return [models.find(code, target, "", _LANGUAGE_FIELDS) for code, _ in found], detected


async def languages(call: Call) -> Any:
    """List the languages and what each can be translated to."""
    models = call.context.models
    return [
        {"code": code, "name": language_name(code), "targets": models.targets_of(code)}
        for code in models.languages
    ]


async def detect(call: Call) -> Any:
    """Say which language a text is in, or texts of one language that come as a list."""
    texts, _ = _texts(call)
    found = call.context.models.detect("\n".join(texts))
    return [
        {"language": code, "confidence": round(100 * sure)}
        for i, (code, sure) in enumerate(found)
        if sure > 0.01 or not i
    ]


async def translate_document(call: Call) -> Any:
    """Translate a file; the answer says where to fetch it."""
    fields = call.fields
    file = fields.files.get("file")
    if not isinstance(file, File) or not file.name:
        raise bad_request("Invalid request: missing file parameter")
    if extension(file.name) not in FORMATS:
        raise bad_request(f"Invalid request: files of this type can't be translated: {file.name}")
    source, target = fields.string("source"), fields.string("target")
    if not source or not target:
        raise bad_request("Invalid request: missing source or target parameter")
    models = call.context.models
    text = await asyncio.to_thread(text_of, file)
    model = models.find(None if source == "auto" else source, target, text, _LANGUAGE_FIELDS)
    call.charge(len(text))
    content = await translate_file(call, model, file, call.context.glossary)
    store = call.context.documents
    number, key = await asyncio.to_thread(store.add, file.name, len(text))
    await asyncio.to_thread(store.finish, number, content)
    name = f"{number}.{key}.{extension(file.name)}"
    return {"translatedFileUrl": f"{call.request.base_url}download_file/{quote(name)}"}


_DOWNLOAD = re.compile(r"([0-9A-F]{32})\.([0-9A-F]{64})\.[a-z0-9]+")


async def download(call: Call) -> Any:
    """Return a translated file, as often as it is wanted within an hour."""
    found = _DOWNLOAD.fullmatch(call.path("name"))
    if not found:
        raise ApiError(400, "Invalid filename")
    name, content = await asyncio.to_thread(
        call.context.documents.fetch, found[1], found[2], keep=True
    )
    return file_response(name, content)


def file_response(name: str, content: bytes) -> Response:
    """Return a file as a download, which no browser shows as a page."""
    return Response(
        content,
        media_type=content_type(name),
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"},
    )


async def settings(call: Call) -> Any:
    """Say what the server can do, as LibreTranslate's own page wants to know."""
    context = call.context
    source = context.models.all[0].source
    target = context.models.all[0].target
    return {
        "charLimit": context.limits.translate_bytes,
        "frontendTimeout": 500,
        "apiKeys": context.keys.required,
        "keyRequired": context.keys.required,
        "suggestions": False,
        "filesTranslation": True,
        "supportedFilesFormat": [f".{each}" for each in FORMATS],
        "language": {
            "source": {"code": source, "name": language_name(source)},
            "target": {"code": target, "name": language_name(target)},
        },
    }


async def suggest(_call: Call) -> Any:
    """Refuse suggestions."""
    raise ApiError(403, "Suggestions are disabled on this server.")


async def health(_call: Call) -> Any:
    """Say that the server is ready."""
    return {"status": "ok"}


ENDPOINTS = [
    Endpoint("/translate", translate, ("POST",), "translate_bytes", summary="Translate texts"),
    Endpoint("/languages", languages, public=True, summary="Languages there are"),
    Endpoint("/detect", detect, ("POST",), "translate_bytes", summary="Detect a language"),
    Endpoint(
        "/translate_file",
        translate_document,
        ("POST",),
        "document_bytes",
        summary="Translate a file",
    ),
    Endpoint("/download_file/{name}", download, public=True, summary="Fetch a translated file"),
    Endpoint("/frontend/settings", settings, public=True, summary="What the server can do"),
    Endpoint("/suggest", suggest, ("POST",), summary="Not supported"),
    Endpoint("/health", health, public=True, summary="Whether the server is ready"),
]

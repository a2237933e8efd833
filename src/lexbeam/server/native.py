"""Our own API: the records of the command line, other choices at a place, the trace of a search."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import HTMLResponse

from lexbeam.constraints.phrases import unusable
from lexbeam.errors import LexbeamError
from lexbeam.server.alternatives import find_alternatives
from lexbeam.server.bodies import parse_json
from lexbeam.server.context import Call, status_of
from lexbeam.server.endpoints import Endpoint
from lexbeam.server.errors import ApiError, bad_request
from lexbeam.server.languages import language_name
from lexbeam.server.models import ServedModel
from lexbeam.server.texts import translate_texts
from lexbeam.server.wishes import read_wishes
from lexbeam.text.sentence_splitter import split_text
from lexbeam.translation.records import Record, write_error, write_translation
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation

_LANGUAGE_FIELDS = ("source", "target")
_OURS = ("source", "target", "api_key", "auth_key", "signature", "records")
_LONGER = 4  # times as long as its text may a translation be that alternatives are asked for
_LONGER_ALWAYS = 200  # characters that it may have beyond that


async def translate(call: Call) -> Any:
    """Translate a record, or many: ``records`` is a list of them."""
    fields = call.fields
    listed = fields.data("records")
    if listed is not None and not isinstance(listed, list):
        raise bad_request('"records" must be a list of objects')
    records = _record_list(call, listed)
    requests: list[TextRequest | LexbeamError] = [_request(call, each) for each in records]
    readable = [each for each in requests if isinstance(each, TextRequest)]
    model = _model(call, " ".join(each.text for each in readable[:10]))
    call.charge(sum(len(each.text) for each in readable))
    found = iter(await translate_texts(call, model, readable))
    results = [each if isinstance(each, LexbeamError) else next(found) for each in requests]
    signed = fields.flag("signature")
    if listed is None:
        (only,) = results
        if isinstance(only, LexbeamError):
            raise ApiError(status_of(only), str(only))
        return write_translation(records[0], only, signed)
    return {
        "records": [
            write_translation(record, result, signed)
            if isinstance(result, Translation)
            else write_error(record, str(result))
            for record, result in zip(records, results, strict=True)
        ]
    }


def _record_list(call: Call, listed: list[Any] | None) -> list[Record]:
    if listed is None:
        return [{name: value for name, value in _plain(call).items() if name not in _OURS}]
    if len(listed) > call.context.limits.texts:
        raise bad_request(f'"records" may have {call.context.limits.texts} entries at most')
    if not all(isinstance(each, Mapping) for each in listed):
        raise bad_request('"records" must be a list of objects')
    return listed


def _plain(call: Call) -> dict[str, Any]:
    """Return the fields of a single record; a form may have it as JSON in ``record``."""
    if not call.fields.is_json and "record" in call.fields:
        record = parse_json(call.fields.string("record") or "")
        if not isinstance(record, dict):
            raise bad_request('"record" must be a JSON object')
        return record
    return {name: call.fields.get(name) for name in call.fields.values}


def _request(call: Call, record: Mapping[str, Any]) -> TextRequest | LexbeamError:
    common = TextRequest("", glossary=call.context.glossary)
    try:
        request = read_wishes(record, common, call.context.limits)
    except LexbeamError as error:
        return error
    if record.get("glossary") is not None and call.context.glossary is not None:
        return replace(request, glossary=call.context.with_server_terms(request.glossary))
    return request


def _model(call: Call, text: str) -> ServedModel:
    """Return the model for a request; without languages, the one for the language of a text."""
    models = call.context.models
    source, target = call.fields.string("source"), call.fields.string("target")
    if target is None and source is None and len(models.all) == 1:
        return models.all[0]
    if source == "auto":
        source = None
    if target is None:
        found = [each for each in models.all if source in (None, each.source)]
        if len(found) != 1:
            raise bad_request('"target" must say which language to translate to')
        return found[0]
    return models.find(source, target, text, _LANGUAGE_FIELDS)


def _single(call: Call) -> tuple[Record, TextRequest, ServedModel]:
    record = _plain(call)
    request = _request(call, record)
    if isinstance(request, LexbeamError):
        raise ApiError(status_of(request), str(request))
    model = _model(call, request.text)
    call.charge(len(request.text))
    return record, request, model


async def alternatives(call: Call) -> Any:
    """Say what else could stand at a place of a translation, with the rest of the sentence.

    ``translation`` is the translation so far and ``start`` the offset of the word in question.
    """
    record, request, model = _single(call)
    translation, start = record.get("translation"), record.get("start")
    if not isinstance(translation, str):
        raise bad_request('"translation" must be the text that a word of is to be replaced')
    if not isinstance(start, int) or isinstance(start, bool) or not 0 <= start <= len(translation):
        raise bad_request('"start" must be an offset in the translation')
    for name, text in (("text", request.text), ("translation", translation)):
        if fault := unusable(text):
            raise bad_request(f'"{name}" contains {fault}')
    most = _LONGER * len(request.text) + _LONGER_ALWAYS
    if len(translation) > most:
        raise bad_request(
            f'"translation" has {len(translation)} characters: of this text it may have {most}'
        )
    found = await find_alternatives(call, model, request, translation, start)
    return {"alternatives": found}


async def trace(call: Call) -> Any:
    """Return a page that shows the search of a text step by step."""
    _, request, model = _single(call)
    if len(request.text) > _LONGEST_TRACED:
        raise bad_request(f"only texts of up to {_LONGEST_TRACED} characters can be traced")

    def work() -> str:
        return model.translator.trace(
            request.text,
            request.constraints,
            request.avoid,
            request.prefix,
            glossary=request.glossary,
            keep=request.keep,
            settings=request.settings,
        ).to_html()

    loop = asyncio.get_running_loop()
    page = await call.within_time(loop.run_in_executor(call.context.pool, work))
    return HTMLResponse(page, headers={"Content-Security-Policy": TRACE_POLICY})


_LONGEST_TRACED = 2000
TRACE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""The page has a policy of its own, which allows what is in it by its digest and nothing else."""


async def sentences(call: Call) -> Any:
    """Cut a text into its sentences, as they are translated."""
    text = call.fields.string("text")
    if text is None:
        raise bad_request('"text" must be a string')
    parts = split_text(text, lambda part: len(part) < _LONGEST_SENTENCE)
    return {"sentences": [part._asdict() for part in parts]}


_LONGEST_SENTENCE = 1000


async def models(call: Call) -> Any:
    """List the models."""
    shown = ("type", "network", "vocabulary", "vocabulary_size", "precision", "name")
    return {
        "models": [
            {
                "source": {"code": served.source, "name": language_name(served.source)},
                "target": {"code": served.target, "name": language_name(served.target)},
                **{k: v for k, v in served.translator.info.items() if k in shown},
            }
            for served in call.context.models.all
        ]
    }


ENDPOINTS = [
    Endpoint("/v1/translate", translate, ("POST",), "translate_bytes", summary="Translate records"),
    Endpoint(
        "/v1/alternatives",
        alternatives,
        ("POST",),
        "translate_bytes",
        summary="Other choices at a place",
    ),
    Endpoint("/v1/trace", trace, ("POST",), "translate_bytes", summary="A page of a search"),
    Endpoint(
        "/v1/sentences", sentences, ("POST",), "translate_bytes", summary="Cut into sentences"
    ),
    Endpoint("/v1/models", models, public=True, summary="Models there are"),
]

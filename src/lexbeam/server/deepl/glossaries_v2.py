"""Glossaries of version 2: each for one pair of languages, in the store of version 3."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from lexbeam.server.context import Call
from lexbeam.server.deepl.glossary_fields import flat, read_dictionary, read_name
from lexbeam.server.endpoints import Answer, Endpoint
from lexbeam.server.errors import ApiError, not_found
from lexbeam.server.glossaries import GlossaryInfo
from lexbeam.server.glossary_entries import write_tsv


async def create(call: Call) -> Any:
    """Keep a new glossary."""
    name = read_name(call.fields)
    pair, entries = await asyncio.to_thread(read_dictionary, flat(call.fields))
    info = await asyncio.to_thread(
        call.context.glossaries.create, call.key.digest, name, {pair: entries}
    )
    return Answer(_describe(info), 201)


async def list_all(call: Call) -> Any:
    """List the glossaries for one pair of languages."""
    found = await asyncio.to_thread(call.context.glossaries.all, call.key.digest)
    return {"glossaries": [_describe(info) for info in found if len(info.dictionaries) == 1]}


async def get(call: Call) -> Any:
    """Describe a glossary."""
    return _describe(await _info(call))


async def delete(call: Call) -> Any:
    """Delete a glossary."""
    await asyncio.to_thread(call.context.glossaries.delete, call.key.digest, call.path("id"))


async def entries(call: Call) -> Any:
    """Return the entries of a glossary as TSV."""
    accepted = call.request.headers.get("accept", "*/*").lower()
    if not any(kind in accepted for kind in ("text/tab-separated-values", "text/*", "*/*")):
        raise ApiError(415, "There is only text/tab-separated-values")
    info = await _info(call)
    only = info.dictionaries[0]
    found = await asyncio.to_thread(
        call.context.glossaries.entries, call.key.digest, info.id, (only.source, only.target)
    )
    return Response(write_tsv(found), media_type="text/tab-separated-values; charset=utf-8")


async def _info(call: Call) -> GlossaryInfo:
    info = await asyncio.to_thread(call.context.glossaries.get, call.key.digest, call.path("id"))
    if len(info.dictionaries) != 1:
        raise not_found("Glossary")
    return info


def _describe(info: GlossaryInfo) -> dict[str, Any]:
    only = info.dictionaries[0]
    return {
        "glossary_id": info.id,
        "name": info.name,
        "ready": True,
        "source_lang": only.source,
        "target_lang": only.target,
        "creation_time": info.created,
        "entry_count": only.count,
    }


ENDPOINTS = [
    Endpoint(
        "/v2/glossaries",
        create,
        ("POST",),
        "glossary_bytes",
        summary="Keep a glossary",
        status=201,
    ),
    Endpoint("/v2/glossaries", list_all, summary="List glossaries"),
    Endpoint("/v2/glossaries/{id}", get, summary="Describe a glossary"),
    Endpoint("/v2/glossaries/{id}", delete, ("DELETE",), summary="Delete a glossary", status=204),
    Endpoint("/v2/glossaries/{id}/entries", entries, summary="Entries of a glossary"),
]

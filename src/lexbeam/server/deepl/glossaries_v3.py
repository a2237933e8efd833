"""Glossaries of version 3: several dictionaries each, which can be changed."""

from __future__ import annotations

import asyncio
from typing import Any

from lexbeam.server.context import Call
from lexbeam.server.deepl.glossary_fields import (
    flat,
    read_dictionaries,
    read_dictionary,
    read_name,
    read_pair,
)
from lexbeam.server.endpoints import Answer, Endpoint
from lexbeam.server.errors import bad_request
from lexbeam.server.glossaries import DictionaryInfo, GlossaryInfo
from lexbeam.server.glossary_entries import write_tsv


async def create(call: Call) -> Any:
    """Keep a new glossary."""
    name = read_name(call.fields)
    dictionaries = await asyncio.to_thread(read_dictionaries, call.fields)
    if not dictionaries:
        raise bad_request("Parameter 'dictionaries' not specified or empty.")
    info = await asyncio.to_thread(
        call.context.glossaries.create, call.key.digest, name, dictionaries
    )
    return Answer(_describe(info), 201)


async def list_all(call: Call) -> Any:
    """List the glossaries."""
    found = await asyncio.to_thread(call.context.glossaries.all, call.key.digest)
    return {"glossaries": [_describe(info) for info in found]}


async def get(call: Call) -> Any:
    """Describe a glossary."""
    info = await asyncio.to_thread(call.context.glossaries.get, call.key.digest, call.path("id"))
    return _describe(info)


async def patch(call: Call) -> Any:
    """Rename a glossary, or add entries to one of its dictionaries."""
    store, owner, number = call.context.glossaries, call.key.digest, call.path("id")
    await asyncio.to_thread(store.get, owner, number)
    name = read_name(call.fields) if "name" in call.fields else None
    dictionaries = await asyncio.to_thread(read_dictionaries, call.fields)
    if len(dictionaries) > 1:
        raise bad_request("Value for 'dictionaries' not supported: one at a time.")
    if name is None and not dictionaries:
        raise bad_request("Neither 'name' nor 'dictionaries' specified.")
    return _describe(await asyncio.to_thread(store.update, owner, number, name, dictionaries))


async def delete(call: Call) -> Any:
    """Delete a glossary."""
    await asyncio.to_thread(call.context.glossaries.delete, call.key.digest, call.path("id"))


async def entries(call: Call) -> Any:
    """Return the entries of a dictionary."""
    pair = read_pair(flat(call.fields))
    found = await asyncio.to_thread(
        call.context.glossaries.entries, call.key.digest, call.path("id"), pair
    )
    described = {
        "source_lang": pair[0],
        "target_lang": pair[1],
        "entries": write_tsv(found),
        "entries_format": "tsv",
    }
    return {"dictionaries": [described]}


async def put_dictionary(call: Call) -> Any:
    """Replace a dictionary."""
    store, owner, number = call.context.glossaries, call.key.digest, call.path("id")
    await asyncio.to_thread(store.get, owner, number)
    listed = await asyncio.to_thread(read_dictionaries, call.fields)
    if not listed:
        listed = dict([await asyncio.to_thread(read_dictionary, flat(call.fields))])
    pair, found = next(iter(listed.items()))
    return _dictionary(await asyncio.to_thread(store.put, owner, number, pair, found))


async def delete_dictionary(call: Call) -> Any:
    """Delete a dictionary."""
    pair = read_pair(flat(call.fields))
    store = call.context.glossaries
    await asyncio.to_thread(store.delete_dictionary, call.key.digest, call.path("id"), pair)


def _describe(info: GlossaryInfo) -> dict[str, Any]:
    return {
        "glossary_id": info.id,
        "name": info.name,
        "creation_time": info.created,
        "dictionaries": [_dictionary(each) for each in info.dictionaries],
    }


def _dictionary(info: DictionaryInfo) -> dict[str, Any]:
    return {"source_lang": info.source, "target_lang": info.target, "entry_count": info.count}


_ONE = "/v3/glossaries/{id}"
ENDPOINTS = [
    Endpoint(
        "/v3/glossaries",
        create,
        ("POST",),
        "glossary_bytes",
        summary="Keep a glossary",
        status=201,
    ),
    Endpoint("/v3/glossaries", list_all, summary="List glossaries"),
    Endpoint(_ONE, get, summary="Describe a glossary"),
    Endpoint(_ONE, patch, ("PATCH",), "glossary_bytes", summary="Change a glossary"),
    Endpoint(_ONE, delete, ("DELETE",), summary="Delete a glossary", status=204),
    Endpoint(f"{_ONE}/entries", entries, summary="Entries of a dictionary"),
    Endpoint(
        f"{_ONE}/dictionaries",
        put_dictionary,
        ("PUT",),
        "glossary_bytes",
        summary="Replace a dictionary",
    ),
    Endpoint(
        f"{_ONE}/dictionaries",
        delete_dictionary,
        ("DELETE",),
        summary="Delete a dictionary",
        status=204,
    ),
]

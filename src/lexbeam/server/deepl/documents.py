"""Documents: sent, asked about until they are done, fetched once."""

from __future__ import annotations

import asyncio
from typing import Any

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import LexbeamError
from lexbeam.server.bodies import File
from lexbeam.server.context import Call
from lexbeam.server.deepl.glossary_fields import check_glossary_source
from lexbeam.server.deepl.translate import LANGUAGE_FIELDS, glossary_numbers, read_choices
from lexbeam.server.document_files import FORMATS, extension, text_of, translate_content
from lexbeam.server.endpoints import Endpoint
from lexbeam.server.errors import ApiError, bad_request
from lexbeam.server.libretranslate import file_response
from lexbeam.server.logs import log_failure
from lexbeam.server.models import ServedModel
from lexbeam.server.queued_translator import QueuedTranslator

_HELD_SECONDS = 2.0
_LOOK_EVERY = 0.05


async def upload(call: Call) -> Any:
    """Take a document; it is translated while its owner asks how far it is."""
    fields, context = call.fields, call.context
    file = fields.files.get("file")
    if file is None:
        raise bad_request("Invalid file data: no file was sent.")
    name = fields.string("filename") or file.name
    if extension(name) not in FORMATS:
        raise bad_request(f"Invalid file extension. There is {', '.join(FORMATS)}.")
    output = fields.string("output_format")
    if output and output.lower() != extension(name):
        raise bad_request("Value for 'output_format' not supported: documents keep their format.")
    if not fields.string("target_lang"):
        raise bad_request("Parameter 'target_lang' not specified.")
    read_choices(call)
    file = File(name, file.content)
    text = await asyncio.to_thread(text_of, file)
    source = fields.string("source_lang") or None
    model = context.models.find(source, fields.string("target_lang"), text, LANGUAGE_FIELDS)
    glossary: Glossary | None = None
    if numbers := glossary_numbers(call):
        check_glossary_source(call)
        pair = (model.source, model.target)
        glossary = await asyncio.to_thread(context.glossaries.ready, call.key.digest, numbers, pair)
    await context.admit()
    call.charge(len(text))
    number, key = await asyncio.to_thread(context.documents.add, name, len(text))
    context.run_in_background(
        _translate(call, model, number, file, context.with_server_terms(glossary))
    )
    return {"document_id": number, "document_key": key}


async def _translate(
    call: Call, model: ServedModel, number: str, file: File, glossary: Glossary | None
) -> None:
    context = call.context
    translator = QueuedTranslator(context.scheduler, model)
    loop = asyncio.get_running_loop()
    try:
        async with context.memory.hold(len(file.content)):
            content = await loop.run_in_executor(
                context.pool, translate_content, translator, file, glossary
            )
    except (ApiError, LexbeamError) as error:
        await asyncio.to_thread(context.documents.fail, number, str(error))
    except Exception:
        log_failure("a document failed")
        await asyncio.to_thread(context.documents.fail, number, "something went wrong")
    else:
        await asyncio.to_thread(context.documents.finish, number, content)


async def status(call: Call) -> Any:
    """Say how far a document is; of one that will be done soon, a little later."""
    number, key = call.path("id"), call.fields.string("document_key")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _HELD_SECONDS
    while True:
        found = await asyncio.to_thread(call.context.documents.status, number, key)
        if found.status in ("done", "error") or loop.time() > deadline:
            break
        await asyncio.sleep(_LOOK_EVERY)
    answer: dict[str, Any] = {"document_id": number, "status": found.status}
    if found.status == "queued":
        answer["status"] = "translating"
        answer["seconds_remaining"] = 2
    elif found.status == "done":
        answer["billed_characters"] = found.characters
    else:
        answer["error_message"] = found.error
    return answer


async def result(call: Call) -> Any:
    """Return a translated document, which is deleted then."""
    number, key = call.path("id"), call.fields.string("document_key")
    keep = call.request.method == "HEAD"
    name, content = await asyncio.to_thread(call.context.documents.fetch, number, key, keep)
    return file_response(name, content)


ENDPOINTS = [
    Endpoint("/v2/document", upload, ("POST",), "document_bytes", summary="Send a document"),
    Endpoint("/v2/document/{id}", status, ("POST", "GET"), summary="How far a document is"),
    Endpoint(
        "/v2/document/{id}/result", result, ("POST", "GET"), summary="Fetch a translated document"
    ),
]

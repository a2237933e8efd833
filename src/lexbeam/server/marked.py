"""Texts with tags in them: every tag comes back once, around the right words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from lexbeam.errors import LexbeamError
from lexbeam.files.engine import TranslatorEngine
from lexbeam.server.context import Call, status_of
from lexbeam.server.errors import ApiError, bad_request
from lexbeam.server.models import ServedModel
from lexbeam.server.queued_translator import QueuedTranslator
from lexbeam.server.tags import TagOptions, read_tagged, write_tagged
from lexbeam.translation.marked_text import Target, fill_in
from lexbeam.translation.markup import translate_marked
from lexbeam.translation.requests import TextRequest

__all__ = ["TagOptions", "translate_html", "translate_tagged", "with_queued"]

Result = TypeVar("Result")

_OF_WHOLE_TEXTS = ("alignments", "nbest", "prices")  # nothing is said of the pieces of a text


async def with_queued(
    call: Call, model: ServedModel, work: Callable[[QueuedTranslator], Result]
) -> Result:
    """Run something that waits for translations in a thread, as long as the client waits."""
    await call.context.admit()
    translator = QueuedTranslator(call.context.scheduler, model)
    loop = asyncio.get_running_loop()
    try:
        return await call.within_time(loop.run_in_executor(call.context.pool, work, translator))
    finally:
        translator.abandon()


async def translate_html(
    call: Call, model: ServedModel, requests: Sequence[TextRequest]
) -> list[str]:
    """Translate texts of HTML."""
    return await translate_tagged(call, model, requests, TagOptions(is_html=True))


async def translate_tagged(
    call: Call, model: ServedModel, requests: Sequence[TextRequest], options: TagOptions
) -> list[str]:
    """Translate texts with tags.

    Raises:
        ApiError: one of them can't be translated.
    """
    if any(request.prefix for request in requests):
        raise bad_request("'prefix' does not go with tags")

    def work(translator: QueuedTranslator) -> list[str]:
        translated = [""] * len(requests)
        for places in _alike(requests):
            texts = [requests[i].text for i in places]
            found = _translate(translator, requests[places[0]], texts, options)
            for i, text in zip(places, found, strict=True):
                translated[i] = text
        return translated

    return await with_queued(call, model, work)


def _alike(requests: Sequence[TextRequest]) -> list[list[int]]:
    """Return the places of requests that differ in nothing but their texts, together."""
    groups: dict[str, list[int]] = {}
    for i, request in enumerate(requests):
        asked = (request.constraints, request.avoid, id(request.glossary), request.settings)
        groups.setdefault(repr(asked), []).append(i)
    return list(groups.values())


def _translate(
    translator: QueuedTranslator, common: TextRequest, texts: Sequence[str], options: TagOptions
) -> list[str]:
    given = common.settings if isinstance(common.settings, dict) else {}
    settings = {name: value for name, value in given.items() if name not in _OF_WHOLE_TEXTS}
    if common.glossary is not None:
        settings["glossary"] = common.glossary
    if common.keep:
        settings["keep"] = common.keep
    engine = TranslatorEngine(translator, common.constraints or (), common.avoid or (), settings)
    marked = [read_tagged(text, options) for text in texts]
    by_sentence = engine.by_sentence and settings.get("split", True) is not False
    found = translate_marked(marked, engine, by_sentence)
    return [
        write_tagged(fill_in(_checked(each, i, len(texts)), source))
        for i, (each, source) in enumerate(zip(found, marked, strict=True))
    ]


def _checked(result: Target | LexbeamError, index: int, count: int) -> Target:
    if isinstance(result, LexbeamError):
        where = f"text {index}: " if count > 1 else ""
        raise ApiError(status_of(result), f"{where}{result}")
    return result

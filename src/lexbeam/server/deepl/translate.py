"""``/v2/translate``: texts, with glossaries and tags; and ``/v2/usage``."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from lexbeam.constraints.glossary import Glossary
from lexbeam.server.context import Call, succeeded
from lexbeam.server.deepl.glossary_fields import check_glossary_source
from lexbeam.server.endpoints import Endpoint
from lexbeam.server.errors import bad_request, unsupported
from lexbeam.server.keys import NO_LIMIT
from lexbeam.server.marked import TagOptions, translate_tagged
from lexbeam.server.models import ServedModel
from lexbeam.server.texts import translate_texts
from lexbeam.server.wishes import extra_fields, shared_wishes
from lexbeam.translation.requests import TextRequest

LANGUAGE_FIELDS = ("source_lang", "target_lang")
MOST_GLOSSARIES = 5

_CHOICES = {
    "split_sentences": ("0", "1", "nonewlines"),
    "tag_handling": ("xml", "html"),
    "tag_handling_version": ("v1", "v2"),
    "formality": ("default", "prefer_more", "prefer_less", "more", "less"),
    "model_type": (
        "quality_optimized",
        "prefer_quality_optimized",
        "latency_optimized",
    ),
}
_FLAGS = ("preserve_formatting", "outline_detection", "show_billed_characters")
_REFUSED = ("style_id", "translation_memory_id", "custom_instructions")


async def translate(call: Call) -> Any:
    """Translate texts."""
    fields = call.fields
    texts = fields.strings("text")
    if not texts:
        raise bad_request("Parameter 'text' not specified.")
    if len(texts) > call.context.limits.texts:
        raise bad_request(f"Too many texts: at most {call.context.limits.texts} in one request.")
    if fields.get("target_lang") in (None, ""):
        raise bad_request("Parameter 'target_lang' not specified.")
    chosen = read_choices(call)
    models = _models(call, texts)
    glossary = await _glossaries(call, models[0])
    call.charge(sum(map(len, texts)))
    requests = _requests(call, texts, glossary, chosen)
    translated = [""] * len(texts)
    for model in dict.fromkeys(models):
        places = [i for i, each in enumerate(models) if each is model]
        found = await _translate(call, model, [requests[i] for i in places], chosen)
        for i, text in zip(places, found, strict=True):
            translated[i] = text
    return {
        "translations": [
            _answer(model, text, result, chosen)
            for model, text, result in zip(models, texts, translated, strict=True)
        ]
    }


def _answer(
    model: ServedModel, text: str, translated: str, chosen: dict[str, str]
) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "detected_source_language": model.source.upper(),
        "text": translated,
        "billed_characters": len(text),
    }
    if "model_type" in chosen:
        answer["model_type_used"] = chosen["model_type"].removeprefix("prefer_")
    return answer


def read_choices(call: Call) -> dict[str, str]:
    """Return the options of a request that have a list of values.

    Raises:
        ApiError: a value is not in its list, or an option is one that we can't keep to.
    """
    fields = call.fields
    chosen: dict[str, str] = {}
    for name, values in _CHOICES.items():
        given = fields.string(name, or_number=True)
        if given in (None, ""):
            continue
        chosen[name] = str(given).lower()
        if chosen[name] not in values:
            raise unsupported(name, f"There is {', '.join(values)}.")
    if chosen.get("formality") in ("more", "less"):
        raise unsupported(
            "formality", "No model has it for any 'target_lang': use prefer_more or prefer_less."
        )
    for name in _FLAGS:
        fields.flag(name)
    for name in _REFUSED:
        if fields.get(name) not in (None, "", []):
            raise unsupported(name, "This server has none.")
    return chosen


def _models(call: Call, texts: list[str]) -> list[ServedModel]:
    """Return the model of each text; without a source language, of the one it is in."""
    fields, models = call.fields, call.context.models
    source, target = fields.string("source_lang") or None, fields.string("target_lang")
    if source is not None:
        return [models.find(source, target, "", LANGUAGE_FIELDS)] * len(texts)
    return [models.find(None, target, text, LANGUAGE_FIELDS) for text in texts]


async def _glossaries(call: Call, model: ServedModel) -> Glossary | None:
    """Return the terms of the glossaries that a request names."""
    numbers = glossary_numbers(call)
    if not numbers:
        return call.context.with_server_terms(None)
    check_glossary_source(call)
    pair = (model.source, model.target)
    store = call.context.glossaries
    found = await asyncio.to_thread(store.ready, call.key.digest, numbers, pair)
    return call.context.with_server_terms(found)


def glossary_numbers(call: Call) -> list[str]:
    """Return the numbers of the glossaries that a request names.

    Raises:
        ApiError: there are too many, or they are given twice.
    """
    one, several = call.fields.string("glossary_id"), call.fields.names("glossary_ids")
    if one and several:
        raise bad_request("Give either 'glossary_id' or 'glossary_ids', not both.")
    if len(several) > MOST_GLOSSARIES:
        raise bad_request(f"Value for 'glossary_ids' not supported: at most {MOST_GLOSSARIES}.")
    return [one] if one else several


def _requests(
    call: Call, texts: list[str], glossary: Glossary | None, chosen: dict[str, str]
) -> list[TextRequest]:
    """Return what is asked of each text."""
    split = chosen.get("split_sentences", "nonewlines" if "tag_handling" in chosen else "1")
    common = TextRequest("", glossary=glossary, settings={"split": split != "0"})
    wishes = shared_wishes(extra_fields(call.fields), len(texts), common, call.context.limits)
    if split == "nonewlines" and "tag_handling" not in chosen:
        texts = [_one_line(text) for text in texts]
    return [replace(wish, text=text) for wish, text in zip(wishes, texts, strict=True)]


def _one_line(text: str) -> str:
    """Return a text with spaces for the line breaks between its words."""
    inside = text.strip()
    if "\n" not in inside:
        return text
    before = text[: len(text) - len(text.lstrip())]
    return before + " ".join(inside.splitlines()) + text[len(text.rstrip()) :]


async def _translate(
    call: Call, model: ServedModel, requests: list[TextRequest], chosen: dict[str, str]
) -> list[str]:
    if "tag_handling" in chosen:
        options = TagOptions(
            is_html=chosen["tag_handling"] == "html",
            ignored=frozenset(call.fields.names("ignore_tags")),
            splitting=frozenset(call.fields.names("splitting_tags")),
            inline=frozenset(call.fields.names("non_splitting_tags")),
            one_line=chosen.get("split_sentences", "nonewlines") == "nonewlines",
            outline="outline_detection" not in call.fields or call.fields.flag("outline_detection"),
        )
        return await translate_tagged(call, model, requests, options)
    found = succeeded(await translate_texts(call, model, requests), "text")
    return [each.text for each in found]


async def usage(call: Call) -> Any:
    """Say how many characters were translated in this month, and how many may be."""
    quota = call.key.quota
    return {
        "character_count": call.context.keys.used(call.key),
        "character_limit": NO_LIMIT if quota is None else quota,
    }


ENDPOINTS = [
    Endpoint("/v2/translate", translate, ("POST",), "translate_bytes", summary="Translate texts"),
    Endpoint("/v2/usage", usage, ("GET", "POST"), summary="Characters translated"),
]

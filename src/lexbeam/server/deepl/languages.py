"""The languages there are, for texts and for glossaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lexbeam.server.context import Call
from lexbeam.server.endpoints import Endpoint
from lexbeam.server.errors import bad_request, unsupported
from lexbeam.server.languages import NAMES, language_name, target_variants

_FEATURES = {"translate_text": ("glossary", "tag_handling"), "translate_document": ("glossary",)}
_TRANSLATING = tuple(_FEATURES)
RESOURCES = (*_TRANSLATING, "glossary", "write", "voice", "style_rules", "translation_memory")


async def languages(call: Call) -> Any:
    """List the languages of one side: ``type`` is source or target."""
    kind = call.fields.string("type")
    kind = "source" if kind is None else kind
    models = call.context.models
    if kind == "source":
        return [{"language": code.upper(), "name": language_name(code)} for code in models.sources]
    if kind == "target":
        return [
            {"language": code.upper(), "name": name, "supports_formality": False}
            for target in models.targets
            for code, name in target_variants(target)
        ]
    raise unsupported("type", "There is source and target.")


async def languages_v3(call: Call) -> Any:
    """List the languages that a resource knows."""
    resource = call.fields.string("resource")
    if resource is None:
        raise bad_request("Parameter 'resource' not specified ('product' was renamed to it).")
    if resource not in RESOURCES:
        raise unsupported("resource", f"There is {', '.join(RESOURCES)}.")
    if resource == "glossary":
        return [_language(code, name, (True, True), ()) for code, name in NAMES.items()]
    if resource not in _TRANSLATING:
        return []
    features = _FEATURES[resource]
    models = call.context.models
    listed = []
    for code in models.languages:
        sides = code in models.sources, code in models.targets
        listed.append(_language(code, language_name(code), sides, features))
        variants = target_variants(code) if sides[1] else ()
        if len(variants) > 1:
            listed += [_language(each, name, (False, True), features) for each, name in variants]
    return listed


def _language(
    code: str, name: str, sides: tuple[bool, bool], features: Iterable[str]
) -> dict[str, Any]:
    return {
        "lang": code,
        "name": name,
        "usable_as_source": sides[0],
        "usable_as_target": sides[1],
        "status": "stable",
        "features": {feature: {"status": "stable"} for feature in features},
    }


async def resources(_call: Call) -> Any:
    """List the resources, and what each can do with its languages."""
    return [
        {
            "name": name,
            "features": [
                {"name": feature, "needs_source_support": True, "needs_target_support": True}
                for feature in _FEATURES.get(name, ())
            ],
        }
        for name in RESOURCES
    ]


async def glossary_pairs(_call: Call) -> Any:
    """List the pairs of languages that a glossary may be for."""
    return {
        "supported_languages": [
            {"source_lang": source, "target_lang": target}
            for source in NAMES
            for target in NAMES
            if source != target
        ]
    }


ENDPOINTS = [
    Endpoint("/v2/languages", languages, ("GET", "POST"), summary="Languages of one side"),
    Endpoint("/v3/languages", languages_v3, summary="Languages of a resource"),
    Endpoint("/v3/languages/resources", resources, summary="What has languages"),
    Endpoint("/v2/glossary-language-pairs", glossary_pairs, summary="Pairs of glossaries"),
]

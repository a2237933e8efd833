"""The languages there are, for texts and for glossaries."""

from __future__ import annotations

from typing import Any

from lexbeam.server.context import Call
from lexbeam.server.endpoints import Endpoint
from lexbeam.server.errors import unsupported
from lexbeam.server.languages import NAMES, language_name, target_variants

_TRANSLATING = ("translate_text", "translate_document", "document", "text")
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
    resource = "translate_text" if resource is None else resource
    if resource not in RESOURCES:
        raise unsupported("resource", f"There is {', '.join(RESOURCES)}.")
    if resource == "glossary":
        return [_language(code, code, name, True, True) for code, name in NAMES.items()]
    if resource not in _TRANSLATING:
        return []
    models = call.context.models
    listed = []
    for code in models.languages:
        is_source, is_target = code in models.sources, code in models.targets
        variants = target_variants(code) if is_target else ()
        if is_source or len(variants) < 2:
            only = is_target and len(variants) < 2
            listed.append(_language(code, code, language_name(code), is_source, only))
        if len(variants) > 1:
            listed += [_language(code, each, name, False, True) for each, name in variants]
    return listed


def _language(_base: str, code: str, name: str, source: bool, target: bool) -> dict[str, Any]:
    return {
        "lang": code,
        "name": name,
        "usable_as_source": source,
        "usable_as_target": target,
        "status": "stable",
        "features": {"glossary": {"status": "stable"}, "tag_handling": {"status": "stable"}},
    }


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
    Endpoint("/v2/glossary-language-pairs", glossary_pairs, summary="Pairs of glossaries"),
]

"""Texts as clients send them: what needs no model, and what stands around the words.

White space around a text is kept. A text without letters comes back as it is, and a text that is
a term of the glossary is that term's translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import LexbeamError
from lexbeam.server.context import Call
from lexbeam.server.models import ServedModel
from lexbeam.server.scheduler import Results
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Alternative, ConstraintReport, Link, Translation

AnyAlternative = TypeVar("AnyAlternative", bound=Alternative)


async def translate_texts(
    call: Call, served: ServedModel, requests: Sequence[TextRequest]
) -> Results:
    """Translate texts; return a translation or an error for each."""
    known = [without_model(request, served) for request in requests]
    waiting = [
        replace(request, text=request.text.strip())
        for request, result in zip(requests, known, strict=True)
        if result is None
    ]
    found = iter(await call.search(served, waiting) if waiting else [])
    return [
        respaced(next(found) if result is None else result, request.text)
        for request, result in zip(requests, known, strict=True)
    ]


def without_model(request: TextRequest, served: ServedModel) -> Translation | None:
    """Return the translation of a text that needs no model, None if it needs one."""
    if request.constraints or request.prefix or not isinstance(request.text, str):
        return None
    text = request.text.strip()
    term = _as_term(text, request.glossary, served) if text and request.glossary else None
    if term is not None:
        return term
    return None if any(character.isalpha() for character in text) else _fixed(text)


def _as_term(text: str, glossary: Glossary, served: ServedModel) -> Translation | None:
    """Return the translation of a text that is a term of a glossary, None if it is none."""
    try:
        found = glossary.find(text, served.source, served.target)
    except LexbeamError:
        return None  # translating the text will say why
    if len(found.entries) != 1 or (found.entries[0].start, found.entries[0].end) != (0, len(text)):
        return None
    rule = found.entries[0].rule
    if not rule.targets:
        return None
    target = rule.targets[0]
    if text[0].isupper() and rule.source[0].islower():
        target = target[0].upper() + target[1:]
    return _fixed(target, [ConstraintReport(rule.targets[0], (0, len(target)), form=target)])


def _fixed(text: str, reports: Sequence[ConstraintReport] = ()) -> Translation:
    return Translation(text, 0.0, list(reports), nbest=[Alternative(text, 0.0, list(reports))])


def respaced(result: Translation | LexbeamError, text: str) -> Translation | LexbeamError:
    """Return a translation with the white space that stood around its source."""
    if isinstance(result, LexbeamError) or not isinstance(text, str):
        return result
    before = text[: len(text) - len(text.lstrip())]
    after = text[len(text.rstrip()) :] if text.strip() else ""
    if not before and not after:
        return result
    moved = [_moved(each, before, after) for each in result.nbest]
    best = _moved(result, before, after)
    return replace(best, nbest=moved)


def _moved(result: AnyAlternative, before: str, after: str) -> AnyAlternative:
    """Return a translation with white space around it; all offsets go along."""

    def moved(span: Span) -> Span:
        return span[0] + len(before), span[1] + len(before)

    reports = [
        replace(
            report,
            span=report.span and moved(report.span),
            spans=tuple(map(moved, report.spans)),
            sources=tuple(map(moved, report.sources)),
        )
        for report in result.constraints
    ]
    links = result.alignment
    if links is not None:
        links = [Link(moved(link.source), moved(link.target)) for link in links]
    return replace(result, text=before + result.text + after, constraints=reports, alignment=links)

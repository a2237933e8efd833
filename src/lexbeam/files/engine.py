"""A translator as the markup module asks for it: many plain texts, an error for each that fails."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from lexbeam.errors import LexbeamError
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.markup import Answer, Request
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation


class Translates(Protocol):
    """What is needed of a `lexbeam.Translator`."""

    info: dict[str, Any]
    """What the model is: languages, files."""

    def translate_each(self, requests: Iterable[TextRequest]) -> list[Translation | LexbeamError]:
        """Translate texts together; return a translation or an error per text."""
        ...


class TranslatorEngine:
    """Translates with one translator; ``constraints`` and ``avoid`` go for every text."""

    def __init__(
        self,
        translator: Translates,
        constraints: Sequence[Any] = (),
        avoid: Sequence[Any] = (),
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._translator = translator
        self._constraints = list(constraints)
        self._avoid = list(avoid)
        self._settings = dict(settings or {})

    @property
    def by_sentence(self) -> bool:
        """Whether texts may be cut into sentences: not if something is asked of each as a whole."""
        return not self._constraints

    def __call__(self, requests: Sequence[Request]) -> list[Answer | LexbeamError]:
        """Return an answer for each request."""
        asked = [self._request(request) for request in requests]
        found = self._translator.translate_each(asked)
        return [each if isinstance(each, LexbeamError) else _answer(each) for each in found]

    def _request(self, request: Request) -> TextRequest:
        settings = {k: v for k, v in self._settings.items() if k not in ("glossary", "keep")}
        settings["nbest"] = request.nbest
        settings["alignments"] = request.aligned
        settings["beam_size"] = max(int(settings.get("beam_size", 10)), request.nbest)
        return TextRequest(
            request.text,
            self._demands(request),
            self._avoid,
            glossary=self._settings.get("glossary"),
            keep=self._settings.get("keep"),
            settings=settings,
        )

    def _demands(self, request: Request) -> list[Any]:
        return [*request.constraints, *(self._constraints if request.whole else ())]

    def signature(self) -> str:
        """Return a key for all that decides how a text is translated."""
        settings = {
            name: value.signature if hasattr(value, "signature") else value
            for name, value in sorted(self._settings.items())
            if name not in ("batch_size", "threads")  # they change nothing
        }
        info = {k: v for k, v in self._translator.info.items() if k != "files"}
        files = [_file_key(Path(name)) for name in self._translator.info.get("files", ())]
        asked = [self._constraints, self._avoid, settings, info, files]
        return json.dumps(asked, sort_keys=True, default=repr)


def _answer(translation: Translation) -> Answer:
    return Answer(
        translation.text,
        tuple(each.text for each in translation.nbest[1:]),
        None if translation.alignment is None else _alignment(translation),
    )


def _alignment(translation: Translation) -> list[tuple[Span, Span]]:
    """Return what translates what; the source of a term is translated by the term alone."""
    links = [(link.source, link.target) for link in translation.alignment or ()]
    for report in translation.constraints:
        if report.span is None or len(report.sources) != 1:
            continue
        term, source = report.span, report.sources[0]
        links = [link for link in links if not _meet(link[0], source) or _meet(link[1], term)]
        links.append((source, term))
    return sorted(links)


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _file_key(path: Path) -> list[Any]:
    """Return what tells a file of a model from another."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            head = file.read(1 << 20)
    except OSError:
        return [path.name]
    return [path.name, status.st_size, hashlib.sha256(head).hexdigest()]


def text_key(signature: str, parts: Iterable[Any]) -> str:
    """Return the key of a text in the journal."""
    written = json.dumps([signature, list(parts)], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()

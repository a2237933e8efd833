"""What a request comes to with a model: checked, spelled, and ready to be translated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from lexbeam.arguments import as_items
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.phrases import unusable
from lexbeam.errors import (
    ConstraintError,
    InputError,
    LexbeamError,
    SettingError,
    quoted,
    represented,
)
from lexbeam.models.model import Model
from lexbeam.translation.document import Document
from lexbeam.translation.hiding import Hiding
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.keep import Kept
from lexbeam.translation.kept_spaces import restore_white_space
from lexbeam.translation.pipeline import translate_document
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.restoring import Restoring
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import TextSettings, read_settings
from lexbeam.translation.signature import Signature
from lexbeam.translation.source_terms import SourceDemands, SourceTerms
from lexbeam.translation.ties import find_sources


@dataclass(frozen=True)
class Prepared:
    """A request that can be run."""

    document: Document
    constraints: Constraints
    """What the document has to keep to."""
    found: SourceDemands
    restoring: Restoring
    kept: Sequence[Kept]
    """What is to be kept of the text as it was given."""
    signature: Signature
    prepare_as_given: Callable[[], Prepared]
    """Prepares the same with nothing hidden, should that be needed."""

    def translate(self) -> JobGenerator[Translation]:
        """Translate the text; yields the searches it needs (see `lexbeam.translation.jobs`)."""
        result = yield from translate_document(self.document)
        restored = self.restoring.restore(self.found.respace(result, self.constraints))
        if restored is None:
            as_given = self.prepare_as_given()
            as_given.document.effort.written += self.document.effort.written
            return (yield from as_given.translate())
        given, asked = self.restoring.source.given, self.restoring.asked
        spaced = restore_white_space(restored, given, self.kept, asked)
        return replace(spaced, signature=self.signature, source=given)


class Preparation:
    """Prepares requests for one model."""

    def __init__(self, model: Model, info: Mapping[str, Any]) -> None:
        self._info = info
        self._source = model.source_text
        self._target = model.target_text
        self._max_source_length = model.max_source_length
        self._vocabulary_size = model.engine.vocabulary_size
        self._reads_terms = model.reads_terms
        self._attends = bool(getattr(model.engine, "attends", False))

    def prepare(self, requests: Iterable[TextRequest]) -> list[Prepared | LexbeamError]:
        """Return what can be run of each request, or why nothing can."""
        prepared: list[Prepared | LexbeamError] = []
        known: dict[tuple[int, int], SourceTerms] = {}
        for request in _read_requests(requests):
            try:
                settings = read_settings(request.settings)
                key = id(request.glossary), id(request.keep)
                if key not in known:
                    known[key] = SourceTerms(request.glossary, request.keep, self._info)
                prepared.append(self._prepare_one(request, settings, known[key]))
            except LexbeamError as error:
                prepared.append(error)
        return prepared

    def _prepare_one(
        self, request: TextRequest, settings: TextSettings, terms: SourceTerms
    ) -> Prepared:
        text, prefix = request.text, request.prefix
        if not isinstance(text, str):
            raise InputError(f"the text must be a string, not {type(text).__name__}")
        fault = unusable(text)
        if fault:
            raise InputError(f"the text {quoted(text)} contains {fault}")
        if settings.alignments and not self._attends:
            raise SettingError("alignments: this model can't say which source words it attends to")
        if prefix is not None and not isinstance(prefix, str):
            raise ConstraintError(f"prefix must be text, not {represented(prefix)}")
        language = self._info.get("target_language")
        asked = Constraints.build(request.constraints, request.avoid, prefix, language=language)
        hiding = Hiding.choose(text, terms.find_kept, asked, self._source.can_read, self._attends)
        return self._prepare_hiding(hiding, asked, settings, terms)

    def _prepare_hiding(
        self, hiding: Hiding, asked: Constraints, settings: TextSettings, terms: SourceTerms
    ) -> Prepared:
        """Return a request that can be run, with something hidden or nothing."""
        source = hiding.source
        found = terms.find(source)
        needed = replace(settings, alignments=True) if source.tags else settings
        constraints = found.added_to(find_sources(hiding.asked, source))
        document = Document(
            source.text,
            constraints,
            self._source,
            self._target,
            needed,
            self._max_source_length,
            self._vocabulary_size,
            found.find_invented,
            self._reads_terms,
        )
        restoring = Restoring(hiding, asked, found.hidden, settings.alignments)
        nothing = Hiding.nothing(source.given, asked)
        as_given = partial(self._prepare_hiding, nothing, asked, settings, terms)
        signature = Signature.of(self._info, settings)
        kept = terms.find_kept(source.given)
        return Prepared(document, constraints, found, restoring, kept, signature, as_given)


def _read_requests(given: Any) -> list[TextRequest]:
    """Return requests, or say that they are none."""
    requests = as_items(given)
    if requests is None or not all(isinstance(each, TextRequest) for each in requests):
        raise InputError(f"requests must be a list of TextRequest, not {represented(given)}")
    return requests

"""What a request comes to with a model: checked, spelled, and ready to be translated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
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
from lexbeam.translation.document import Document, TranslatedSentence
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.pipeline import translate_document, translate_freely
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.restoring import Restoring, read_without
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import TextSettings, read_settings
from lexbeam.translation.signature import Signature
from lexbeam.translation.source_terms import SourceDemands, SourceTerms
from lexbeam.translation.ties import find_sources


@dataclass(frozen=True)
class Prepared:
    """A request that can be run."""

    document: Document
    found: SourceDemands
    restoring: Restoring
    signature: Signature
    as_given: tuple[Document, SourceDemands] | None = None
    """The text with everything in it that is hidden otherwise, if a model may know how to
    translate that."""

    def translate(self) -> JobGenerator[Translation]:
        """Translate the text; yields the searches it needs (see `lexbeam.translation.jobs`).

        A free translation of the text as it was given is taken if it has everything.
        """
        if self.as_given is not None:
            document, found = self.as_given
            free = yield from translate_freely(document)
            if free is not None:
                return self._signed(found.respace(free))
        result = yield from translate_document(self.document)
        return self._signed(self.restoring.restore(self.found.respace(result)))

    @property
    def translated(self) -> list[TranslatedSentence]:
        """What the best translation was put together from."""
        document = self.document
        if self.as_given is not None and not all(each.hypotheses for each in document.sentences):
            document = self.as_given[0]
        return document.translated

    def _signed(self, result: Translation) -> Translation:
        return replace(result, signature=self.signature, source=self.restoring.source.given)


class Preparation:
    """Prepares requests for one model."""

    def __init__(self, model: Model, info: Mapping[str, Any]) -> None:
        self._info = info
        self._source = model.source_text
        self._target = model.target_text
        self._max_source_length = model.max_source_length
        self._vocabulary_size = model.engine.vocabulary_size
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
        kept = terms.find_kept(text)
        source = read_without(text, kept, asked, self._source.can_read, self._attends)
        found = terms.find(source, kept)
        needed = replace(settings, alignments=True) if source.tags else settings
        as_given = None
        if source.hidden and self._may_be_free(source, asked, settings):
            whole = ReadableSource.of(text, [])
            demanded = terms.find(whole, kept)
            if not demanded.has_terms:
                as_given = self._document(whole, asked, demanded, settings), demanded
        return Prepared(
            self._document(source, asked, found, needed),
            found,
            Restoring(source, asked, found.hidden, settings.alignments),
            Signature.of(self._info, settings),
            as_given,
        )

    def _document(
        self,
        source: ReadableSource,
        asked: Constraints,
        found: SourceDemands,
        settings: TextSettings,
    ) -> Document:
        return Document(
            source.text,
            found.added_to(find_sources(asked, source)),
            self._source,
            self._target,
            settings,
            self._max_source_length,
            self._vocabulary_size,
            found.find_invented,
        )

    def _may_be_free(
        self, source: ReadableSource, asked: Constraints, settings: TextSettings
    ) -> bool:
        """Return whether a free translation may have all, since the model can read all of it."""
        is_asked = asked.demanded or asked.avoid or asked.prefix or settings.nbest > 1
        return not is_asked and all(self._source.can_read(each.text) for each in source.hidden)


def _read_requests(given: Any) -> list[TextRequest]:
    """Return requests, or say that they are none."""
    requests = as_items(given)
    if requests is None or not all(isinstance(each, TextRequest) for each in requests):
        raise InputError(f"requests must be a list of TextRequest, not {represented(given)}")
    return requests

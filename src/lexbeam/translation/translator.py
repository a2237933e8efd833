"""The façade: load a model, translate with constraints, get text and a report.

>>> import lexbeam
>>> translator = lexbeam.load("en-pt")  # doctest: +SKIP
>>> result = translator.translate("The cat sat.", constraints=["gato"])  # doctest: +SKIP
>>> result.text, result.constraints[0].span  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.glossary import Glossary
from lexbeam.constraints.phrases import unusable
from lexbeam.errors import InputError, SettingError, quoted
from lexbeam.models.loading import load_model
from lexbeam.models.model import Model
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import (
    BatchDecoder,
    Refusal,
    SettingsArguments,
    TextSettings,
    converse,
)
from lexbeam.translation.results import Translation
from lexbeam.translation.source_terms import SourceDemands, SourceTerms

if TYPE_CHECKING:
    from lexbeam.translation.tracing import Recorder, Trace

Shape = str | Mapping[str, Any] | Constraint
"""A phrase, or an object as in ``docs/constraints.md``."""
Shapes = Sequence[Shape]


def load(path: str | Path | None = None, threads: int = 1) -> Translator:
    """Load a model: a folder, the name of a pair that was pulled (``en-de``), or the only one.

    ``threads`` is how many cores one search may use.
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise SettingError(f"threads must be a whole number of at least 1, not {threads!r}")
    return Translator(load_model(path, threads))


class Translator:
    """Translates with one model; ``info`` says which."""

    def __init__(self, model: Model) -> None:
        self.info: dict[str, Any] = dict(model.info)
        self._source = model.source_text
        self._target = model.target_text
        self._max_source_length = model.max_source_length
        boundary, closing = self._target.masks(model.engine.vocabulary_size)
        starting = self._target.spaced_tokens(model.engine.vocabulary_size)
        self._decoder = BatchDecoder(model.engine, boundary, closing, starting)
        self._recorder: Recorder | None = None

    @overload
    def translate(
        self,
        text: str,
        constraints: Shapes | None = None,
        avoid: Shapes | None = None,
        prefix: str | None = None,
        *,
        glossary: Glossary | None = None,
        keep: Sequence[str] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        constraints: Sequence[Shapes | None] | None = None,
        avoid: Sequence[Shapes | None] | None = None,
        prefix: Sequence[str | None] | None = None,
        *,
        glossary: Glossary | None = None,
        keep: Sequence[str] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        constraints: Sequence[Any] | None = None,
        avoid: Sequence[Any] | None = None,
        prefix: str | Sequence[str | None] | None = None,
        *,
        glossary: Glossary | None = None,
        keep: Sequence[str] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> Translation | list[Translation]:
        """Translate a text, or a list of texts together.

        Any text may have several sentences and lines. The phrases of ``constraints`` must
        appear in its translation as whole words (one given twice, twice), those of ``avoid``
        must not; ``prefix`` is what it begins with. Beside phrases there are richer shapes, as
        dicts: ``{"any": ["Fabrik", "Werk"]}``, see ``docs/constraints.md``. For a list of texts
        each of the three is a list with one entry a text. The settings are the fields of
        `TextSettings`.

        What the source terms of a ``glossary`` demand of a text comes on top, and whatever
        ``keep`` matches in it must be in the translation, too: names of `translation.keep.PATTERNS`
        and regular expressions.

        A single text gives a `Translation`, a list gives a list of them in the same order.
        """
        chosen = _settings(settings)
        terms = SourceTerms(glossary, keep, self.info)
        if isinstance(text, str):
            document, found = self._document(text, constraints, avoid, prefix, chosen, terms)
            try:
                return found.respace(self._run([document], chosen)[0])
            except Refusal as refusal:
                raise refusal.reason from None
        asked = _rows(text, constraints=constraints, avoid=avoid, prefix=prefix)
        documents = []
        for i, (each, phrases, avoided, start) in enumerate(asked):
            try:
                documents.append(self._document(each, phrases, avoided, start, chosen, terms))
            except InputError as error:
                raise _numbered(i, error) from error
        try:
            translations = self._run([document for document, _ in documents], chosen)
        except Refusal as refusal:
            raise _numbered(refusal.index, refusal.reason) from None
        pairs = zip(documents, translations, strict=True)
        return [found.respace(translation) for (_, found), translation in pairs]

    def trace(
        self,
        text: str,
        constraints: Shapes | None = None,
        avoid: Shapes | None = None,
        prefix: str | None = None,
        *,
        glossary: Glossary | None = None,
        keep: Sequence[str] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> Trace:
        """Translate a text and keep every step of its search, to be looked at in a browser.

        >>> translator.trace("The cat sat.", ["gato"]).save("beam.html")  # doctest: +SKIP
        """
        from lexbeam.translation.tracing import Recorder  # noqa: PLC0415  (rarely needed)

        recorder = Recorder(self)
        translation = recorder.translator.translate(
            text, constraints, avoid, prefix, glossary=glossary, keep=keep, **settings
        )
        return recorder.trace(translation)

    def watched_by(self, recorder: Recorder) -> Translator:
        """Return the same translator, with a recorder that is shown all it does."""
        watched = copy(self)
        watched._decoder = self._decoder.watched_by(recorder)
        watched._recorder = recorder
        return watched

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return tokens of the target side as its vocabulary writes them, ``▁`` for a space."""
        return self._target.pieces(tokens)

    def _document(
        self,
        text: object,
        constraints: object,
        avoid: object,
        prefix: object,
        settings: TextSettings,
        terms: SourceTerms,
    ) -> tuple[Document, SourceDemands]:
        if not isinstance(text, str):
            raise InputError(f"the text must be a string, not {type(text).__name__}")
        fault = unusable(text)
        if fault:
            raise InputError(f"the text {quoted(text)} contains {fault}")
        language = self.info.get("target_language")
        found = terms.find(text)
        asked = found.added_to(Constraints.build(constraints, avoid, prefix, language=language))
        document = Document(
            text, asked, self._source, self._target, settings, self._max_source_length
        )
        return document, found

    def _run(self, documents: Sequence[Document], settings: TextSettings) -> list[Translation]:
        conversations = [document.translate() for document in documents]
        translations = converse(conversations, partial(self._decoder.run, settings=settings))
        if self._recorder is not None:
            self._recorder.keep([document.outcomes for document in documents])
        return translations


def _numbered(index: int, error: InputError) -> InputError:
    return type(error)(f"sentence {index}: {error}")


def _settings(given: SettingsArguments) -> TextSettings:
    unknown = given.keys() - TextSettings.__dataclass_fields__.keys()
    if unknown:
        raise SettingError(
            f"unknown setting {', '.join(sorted(unknown))}: "
            f"there are {', '.join(TextSettings.__dataclass_fields__)}"
        )
    return TextSettings(**given)


def _rows(texts: object, **columns: object) -> list[tuple[Any, ...]]:
    """Line up texts with what is asked of each."""
    if not isinstance(texts, Sequence) or isinstance(texts, bytes):
        raise InputError(f"the text must be a string or a list, not {type(texts).__name__}")
    lined_up: list[Sequence[Any]] = [texts]
    for name, given in columns.items():
        column = [None] * len(texts) if given is None else given
        if isinstance(column, str) or not isinstance(column, Sequence):
            raise InputError(f"{name} must be a list with one entry for each text")
        if len(column) != len(texts):
            raise InputError(
                f"{name} has {len(column)} entries for {len(texts)} texts: give one for each"
            )
        lined_up.append(column)
    return list(zip(*lined_up, strict=True))

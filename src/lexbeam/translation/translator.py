"""The façade: load a model, translate with constraints, get text and a report.

>>> import lexbeam
>>> translator = lexbeam.load("en-pt")  # doctest: +SKIP
>>> result = translator.translate("The cat sat.", constraints=["gato"])  # doctest: +SKIP
>>> result.text, result.constraints[0].span  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from lexbeam.arguments import as_list, as_pairs, as_whole
from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import (
    InputError,
    LexbeamError,
    SettingError,
    represented,
)
from lexbeam.models.formats import load_path
from lexbeam.models.loading import find_model
from lexbeam.models.model import Model
from lexbeam.text.spelling import word_marks
from lexbeam.translation.jobs import BatchDecoder, Found, Job, JobGenerator, run_together
from lexbeam.translation.preparation import Preparation, Prepared
from lexbeam.translation.requests import GivenSettings, Shapes, TextRequest, is_per_text, line_up
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import SettingsArguments, TextSettings, read_settings
from lexbeam.translation.source_terms import SourceTerms, load_glossaries
from lexbeam.translation.word_choices import WordChoices

if TYPE_CHECKING:
    from lexbeam.translation.tracing import Recorder, Trace


def load(path: str | Path | None = None, threads: int = 1) -> Translator:
    """Load a model: a folder, the name of a pair that was pulled (``en-de``), or the only one.

    ``threads`` batches of sentences are searched side by side; results don't depend on it.
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:
        raise SettingError(
            f"threads must be a whole number of at least 1, not {represented(threads)}"
        )
    found = find_model(path)
    return Translator(load_path(found, 1), origin=(found, threads))


class Translator:
    """Translates with one model; ``info`` says which.

    Any number of threads may use one translator at the same time. A translator made by `load`
    can be pickled: the copy loads the model again from its ``origin``, a path and threads.
    """

    def __init__(self, model: Model, origin: tuple[Path, int] | None = None) -> None:
        self.info: dict[str, Any] = dict(model.info)
        self._origin = origin
        self._target = model.target_text
        self._preparation = Preparation(model, self.info)
        self.word_choices = WordChoices(model)
        words = word_marks(self._target, model.engine.vocabulary_size)
        threads, aside = 1 if origin is None else origin[1], model.sets_aside
        self._decoder = BatchDecoder(model.engine, *words, threads, aside)
        self._recorder: Recorder | None = None

    def __repr__(self) -> str:
        sides = [str(self.info.get(f"{side}_language", "?")) for side in ("source", "target")]
        where = "" if self._origin is None else f" from {str(self._origin[0])!r}"
        return f"<lexbeam.Translator {'→'.join(sides)}{where}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise PicklingError("only a translator that lexbeam.load has made can be pickled")
        path, threads = self._origin
        return load, (path.absolute(), threads)

    @overload
    def translate(
        self,
        text: str,
        constraints: Shapes | None = None,
        avoid: Shapes | None = None,
        prefix: str | None = None,
        *,
        glossary: Glossary | str | Path | None = None,
        keep: Sequence[str] | None = None,
        settings: GivenSettings | None = None,
        **named: Unpack[SettingsArguments],
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        constraints: Sequence[Shapes | None] | None = None,
        avoid: Sequence[Shapes | None] | None = None,
        prefix: Sequence[str | None] | None = None,
        *,
        glossary: Glossary | str | Path | Sequence[Glossary | str | Path | None] | None = None,
        keep: Sequence[str] | Sequence[Sequence[str] | None] | None = None,
        settings: GivenSettings | Sequence[GivenSettings | None] | None = None,
        **named: Unpack[SettingsArguments],
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        constraints: Sequence[Any] | None = None,
        avoid: Sequence[Any] | None = None,
        prefix: str | Sequence[str | None] | None = None,
        *,
        glossary: Any = None,
        keep: Any = None,
        settings: Any = None,
        **named: Unpack[SettingsArguments],
    ) -> Translation | list[Translation]:
        """Translate a text, or a list of texts together.

        Any text may have several sentences and lines. The phrases of ``constraints`` must
        appear in its translation as whole words (one given twice, twice), those of ``avoid``
        must not; ``prefix`` is what it begins with. Beside phrases there are richer shapes, as
        dicts: ``{"any": ["Fabrik", "Werk"]}``, see ``docs/constraints.md``.

        What the source terms of a ``glossary`` (an object, or the path of its file) demand of a
        text comes on top, and whatever
        ``keep`` matches in it must be in the translation, too: names of `translation.keep.PATTERNS`
        and regular expressions. The settings are the fields of `TextSettings`, given by their
        names or as ``settings``.

        For a list of texts ``constraints``, ``avoid`` and ``prefix`` are lists with one entry per
        text; ``glossary``, ``keep`` and ``settings`` may be.

        A single text gives a `Translation`, a list gives a list of them in the same order. The
        first text that can't be translated is an error; see `translate_each` for one per text.
        """
        asked: dict[str, Any] = {"constraints": constraints, "avoid": avoid, "prefix": prefix}
        settings, glossary = _merged(settings, named), load_glossaries(glossary)
        if isinstance(text, str):
            request = TextRequest(text, **asked, glossary=glossary, keep=keep, settings=settings)
            (translation,) = _succeeded(self.translate_each([request]), numbered=False)
            return translation
        self._check_common(glossary, keep, settings)
        requests = line_up(text, **asked, glossary=glossary, keep=keep, settings=settings)
        prepared = _succeeded(self._preparation.prepare(requests))
        return _succeeded(self._run(prepared))

    def translate_each(self, requests: Iterable[TextRequest]) -> list[Translation | LexbeamError]:
        """Translate texts together, each with settings of its own.

        Returns a translation or an error per text: one that can't be translated does not keep
        the others from it. Sentences share batches where the settings of their search are equal.
        """
        return self._run(self._preparation.prepare(requests))

    def searches(self, request: TextRequest) -> JobGenerator[Translation]:
        """Translate a text by searches that somebody else runs, together with those of others.

        Returns a generator. It yields the searches it needs (see `lexbeam.translation.jobs`), is
        sent what `search` has found for them, and returns the translation in the end; it raises
        what is wrong with the request.
        """
        (prepared,) = _succeeded(self._preparation.prepare([request]), numbered=False)
        return (yield from prepared.translate())

    def search(self, jobs: Sequence[Job], batch_size: int = 32) -> Found:
        """Run searches, of one text or of many; return what became of each."""
        return self._decoder.run(jobs, batch_size)

    def trace(
        self,
        text: str,
        constraints: Shapes | None = None,
        avoid: Shapes | None = None,
        prefix: str | None = None,
        *,
        glossary: Glossary | str | Path | None = None,
        keep: Sequence[str] | None = None,
        settings: GivenSettings | None = None,
        **named: Unpack[SettingsArguments],
    ) -> Trace:
        """Translate a text and keep every step of its search, to be looked at in a browser.

        >>> translator.trace("The cat sat.", ["gato"]).save("beam.html")  # doctest: +SKIP
        """
        from lexbeam.translation.tracing import Recorder  # noqa: PLC0415  (rarely needed)

        recorder = Recorder(self)
        translation = recorder.translator.translate(
            text,
            constraints,
            avoid,
            prefix,
            glossary=glossary,
            keep=keep,
            settings=settings,
            **named,
        )
        return recorder.trace(translation)

    def watched_by(self, recorder: Recorder) -> Translator:
        """Return the same translator, with a recorder that is shown all it does."""
        watched = Translator.__new__(Translator)
        vars(watched).update(vars(self))
        watched._decoder = self._decoder.watched_by(recorder)
        watched._recorder = recorder
        return watched

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return tokens of the target side as its vocabulary writes them, ``▁`` for a space."""
        return self._target.pieces(_read_tokens(tokens, self._decoder.vocabulary_size))

    def _check_common(self, glossary: Any, keep: Any, settings: Any) -> None:
        """Refuse what is wrong for all texts, without naming any."""
        given = {"glossary": glossary, "keep": keep, "settings": settings}
        common = {name: None if is_per_text(name, each) else each for name, each in given.items()}
        SourceTerms(common["glossary"], common["keep"], self.info)
        read_settings(common["settings"])

    def _run(self, prepared: Sequence[Prepared | LexbeamError]) -> list[Translation | LexbeamError]:
        """Translate what was prepared, all together; errors stay where they are."""
        runnable = [each for each in prepared if isinstance(each, Prepared)]
        batch_size = min((each.document.settings.batch_size for each in runnable), default=1)

        def run(jobs: list[Job]) -> Found:
            return self._decoder.run(jobs, batch_size)

        results = run_together([each.translate() for each in runnable], run)
        if self._recorder is not None:
            self._recorder.keep(
                [
                    each.document.translated
                    for each, result in zip(runnable, results, strict=True)
                    if isinstance(result, Translation)
                ]
            )
        finished = iter(results)
        return [next(finished) if isinstance(each, Prepared) else each for each in prepared]


def _read_tokens(given: Any, size: int) -> list[int]:
    """Return tokens of a vocabulary of some size, or say that they are none."""
    listed = as_list(given)
    known = [token for token in map(as_whole, listed or ()) if token is not None]
    if listed is None or len(known) < len(listed) or any(not 0 <= each < size for each in known):
        raise InputError(f"tokens must be a list of numbers below {size}, not {represented(given)}")
    return known


def _merged(settings: Any, named: SettingsArguments) -> Any:
    """Return settings with those that were given by their names; one per text if they were."""
    if not named:
        return settings
    if is_per_text("settings", settings):
        return [_merged_for_one(each, named) for each in settings]
    return _merged_for_one(settings, named)


def _merged_for_one(settings: Any, named: SettingsArguments) -> Any:
    """Return the settings of one text; what is none is left as it is, to be refused later."""
    if isinstance(settings, TextSettings):
        raise SettingError("settings are given twice: leave out the names or the object")
    if settings is None:
        return dict(named)
    pairs = as_pairs(settings)
    return settings if pairs is None else {**named, **dict(pairs)}


AnyResult = TypeVar("AnyResult")


def _succeeded(
    results: Sequence[AnyResult | LexbeamError], numbered: bool = True
) -> list[AnyResult]:
    """Return results, or raise the first error among them, with the number of its text."""
    succeeded = []
    for index, result in enumerate(results):
        if isinstance(result, InputError) and numbered:
            raise result.in_sentence(index) from result
        if isinstance(result, LexbeamError):
            raise result
        succeeded.append(result)
    return succeeded

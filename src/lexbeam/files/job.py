"""Translate a whole file: find its open units, translate their texts, put them in.

A file is gone through twice, once to gather the texts and once to write, so that a large one
need not be in memory as objects. Equal texts are translated once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError, LexbeamError, SettingError
from lexbeam.files.encodings import codec_name
from lexbeam.files.engine import Translates, TranslatorEngine, text_key
from lexbeam.files.formats import find_format
from lexbeam.files.journal import Journal, write_whole
from lexbeam.files.memory import Memory
from lexbeam.files.units import ONLY, Edit, Options, Scan, Unit
from lexbeam.translation.marked_text import (
    Code,
    MarkedText,
    Target,
    fill_in,
    is_translatable,
    plain,
)
from lexbeam.translation.markup import translate_marked

WINDOW = 512
"""Texts translated together, and written to the journal together."""

KEPT = 10_000
"""Open units kept as objects; of more the file is gone through again."""

Progress = Callable[[int, int], object]
Written = Callable[[str, Sequence[str], Sequence[str]], object]


@dataclass
class Failure:
    """A unit that could not be translated, and why."""

    id: str
    reason: str


@dataclass
class Report:
    """What became of a file."""

    path: Path
    format: str
    units: int = 0
    open: int = 0
    words: int = 0
    """Words in the open units."""
    translated: int = 0
    failures: list[Failure] = field(default_factory=list)


def units(
    path: str | Path,
    format: str | None = None,  # noqa: A002  (it is what the option is called)
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    encoding: str | None = None,
) -> list[Unit]:
    """Return the units of a file, in its order.

    Raises:
        InputError: the file can't be read, or its format is not known.
    """
    options = Options(source_language, target_language, encoding=encoding)
    with _Named(Path(path)):
        _, scan = _open(Path(path), format, options)
        return list(scan.units())


def count(
    path: str | Path, info: dict[str, Any], only: str = "untranslated", **options: Any
) -> Report:
    """Return how much of a file is open, for a model with this ``info``."""
    job = _Job(Path(path), info, only, **options)
    with _Named(Path(path)):
        job.gather(None)
    return job.report


def translate(
    path: str | Path,
    out: str | Path,
    translator: Translates,
    *,
    format: str | None = None,  # noqa: A002  (it is what the option is called)
    only: str = "untranslated",
    final: bool = False,
    encoding: str | None = None,
    memory: Sequence[str | Path] = (),
    constraints: Sequence[Any] = (),
    avoid: Sequence[Any] = (),
    progress: Progress | None = None,
    written: Written | None = None,
    **settings: Any,
) -> Report:
    """Translate the open units of a file; ``out`` may be the file itself.

    ``only`` says what is open: ``untranslated``, ``fuzzy`` or ``all``. With ``final`` the
    translations are marked as finished, otherwise as to be reviewed. ``encoding`` is the
    encoding to write, where it is not that of the file. Texts found in the TMX files of
    ``memory`` are taken from there. ``settings`` are those of `Translator.translate`,
    ``glossary`` and ``keep`` included. ``written`` is called with each unit that was translated,
    its sources and its translations as a reader sees them.

    The output appears at once when all is done. A job that was killed goes on where it was when
    it is started again. Units that can't be translated stay as they are; the report lists them.

    Raises:
        InputError: the file can't be read or written, or is for other languages.
    """
    source, target = Path(path), Path(os.path.realpath(out))
    if encoding:
        codec_name(encoding)  # or say that it is unknown
    job = _Job(source, translator.info, only, format=format, final=final)
    with _Named(source):
        engine = TranslatorEngine(translator, constraints, avoid, settings)
        job.gather(Memory(memory, job.options) if memory else None)
        with _Writable(target), Journal(target) as journal:
            job.translate(engine, journal, progress)
            edits = job.edits(written)
            if edits or source.resolve() != target:
                write_whole(target, job.scan.spliced(edits, encoding if edits else None), source)
            journal.remove()
    return job.report


class _Job:
    """One file on its way."""

    def __init__(
        self,
        path: Path,
        info: dict[str, Any],
        only: str = "untranslated",
        *,
        format: str | None = None,  # noqa: A002
        final: bool = False,
    ) -> None:
        if only not in ONLY:
            raise SettingError(f"only must be one of {', '.join(ONLY)}, not {only!r}")
        self._only = only
        self.options = Options(
            info.get("source_language"),
            info.get("target_language"),
            final=final,
            brief=only == "untranslated",
        )
        with _Named(path):
            name, self.scan = _open(path, format, self.options)
        self.report = Report(path, name)
        self._open: list[Unit] | None = []
        self._texts: dict[tuple[Any, ...], MarkedText] = {}
        self._results: dict[tuple[Any, ...], Target | LexbeamError] = {}

    def open_units(self) -> Iterator[Unit]:
        """Yield the units that are to be translated; a file with many is read again."""
        if self._open is not None:
            return iter(self._open)
        return (unit for unit in self.scan.units() if unit.is_open(self._only))

    def gather(self, memory: Memory | None) -> None:
        """Gather the texts of the open units; take those that a memory knows."""
        for unit in self.scan.units():
            self.report.units += 1
            if not unit.is_open(self._only):
                continue
            self.report.open += 1
            if self._open is not None:
                self._open.append(unit)
                if len(self._open) > KEPT:
                    self._open = None
            for source in unit.sources:
                self.report.words += _words(source)
                key = _key(source)
                if key in self._texts or key in self._results:
                    continue
                known = memory.find(source) if memory is not None else None
                if known is not None:
                    self._results[key] = known
                elif is_translatable(source):
                    self._texts[key] = source

    def translate(
        self, engine: TranslatorEngine, journal: Journal, progress: Progress | None
    ) -> None:
        """Translate the texts that were gathered, window by window."""
        signature = engine.signature()
        total = sum(_words(source) for source in self._texts.values())
        waiting: list[tuple[tuple[Any, ...], MarkedText, str]] = []
        for key, source in self._texts.items():
            name = text_key(signature, key)
            finished = journal.get(name, _codes(source))
            if finished is None:
                waiting.append((key, source, name))
            else:
                self._results[key] = finished
        done = total - sum(_words(source) for _, source, _ in waiting)
        for start in range(0, len(waiting), WINDOW):
            window = waiting[start : start + WINDOW]
            if progress is not None:
                progress(done, total)
            found = translate_marked(
                [source for _, source, _ in window], engine, engine.by_sentence
            )
            self._results.update((key, t) for (key, _, _), t in zip(window, found, strict=True))
            journal.add(
                (name, target)
                for (_, _, name), target in zip(window, found, strict=True)
                if isinstance(target, list)
            )
            done += sum(_words(source) for _, source, _ in window)
        if progress is not None:
            progress(total, total)

    def edits(self, written: Written | None = None) -> list[Edit]:
        """Return what is to be changed in the file; note the units that failed."""
        edits: list[Edit] = []
        texts: dict[str, str] = {}  # equal ones are kept once
        for unit in self.open_units():
            try:
                targets = [self._filled(source) for source in unit.sources]
                unit.check_length(targets)
            except LexbeamError as error:
                self.report.failures.append(Failure(unit.id, str(error)))
                continue
            edits += (
                Edit(start, end, texts.setdefault(text, text))
                for start, end, text in unit.write(targets)
            )
            self.report.translated += 1
            if written is not None:
                written(unit.id, [plain(s) for s in unit.sources], [plain(t) for t in targets])
        return [*self.scan.header(), *edits] if edits else []

    def _filled(self, source: MarkedText) -> MarkedText:
        result = self._results.get(_key(source))
        if result is None:
            return source  # nothing to translate in it
        if isinstance(result, LexbeamError):
            raise result
        return fill_in(result, source)


def _open(path: Path, name: str | None, options: Options) -> tuple[str, Scan]:
    try:
        if path.stat().st_size > 2_000_000_000:
            raise InputError("the file is larger than 2 GB")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"can't read the file: {error.strerror or error}") from None
    chosen = find_format(path, data[:4096], name)
    return chosen.name, chosen.open(data, options)


class _Named:
    """Put the name of a file before whatever goes wrong with it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, InputError) and not str(error).startswith(f"{self._path}: "):
            raise type(error)(f"{self._path}: {error}") from None
        if isinstance(error, RecursionError | MemoryError):
            raise InputError(f"{self._path}: the file is too large or nested too deeply") from None


class _Writable:
    """Turn what goes wrong with writing into one error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, LexbeamError | BrokenPipeError):
            raise InputError(f"can't write {self._path}: {error.strerror or error}") from None


def _key(source: MarkedText) -> tuple[Any, ...]:
    """Return what decides the translation of a text: words, and codes without their spelling."""
    return tuple(
        part
        if isinstance(part, str)
        else (part.kind, part.pair, part.number, part.mask, part.ordered)
        for part in source
    )


def _codes(source: MarkedText) -> list[int]:
    return [i for i, part in enumerate(source) if isinstance(part, Code)]


def _words(source: MarkedText) -> int:
    return sum(len(part.split()) for part in source if isinstance(part, str))

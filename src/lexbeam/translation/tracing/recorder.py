"""Keeps the searches of a translation, and finds those that it was made of.

A text may be searched more often than it has sentences: to see which sentence a phrase suits,
or once more because the first output broke what its tokens had promised. Only the searches
whose outputs make up the translation are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError
from lexbeam.search.beam import Hypothesis
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.scorer import Scorer
from lexbeam.search.settings import Settings
from lexbeam.translation.document import TranslatedSentence
from lexbeam.translation.jobs import Hypotheses, Job
from lexbeam.translation.results import Translation
from lexbeam.translation.tracing.collect import BatchWatcher, SearchTrace
from lexbeam.translation.tracing.page import render
from lexbeam.translation.translator import Translator


@dataclass(frozen=True)
class Sentence:
    """A sentence of the text: what it is, what it became, and the search between the two."""

    source: str
    output: str
    search: SearchTrace


@dataclass(frozen=True)
class Trace:
    """What was seen of the translation of a text."""

    sentences: list[Sentence] = field(default_factory=list)
    translation: Translation | None = None
    others: int = 0
    """Searches that were made on the way and are not shown."""
    pieces: Callable[[Sequence[int]], list[str]] = lambda tokens: [str(t) for t in tokens]
    """Writes tokens of the target side."""
    model: dict[str, Any] = field(default_factory=dict)

    def to_html(self) -> str:
        """Return a page that shows the search step by step; it needs nothing but a browser."""
        shown = [(each.source, each.output, each.search) for each in self.sentences]
        return render(shown, self.pieces, self.model, self.others)

    def save(self, path: str | Path) -> None:
        """Write the page to a file."""
        try:
            Path(path).write_text(self.to_html(), encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"can't write the trace: {error}") from error


class Recorder:
    """Watches what ``recorder.translator`` does; `trace` returns what it saw."""

    def __init__(self, translator: Translator) -> None:
        self.translator = translator.watched_by(self)
        self._batch: BatchWatcher | None = None
        self._searches: list[tuple[Hypothesis | None, SearchTrace]] = []
        """What was found, and the search that shows how; one for each of several outputs."""
        self._made = 0
        self._sentences: list[Sentence] = []
        self.texts = 0
        """How many texts have been translated."""

    def begin(
        self, jobs: Sequence[Job], settings: Settings, scorer: Scorer
    ) -> Callable[[ObservedStep], object]:
        """Watch a batch."""
        self._batch = BatchWatcher(jobs, settings, scorer)
        return self._batch

    def end(self, found: Sequence[Hypotheses]) -> None:
        """Keep what was seen of the batch."""
        assert self._batch is not None
        self._made += len(found)
        for rank in range(max(map(len, found), default=0)):
            ranked = [each[rank] if rank < len(each) else None for each in found]
            outputs = [[] if each is None else each.tokens for each in ranked]
            self._searches += zip(ranked, self._batch.searches(outputs), strict=True)

    def keep(self, texts: Sequence[Sequence[TranslatedSentence]]) -> None:
        """Find the searches that translations were made of, given their sentences."""
        for translated in (sentence for sentences in texts for sentence in sentences):
            tokens = translated.hypothesis.tokens  # which stay when the score is another
            for found, search in self._searches:
                if found is not None and found.tokens is tokens:
                    shown = replace(search, source_tokens=translated.source_tokens)
                    sentence = Sentence(translated.source, translated.output, shown)
                    self._sentences.append(sentence)
        self.texts += len(texts)

    def trace(self, translation: Translation | None = None) -> Trace:
        """Return what was seen so far, with the translation if there is just one."""
        return Trace(
            self._sentences,
            translation,
            self._made - len(self._sentences),
            self.translator.pieces,
            self.translator.info,
        )

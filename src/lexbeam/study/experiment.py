"""An experiment: one model, one test set, and what has been measured of them so far."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, cast

from lexbeam.errors import ConstraintError
from lexbeam.models.loading import find_model, load_model
from lexbeam.models.model import Model
from lexbeam.search.scorer import Scorer, Scores
from lexbeam.study import constraint_sets
from lexbeam.study.metrics import Metrics
from lexbeam.study.store import (
    Keyed,
    Result,
    Store,
    digest_of_code,
    digest_of_folder,
    digest_of_lines,
)
from lexbeam.study.test_set import TestSet
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import SettingsArguments
from lexbeam.translation.translator import Translator

CHUNK = 64
"""How many sentences are translated between two calls of the progress function."""

Progress = Callable[[str, float, float], None]
"""Called with the name of a cell, the work done so far and the work in all."""


class Cell(Keyed, Protocol):
    """One measurement, for example a constraint set translated with one setting."""

    def work(self, experiment: Experiment) -> float:
        """Estimate how many hypotheses the model has to score, for the progress bar."""
        ...

    def run(self, experiment: Experiment) -> Result:
        """Measure."""
        ...


class Experiment:
    """A model and a test set. Every cell is measured once; its result is kept in a store."""

    def __init__(
        self, model: Model, text: TestSet, store: Store, seed: int = 0, identity: str = ""
    ) -> None:
        self.counter = CountingScorer(model.engine)
        self.model = dataclasses.replace(model, engine=cast(Scorer, self.counter))
        self.translator = Translator(self.model)
        self.text = text
        self.seed = seed
        self.identity = identity
        self.target = model.target_text
        self._store = store
        self._constraints: dict[str, list[list[str]]] = {}
        self._report_share: Callable[[float], None] = lambda _: None

    @classmethod
    def open(
        cls, model: str | Path | None, text: TestSet, out: Path, seed: int, threads: int
    ) -> Experiment:
        """Load a model, and the results that were measured with it before."""
        identity = digest_of_folder(find_model(model))
        basis = {
            "code": digest_of_code(),
            "runtime": version("onnxruntime"),
            "model": identity,
            "sources": digest_of_lines(text.sources),
            "references": digest_of_lines(text.references),
            "seed": seed,
        }
        return cls(load_model(model, threads), text, Store(out / "cells", basis), seed, identity)

    @cached_property
    def metrics(self) -> Metrics:
        """BLEU and chrF for the target language."""
        return Metrics(self.model.info.get("target_language"))

    # --- cells -------------------------------------------------------------------------------

    def has(self, cell: Keyed) -> bool:
        """Return whether a cell has been measured."""
        return self._store.get(cell) is not None

    def result(self, cell: Cell) -> Result:
        """Return the result of a cell, and measure it first if that has not been done."""
        known = self._store.get(cell)
        return known if known is not None else self._store.put(cell, cell.run(self))

    def measure(self, cells: Iterable[Cell], progress: Progress) -> None:
        """Measure all cells that have not been measured, and report progress meanwhile."""
        missing = [cell for cell in dict.fromkeys(cells) if not self.has(cell)]
        work = [cell.work(self) for cell in missing]
        total, done = sum(work), 0.0
        for cell, its_work in zip(missing, work, strict=True):
            progress(cell.name, done, total)
            with self._reporting(cell.name, done, its_work, total, progress):
                self.result(cell)
            done += its_work
            progress(cell.name, done, total)

    @contextmanager
    def _reporting(
        self, name: str, done: float, work: float, total: float, progress: Progress
    ) -> Iterator[None]:
        """Report progress within one cell while it is measured."""
        self._report_share = lambda share: progress(name, done + share * work, total)
        try:
            yield
        finally:
            self._report_share = lambda _: None

    # --- constraints -------------------------------------------------------------------------

    def constraints(self, set_name: str) -> list[list[str]]:
        """Return the constraints of a set, one list per sentence.

        Phrases that the model can't spell, such as invisible characters, are left out.
        """
        if set_name not in self._constraints:
            made = constraint_sets.make_constraint_set(set_name, self.text.references, self.seed)
            self._constraints[set_name] = [list(filter(self._can_spell, each)) for each in made]
        return self._constraints[set_name]

    def _can_spell(self, phrase: str) -> bool:
        try:
            self.target.spell(phrase)
        except ConstraintError:
            return False
        return True

    def token_counts(self, phrases: Sequence[Sequence[str]]) -> list[int]:
        """Return the number of constraint tokens per sentence, in the model's vocabulary."""
        return [sum(len(self.target.spell(p).ids) for p in these) for these in phrases]

    # --- translating -------------------------------------------------------------------------

    def translate(
        self,
        phrases: Sequence[Sequence[str]],
        settings: SettingsArguments,
        sentences: Sequence[int] | None = None,
    ) -> list[Translation]:
        """Translate the test set, or some sentences of it. A line is never split."""
        chosen = range(len(self.text.sources)) if sentences is None else sentences
        settings = {"split": False, **settings}
        order = sorted(chosen, key=lambda i: len(self.text.sources[i]))
        found: dict[int, Translation] = {}
        size = min(CHUNK, 4 * settings.get("batch_size", CHUNK))
        for start in range(0, len(order), size):
            some = order[start : start + size]
            outputs = self.translator.translate(
                [self.text.sources[i] for i in some],
                [constraint_sets.exact(phrases[i]) for i in some],
                **settings,
            )
            found.update(zip(some, outputs, strict=True))
            self._report_share(len(found) / len(order))
        return [found[i] for i in chosen]


class CountingScorer:
    """A scorer that counts the steps it takes and the hypotheses (rows) it scores."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.steps = 0
        self.rows = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def step(self, state: Any, tokens: Any, *args: Any, **more: Any) -> Scores:
        """Count the step, and take it."""
        self.steps += 1
        self.rows += len(tokens)
        return self._scorer.step(state, tokens, *args, **more)

    def take_counts(self) -> tuple[int, int]:
        """Return the steps and rows since the last call, and start again from 0."""
        counted, self.steps, self.rows = (self.steps, self.rows), 0, 0
        return counted

"""The workbench of a study: a model, a test set, the constraints made from it, the results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, cast

from lexbeam.errors import ConstraintError
from lexbeam.models.loading import find_model, load_model
from lexbeam.models.model import Model
from lexbeam.search.scorer import Scorer, Scores
from lexbeam.study import sets
from lexbeam.study.metrics import Metrics
from lexbeam.study.store import (
    Cell,
    Result,
    Store,
    digest_of_folder,
    digest_of_lines,
    digest_of_search,
)
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import SettingsArguments
from lexbeam.translation.translator import Translator

CHUNK = 64
"""Sentences translated between two signs of life."""

Progress = Callable[[str, float, float], None]
"""Is told what is being measured, how much is done, and of how much."""


class Measurable(Cell, Protocol):
    """A cell that knows how to be measured, and about how much work that is."""

    def cost(self, bench: Bench) -> float:
        """About how many hypotheses the model has to price at each step."""
        ...

    def run(self, bench: Bench) -> Result:
        """Measure."""
        ...


@dataclass
class TestSet:
    """Sentences and their reference translations."""

    __test__ = False  # pytest takes the name for its own

    sources: list[str]
    references: list[str]


class Bench:
    """Measures cells, each once, and hands out the results."""

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
        self._sets: dict[str, list[list[str]]] = {}
        self._advance: Callable[[float], None] = lambda _: None

    @classmethod
    def open(
        cls, model: str | Path | None, text: TestSet, out: Path, seed: int, threads: int
    ) -> Bench:
        """Load a model and find what has been measured of it before."""
        identity = digest_of_folder(find_model(model))
        basis = {
            "code": digest_of_search(),
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

    def has(self, cell: Cell) -> bool:
        """Tell whether a cell has been measured."""
        return self._store.get(cell) is not None

    def result(self, cell: Measurable) -> Result:
        """Return the result of a cell; it is measured if it has not been."""
        known = self._store.get(cell)
        return known if known is not None else self._store.put(cell, cell.run(self))

    def measure(self, cells: Iterable[Measurable], progress: Progress) -> None:
        """Measure all cells that have not been, telling how far it is."""
        missing = [cell for cell in dict.fromkeys(cells) if not self.has(cell)]
        costs = [cell.cost(self) for cell in missing]
        total, done = sum(costs), 0.0
        for cell, cost in zip(missing, costs, strict=True):
            progress(cell.name, done, total)
            with self._telling(cell.name, done, cost, total, progress):
                self.result(cell)
            done += cost
            progress(cell.name, done, total)

    @contextmanager
    def _telling(
        self, name: str, done: float, cost: float, total: float, progress: Progress
    ) -> Iterator[None]:
        self._advance = lambda share: progress(name, done + share * cost, total)
        try:
            yield
        finally:
            self._advance = lambda _: None

    # --- constraints -------------------------------------------------------------------------

    def constraints(self, name: str) -> list[list[str]]:
        """Return the constraints of a set, a list for each sentence."""
        if name not in self._sets:
            made = sets.make(name, self.text.references, self.seed)
            self._sets[name] = [[p for p in these if self._can_spell(p)] for these in made]
        return self._sets[name]

    def _can_spell(self, phrase: str) -> bool:
        """Tell whether the model has any way to write a phrase; invisible ones it has not."""
        try:
            self.target.spell(phrase)
        except ConstraintError:
            return False
        return True

    def token_counts(self, phrases: Sequence[Sequence[str]]) -> list[int]:
        """Return how many tokens the constraints of each sentence are to this model."""
        return [sum(len(self.target.spell(p).ids) for p in these) for these in phrases]

    # --- translating -------------------------------------------------------------------------

    def translate(
        self,
        phrases: Sequence[Sequence[str]],
        settings: SettingsArguments,
        sentences: Sequence[int] | None = None,
    ) -> list[Translation]:
        """Translate the text, or some sentences of it, a line as one sentence."""
        chosen = range(len(self.text.sources)) if sentences is None else sentences
        settings = {"split": False, **settings}
        order = sorted(chosen, key=lambda i: len(self.text.sources[i]))
        found: dict[int, Translation] = {}
        size = min(CHUNK, 4 * settings.get("batch_size", CHUNK))
        for start in range(0, len(order), size):
            some = order[start : start + size]
            outputs = self.translator.translate(
                [self.text.sources[i] for i in some],
                [sets.exactly(phrases[i]) for i in some],
                **settings,
            )
            found.update(zip(some, outputs, strict=True))
            self._advance(len(found) / len(order))
        return [found[i] for i in chosen]


class CountingScorer:
    """A model that counts what it is asked: steps, and hypotheses priced."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.steps = 0
        self.rows = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def step(self, state: Any, tokens: Any, *args: Any, **more: Any) -> Scores:
        """Count, and let the model answer."""
        self.steps += 1
        self.rows += len(tokens)
        return self._scorer.step(state, tokens, *args, **more)

    def count(self) -> tuple[int, int]:
        """Return the steps and rows since the last time this was called."""
        counted, self.steps, self.rows = (self.steps, self.rows), 0, 0
        return counted

"""What the search itself costs per step: ``python benchmarks/step.py``.

The model is a stand-in that returns prepared scores, so that only the time between its answer
and the next question is measured. For each batch size and beam the numbers of
constraint tokens take turns, several rounds of them, so that a busy machine disturbs all of
them alike; the median of the rounds is reported. A round may have several turns with the same
constraints (``--turns``), of which the least time counts: what else the machine does only adds to
it. ``--kinds`` compares what a constraint is instead of how many there are: plain phrases,
alternatives, two parts in order, with a gap, and with a penalty.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from lexbeam.search import kernel
from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam_search import decode
from lexbeam.search.scorer import Scores
from phrases import split_into_phrases

VOCABULARY = 32_000
EOS = 0
BATCHES, BEAMS, CONSTRAINTS = (1, 8, 32), (5, 10, 20), (0, 1, 5, 10, 20, 50)
KINDS = ("phrases", "any", "order", "gap", "soft")
MIDDLE = {"C": 10, "k": 10, "batch": 1}
SWEEP = {
    "C": (0, 1, 2, 5, 10, 20, 50, 100),
    "k": (1, 2, 5, 10, 20, 50, 100),
    "batch": (1, 2, 4, 8, 16, 32, 64),
}
WORDS = np.arange(VOCABULARY) % 3 > 0
"""Two of three tokens begin a word. Phrases are made of those."""


class PreparedScorer:
    """Answers at once with prepared scores. Outputs can end after ``steps`` steps."""

    vocabulary_size, bos, eos = VOCABULARY, EOS, EOS

    def __init__(self, rows: int, top: int, asked: int, steps: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.steps = steps
        self.prepared = [
            (
                -np.sort(random.exponential(2.0, (rows, top)), axis=1).astype(np.float32),
                random.integers(1, VOCABULARY, (rows, top)),
                -random.exponential(8.0, (rows, asked)).astype(np.float32),
            )
            for _ in range(8)
        ]
        self.searching = 0.0
        self.calls = 0
        self._answered = 0.0

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> None:
        """Forget the time of an earlier run."""
        self.searching, self.calls = 0.0, 0

    def step(
        self,
        state: None,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
    ) -> Scores:
        """Stop the clock of the search, return prepared scores, start the clock."""
        if 0 < self.calls <= self.steps:
            self.searching += time.perf_counter() - self._answered
        top_scores, top_ids, ask_scores = self.prepared[self.calls % len(self.prepared)]
        rows, asked = ask.shape
        answer = ask_scores[:rows, :asked].copy()
        answer[:, 0] = -40.0 if self.calls < self.steps else -0.001
        self.calls += 1
        self._answered = time.perf_counter()
        return Scores(top_scores[:rows, :top], top_ids[:rows, :top], answer, state)


def make_phrases(constraints: int, batch: int, seed: int) -> list[list[list[int]]]:
    """Return phrases of 1, 2 and 3 tokens, as words after subword splitting are."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(batch):
        tokens = (1 + random.permutation(VOCABULARY - 1)[:constraints]).tolist()
        sentences.append(split_into_phrases(tokens))
    return sentences


def make_patterns(kind: str, count: int, batch: int, seed: int) -> list[list[Any]]:
    """Return demands of two tokens each, of one kind."""
    random = np.random.default_rng(seed)
    starting = np.flatnonzero(WORDS)
    sentences: list[list[Any]] = []
    for _ in range(batch):
        a, b, c = random.permutation(starting)[: 3 * count].reshape(3, count).tolist()
        sentences.append([_demand(kind, *tokens) for tokens in zip(a, b, c, strict=True)])
    return sentences


def _demand(kind: str, a: int, b: int, c: int) -> Any:
    demands = {
        "phrases": (a, b),
        "any": Pattern(((Form((a, b)), Form((a, c))),)),
        "order": Pattern(((Form((a,)),), (Form((b,)),))),
        "gap": Pattern(((Form((a,)),), (Form((b,)),)), within=5),
        "soft": Pattern(((Form((a, b)),),), penalty=1e6),
    }
    return demands[kind]


def compare_kinds(options: argparse.Namespace) -> None:
    """Print what each kind of constraint costs per step, beside as many plain phrases."""
    print("ms per step with five constraints of two tokens; in brackets over plain phrases\n")
    print(f"{'batch':>5}{'k':>4}" + "".join(f"{kind:>16}" for kind in KINDS))
    for batch in options.batches:
        for beam in options.beams:
            scorer = PreparedScorer(batch * beam, 2 * beam + 64, 128, options.steps)
            median = medians(options, KINDS, partial(measure_kind, options, scorer, batch, beam))
            cells = (f"{median[k]:.3f} ({median[k] / median['phrases']:.2f})" for k in KINDS)
            print(f"{batch:>5}{beam:>4}" + "".join(f"{cell:>16}" for cell in cells))


Key = TypeVar("Key")


def medians(
    options: argparse.Namespace, keys: Sequence[Key], measure: Callable[[Key, int], float]
) -> dict[Key, float]:
    """Measure in turns, with the number of the round as seed, and return the medians."""
    times: dict[Key, list[float]] = {key: [] for key in keys}
    for seed in range(options.rounds):
        least = dict.fromkeys(keys, float("inf"))
        for _ in range(options.turns):
            for key in keys:
                least[key] = min(least[key], measure(key, seed))
        for key in keys:
            times[key].append(least[key])
    return {key: statistics.median(values) for key, values in times.items()}


def measure_kind(
    options: argparse.Namespace,
    scorer: PreparedScorer,
    batch: int,
    beam: int,
    kind: str,
    seed: int,
) -> float:
    """Return the milliseconds per step with five constraints of one kind."""
    decode(
        scorer,
        [None] * batch,
        make_patterns(kind, 5, batch, seed),
        beam_size=beam,
        algorithm=options.algorithm,
        max_length=scorer.steps + 90,
        stop="first",
        boundary=WORDS,
    )
    return 1000 * scorer.searching / scorer.steps


def measure(
    options: argparse.Namespace,
    scorer: PreparedScorer,
    batch: int,
    beam: int,
    constraints: int,
    seed: int,
) -> float:
    """Return the milliseconds per step with so many constraint tokens."""
    phrases = make_phrases(constraints, batch, seed)
    limit = scorer.steps + 3 * constraints + 40
    decode(
        scorer,
        [None] * batch,
        phrases,
        beam_size=beam,
        algorithm=options.algorithm,
        max_length=limit,
        stop="first",
    )
    return 1000 * scorer.searching / scorer.steps


def sweep(options: argparse.Namespace) -> None:
    """Print what a step costs as one of C, k and batch grows; the others stay as in `MIDDLE`."""
    print(f"ms per step; what does not grow: {MIDDLE}\n")
    for name, values in SWEEP.items():

        def measure_one(value: int, seed: int, name: str = name) -> float:
            batch, beam, constraints = (
                {**MIDDLE, name: value}[each] for each in ("batch", "k", "C")
            )
            scorer = PreparedScorer(batch * beam, 2 * beam + 64, 256, options.steps)
            return measure(options, scorer, batch, beam, constraints, seed)

        median = medians(options, values, measure_one)
        print(f"{name:>5}" + "".join(f"{value:>9}" for value in values))
        print(f"{'ms':>5}" + "".join(f"{median[value]:>9.3f}" for value in values))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--turns", type=int, default=1, help="per round; the least time counts")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--beams", type=int, nargs="+", default=BEAMS)
    parser.add_argument("--kinds", action="store_true", help="compare kinds of constraints")
    parser.add_argument("--sweep", action="store_true", help="let C, k and batch grow, one a time")
    parser.add_argument("--algorithm", default="dba")
    options = parser.parse_args()
    print(f"load of the machine at the start: {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    print(f"search kernel: {kernel.describe()}")
    if options.kinds:
        compare_kinds(options)
        return
    if options.sweep:
        sweep(options)
        return
    print("ms per step; added: over C = 0; growth: C = 50 over C = 1\n")
    columns = "".join(f"{f'C = {c}':>10}" for c in CONSTRAINTS)
    print(f"{'batch':>5}{'k':>4}{columns}{'growth':>10}   added")
    for batch in options.batches:
        for beam in options.beams:
            scorer = PreparedScorer(batch * beam, 2 * beam + 64, 128, options.steps)
            median = medians(options, CONSTRAINTS, partial(measure, options, scorer, batch, beam))
            cells = "".join(f"{median[c]:>10.3f}" for c in CONSTRAINTS)
            added = " ".join(f"{median[c] - median[0]:.3f}" for c in CONSTRAINTS[1:])
            print(f"{batch:>5}{beam:>4}{cells}{median[50] / median[1]:>10.2f}   {added}")
    print(f"\nload at the end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()

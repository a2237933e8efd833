"""Draw problems, check them, count, and keep what failed with a way to see it again."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Problem = TypeVar("Problem")

MOST_SHRUNK = 10
"""Failures of one class that are made as simple as they can be; the others are shown as drawn."""


@dataclass(frozen=True)
class Failure:
    """A promise that was not kept."""

    promise: str
    """Which, in a few words: failures of one class share them."""
    says: str
    """What was seen instead."""
    reproduction: str = ""
    """Code or a command that shows it, all by itself."""


@dataclass(frozen=True)
class Kind(Generic[Problem]):
    """One kind of problem."""

    name: str
    draw: Callable[[random.Random], Problem]
    check: Callable[[Problem], Iterable[Failure]]
    show: Callable[[Problem], str]
    """Return the reproduction of a problem."""
    simpler: Callable[[Problem], Iterable[Problem]] = lambda _: ()
    """Return problems like this one with something left out."""


@dataclass
class Tally:
    """What became of the problems of one kind."""

    name: str
    problems: int = 0
    failures: list[Failure] = field(default_factory=list)

    def summary(self) -> str:
        """Return the counts as a few words."""
        return f"{self.name}: {self.problems} problems, {len(self.failures)} failed"

    def by_promise(self) -> str:
        """Return how often each promise was broken."""
        counts = Counter(failure.promise for failure in self.failures)
        return "".join(f"  {count} × {promise}\n" for promise, count in counts.most_common())


def run(
    kind: Kind[Problem],
    seed: int,
    seconds: float = float("inf"),
    problems: float = float("inf"),
    first: int = 0,
    report: Callable[[Failure], object] = lambda _: None,
) -> Tally:
    """Check problems until the time or their number is over.

    Problem number n of a seed is always the same one, whatever came before it.
    """
    tally = Tally(kind.name)
    ends = time.monotonic() + seconds
    while tally.problems < problems and time.monotonic() < ends:
        number = first + tally.problems
        problem = kind.draw(random.Random(f"{kind.name} {seed} {number}"))
        tally.problems += 1
        for failure in kind.check(problem):
            seen = sum(each.promise == failure.promise for each in tally.failures)
            small = shrink(kind, problem, failure.promise) if seen < MOST_SHRUNK else problem
            said = next((f.says for f in kind.check(small) if f.promise == failure.promise), "?")
            where = f"# {failure.promise}: {said}\n# scripts/fuzz --only {kind.name}"
            again = f"{where} --seed {seed} --first {number} --problems 1\n{kind.show(small)}"
            tally.failures.append(Failure(failure.promise, said, again))
            report(tally.failures[-1])
            break
    return tally


def shrink(
    kind: Kind[Problem], problem: Problem, promise: str, tries: int = 400, seconds: float = 10
) -> Problem:
    """Return the simplest problem found that breaks the same promise."""
    ends = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for simpler in kind.simpler(problem):
            tries -= 1
            if tries < 0 or time.monotonic() > ends:
                return problem
            if any(failure.promise == promise for failure in kind.check(simpler)):
                problem, found = simpler, True
                break
    return problem

"""How long hostile requests on short texts take: ``python benchmarks/short_texts.py MODEL``.

Draws requests as ``scripts/fuzz --only text`` does and compares each with a free translation
(`request_size`). What takes too long is measured a second time. MODEL is en-de, en-pt or random.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import lexbeam
from fuzz.text_checks import text_kind, translate, translator
from request_size import TIMES, FreeTime, characters_of, seconds

SENTENCES = (
    "You can reach the server by its name. The password of the user is wrong, please try again. "
    "The house is big. "
)


class Taken(NamedTuple):
    """How long a request takes."""

    times: float
    """In free translations."""
    seconds: float
    number: int
    is_default: bool
    """Whether it is searched as usual: by the default algorithm, and without prices, which take a
    search each."""


def main() -> None:
    """Print how many requests take more than twenty times a free translation, and the slowest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=("en-de", "en-pt", "random"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    one, kind = translator(options.model), text_kind(options.model)
    language, word = ("pt", "casa") if options.model == "en-pt" else ("de", "Haus")
    one.translate("The house.", [{"lemma": word, "language": language}])  # It is read once.
    free, taken = FreeTime(one, SENTENCES), []
    end, number = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        problem: Any = kind.draw(Random(f"text {options.seed} {number}"))
        if problem.echoed is None:
            taken.append(measure(problem, number, free))
        number += 1
    show(options.model, taken)


def measure(problem: Any, number: int, free: FreeTime) -> Taken:
    """Compare a request with a free translation."""
    terms = (word for term in problem.terms for word in term)
    asked = *problem.constraints, *problem.avoid, problem.prefix or "", *terms
    least = free.as_long(problem.text, characters_of(problem.text, *asked))
    took = seconds(partial(answer, problem))
    if took > TIMES * least:
        took = min(took, seconds(partial(answer, problem)))
    settings = problem.settings
    is_default = "algorithm" not in settings and not settings.get("prices")
    return Taken(took / least, took, number, is_default)


def show(model: str, taken: list[Taken]) -> None:
    """Print what was taken."""
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    for name, is_default in (("searched as usual", True), ("otherwise", False)):
        some = sorted((each for each in taken if each.is_default == is_default), reverse=True)
        long = sum(each.times > TIMES for each in some)
        print(
            f"{model}, {name}: {len(some)}, {long} take more than {TIMES} times a free translation"
        )
        for each in some[:10]:
            print(f"number {each.number:5}: {each.seconds:5.2f} s, {each.times:5.1f} times")


def answer(problem: Any) -> None:
    """Translate, or be refused."""
    with suppress(lexbeam.LexbeamError):  # Without a timer: with one, time is told in ticks.
        translate(problem)


if __name__ == "__main__":
    main()

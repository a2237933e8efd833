"""How long hostile requests on short texts take: ``python benchmarks/short_texts.py MODEL``.

Draws requests as ``scripts/fuzz --only text`` does and compares each with a free translation of as
many characters as text and constraints have together. MODEL is en-de, en-pt or random.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import lexbeam
from fuzz.text_checks import no_longer_than, text_kind, translate, translator

SENTENCES = (
    "You can reach the server by its name. The password of the user is wrong, please try again. "
    "The house is big. "
)
TIMES, SPARE, STEP = 20, 0.3, 50


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

    @cache
    def free_seconds(characters: int) -> float:
        text = (SENTENCES * (characters // len(SENTENCES) + 1))[:characters]
        return min(seconds(partial(one.translate, text)) for _ in range(3))

    taken: list[tuple[float, float, int]] = []
    end, number = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        problem: Any = kind.draw(Random(f"text {options.seed} {number}"))
        if problem.echoed is None:
            asked = json.dumps([problem.constraints, problem.avoid, problem.prefix], default=str)
            free = free_seconds((len(problem.text) + len(asked) // 2) // STEP * STEP + STEP)
            taken.append((seconds(partial(answer, problem)), free, number))
        number += 1
    long = [each for each in taken if each[0] > TIMES * each[1]]
    much = [each for each in long if each[0] > TIMES * each[1] + SPARE]
    print(
        f"{options.model}: {len(taken)} requests, {len(long)} take more than {TIMES} times a free"
    )
    print(f"translation, {len(much)} of them also if {SPARE} s are allowed besides. The slowest:")
    for took, free, which in sorted(taken, reverse=True)[:10]:
        print(f"number {which:5}: {took:5.2f} s, {took / free:5.0f} times")


def answer(problem: Any) -> None:
    """Translate, or be refused."""
    try:
        with no_longer_than(60):
            translate(problem)
    except (lexbeam.LexbeamError, TimeoutError):
        pass


def seconds(function: Any) -> float:
    """Return the processor's time that a call takes."""
    started = time.process_time()
    function()
    return time.process_time() - started


if __name__ == "__main__":
    main()

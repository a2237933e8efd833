"""How long mixed constraints take: ``python benchmarks/mixed_requests.py MODEL SRC REF``.

Draws lines of a source text, and constraints of all kinds: half of their words are of the reference
of these lines, half of any. Each request is compared with a free translation of the same text, and
with one of as many characters (`request_size`). MODEL is a path, or ``-`` for the model that comes
along.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import lexbeam
from request_size import LONGEST, TIMES, FreeTime, characters_of, seconds

KINDS = ("word",) * 3 + ("phrase", "any", "gap", "order", "soft", "limit", "lemma", "source")


class Taken(NamedTuple):
    """How many times a free translation of the text, and of as many characters, a request takes."""

    same_text: float
    as_long: float
    seconds: float
    number: int
    constraints: int


def main() -> None:
    """Print both distributions by the number of constraints, and the slowest requests."""
    options, translator, source, reference = read_command_line(__doc__)
    words = words_of(reference)
    attempt(translator, source[0], [{"lemma": words[0]}], [])  # The dictionary is read once.

    measured = FreeTime(translator, " ".join(source))
    taken: list[Taken] = []
    end, number = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        chance = Random(f"{options.seed} {number}")
        drawn = draw(chance, source, reference, words, options.constraints)
        number += 1
        characters = characters_of(drawn[0], *drawn[1], *drawn[2])
        if characters > LONGEST:
            continue
        free = measured.of_text(drawn[0])
        as_long = measured.as_long(drawn[0], characters, free)
        took = seconds(partial(attempt, translator, *drawn))
        taken.append(Taken(took / free, took / as_long, took, number - 1, len(drawn[1])))
    show(taken)


def read_command_line(
    description: str,
) -> tuple[argparse.Namespace, lexbeam.Translator, list[str], list[str]]:
    """Return seed and seconds, the model, and the lines of a text and of its translation."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--constraints", type=int, help="So many each, not various numbers.")
    options = parser.parse_args()
    translator = lexbeam.load(None if options.model == "-" else options.model)
    source, reference = (
        path.read_text(encoding="utf-8").splitlines()
        for path in (options.source, options.reference)
    )
    return options, translator, source, reference


def words_of(lines: Sequence[str]) -> list[str]:
    """Return the words of some lines, sorted."""
    return sorted({word for line in lines for word in line.split() if word.isalpha()}) or ["a"]


def draw(
    chance: Random,
    source: Sequence[str],
    reference: Sequence[str],
    words: Sequence[str],
    constraints: int | None = None,
) -> tuple[str, list[Any], list[str]]:
    """Return a text, so many constraints or a number that is drawn, and what is avoided."""
    lines = chance.choice((1, 1, 1, 2, 3, 5, 10))
    first = chance.randrange(len(source) - lines)
    text = chance.choice((" ", "\n")).join(source[first : first + lines])
    near = words_of(reference[first : first + lines])

    def word() -> str:
        return chance.choice(near if chance.random() < 0.5 else words)

    make: dict[str, Callable[[], Any]] = {
        "word": word,
        "phrase": lambda: f"{word()} {word()}",
        "any": lambda: {"any": [word(), word(), word()]},
        "gap": lambda: {"gap": [word(), word()], "within": chance.choice((1, 3, 5))},
        "order": lambda: {"order": [word(), word()]},
        "soft": lambda: {"text": word(), "soft": chance.choice((1, 5, 20))},
        "limit": lambda: {"text": word(), chance.choice(("exactly", "at_most")): 1},
        "lemma": lambda: {"lemma": word()},
        "source": lambda: {"text": word(), "source": chance.choice(text.split())},
    }
    count = constraints or chance.choice((1, 2, 3, 5, 8, 16, 32, 64))
    asked = [make[chance.choice(KINDS)]() for _ in range(count)]
    return text, asked, [word() for _ in range(chance.choice((0, 0, 0, 1, 5)))]


def attempt(translator: lexbeam.Translator, text: str, constraints: Any, avoid: Any) -> None:
    """Translate, or be refused."""
    with suppress(lexbeam.LexbeamError):
        translator.translate(text, constraints, avoid)


def show(taken: Sequence[Taken]) -> None:
    """Print what was taken."""
    print("                        same text           as many characters")
    print("constraints  requests   median   most  >20   median   most  >20")
    for low, high in ((1, 3), (4, 8), (9, 16), (17, 64), (1, 64)):
        some = [each for each in taken if low <= each.constraints <= high]
        columns = [[each[i] for each in some] or [0.0] for i in (0, 1)]
        shown = "".join(
            f"{np.median(each):9.1f} {max(each):6.1f} {sum(x > TIMES for x in each):4}"
            for each in columns
        )
        print(f"{low:4} to {high:2}  {len(some):8}{shown}")
    for each in sorted(taken, key=lambda each: -each.as_long)[:5]:
        print(f"number {each.number}: {each.seconds:.2f} s, {each.as_long:.0f} times")


if __name__ == "__main__":
    main()

"""A request takes at most twenty times the time of a free translation, or is refused at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import lexbeam
from fuzz.campaign import Failure, Kind
from fuzz.text_checks import no_longer_than, translator
from fuzz.time_problems import SENTENCES, TimeProblem, draw, show, simpler

MOST_TIMES = 20
SPARE_SECONDS = 0.3
"""What a first use of something may take besides."""
AT_ONCE = 0.5
MOST_SECONDS = 120.0


@cache
def translator_with_dictionary() -> lexbeam.Translator:
    """Return a translator that has read the dictionary of lemmas: once, it takes some seconds."""
    one = translator("en-de")
    one.translate("The house.", [{"lemma": "Haus"}])
    return one


@cache
def free_seconds(text: str) -> float:
    """Return the processor's time for a free translation."""
    one = translator("en-de")
    seconds = []
    for _ in range(2):
        started = time.process_time()
        one.translate(text)
        seconds.append(time.process_time() - started)
    return min(seconds)


@cache
def _usual_seconds(characters: int) -> float:
    """Return the time of a free translation of a text of so many characters."""
    text = " ".join(SENTENCES) * (characters // 300 + 1)
    return free_seconds(text[:characters])


def check(problem: TimeProblem) -> Iterator[Failure]:
    """Yield what takes too long.

    A short text with long constraints has a long translation. So it is compared with the free
    translation of a text that is as long as all of the request.
    """
    one = translator_with_dictionary()
    free = max(free_seconds(problem.text), _usual_seconds(problem.characters // 100 * 100 + 100))
    started = time.process_time()
    refused = ""
    try:
        with no_longer_than(MOST_SECONDS):
            given = problem.text, list(problem.constraints), list(problem.avoid)
            one.translate(*given, keep=list(problem.keep))
    except lexbeam.LexbeamError as error:
        refused = f"{error}"[:200]
    except TimeoutError:
        pass
    taken = time.process_time() - started
    said = f"{taken:.1f} s, a free translation {free:.2f} s; {refused}"
    if refused and taken > max(AT_ONCE, MOST_TIMES * free):
        yield Failure("what is refused is refused at once", said)
    elif taken > MOST_TIMES * free + SPARE_SECONDS:
        yield Failure("a request takes at most twenty times a free translation", said)


TIME: Kind[Any] = Kind("time", draw, check, show, simpler)

"""How long a request is, and how long a free translation of as many characters takes.

A short text with many constraints has a long translation. So requests are compared with free
translations of texts that are as long as text and constraints together, each as often as it is
wanted, or of the text itself if that takes longer: what `lexbeam` promises (docs/promises.md), and
what ``scripts/fuzz --only time`` compares with.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import lexbeam
from fuzz.time_problems import characters_of

__all__ = ["LONGEST", "TIMES", "FreeTime", "characters_of", "seconds"]

TIMES = 20
"""What a request may take, in free translations."""

STEP, LONGEST = 50, 4000
"""Lengths are rounded up, so that few texts are measured, and are no longer than is promised."""


class FreeTime:
    """Measures free translations, those of like length once."""

    def __init__(self, translator: lexbeam.Translator, text: str) -> None:
        """Take what is to be as long as a request from a text, again and again if need be."""
        self._translate = translator.translate
        self._text = text
        self._known: dict[int, float] = {}

    def of_text(self, text: str) -> float:
        """Return the seconds of a free translation of a text."""
        return min(seconds(partial(self._translate, text)) for _ in range(2))

    def as_long(self, text: str, characters: int, of_text: float | None = None) -> float:
        """Return those of a text of so many characters, or of the text itself if that is more.

        ``of_text`` is the latter, if it has been measured.
        """
        length = min(characters // STEP * STEP + STEP, LONGEST)
        if length not in self._known:
            usual = self._text * (length // len(self._text) + 1)
            self._known[length] = self.of_text(usual[:length])
        return max(self._known[length], self.of_text(text) if of_text is None else of_text)


def seconds(function: Callable[[], object]) -> float:
    """Return the processor's time that a call takes."""
    started = time.process_time()
    function()
    return time.process_time() - started

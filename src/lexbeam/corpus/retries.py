"""What becomes of a shard whose worker has died: it is tried again, but not for ever."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lexbeam.corpus.plan import Shard
from lexbeam.corpus.worker import Part
from lexbeam.errors import InputError

ATTEMPTS = 3
"""How often a shard is tried. What kills its worker each time is in the shard."""


@dataclass(frozen=True)
class Lost:
    """A shard that was given up; the others go on."""

    shard: Shard
    reason: str


Outcome = Part | Lost


class Retries:
    """Counts the deaths of workers."""

    def __init__(self, workers: int) -> None:
        self._most_in_a_row = ATTEMPTS * workers
        self._in_a_row = 0
        self._deaths: Counter[str] = Counter()

    def finished(self) -> None:
        """Take note that a part was written: workers can work."""
        self._in_a_row = 0

    def died(self, shard: Shard | None, reason: str) -> Lost | None:
        """Return whether a shard is lost; None means that it is to be tried again.

        Raises:
            InputError: workers do nothing but die.
        """
        self._in_a_row += 1
        if shard is not None:
            self._deaths[shard.part] += 1
            if self._deaths[shard.part] >= ATTEMPTS:
                return Lost(shard, reason)
        if self._in_a_row >= self._most_in_a_row:
            raise InputError(f"one worker after the other has died, the last one {reason}")
        return None

"""What was found for sentences lately, so that a client who asks again is answered at once."""

from __future__ import annotations

from collections import OrderedDict

from lexbeam.translation.jobs import Hypotheses, Job

Key = tuple[int, Job]
"""The number of a model, and a search. What a glossary demands is part of the search, so that
nothing found for other terms comes back."""


class SentenceCache:
    """The searches that were used last; not to be used by two threads at once."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: OrderedDict[Key, Hypotheses] = OrderedDict()
        self.hits = 0
        self.misses = 0

    def __len__(self) -> int:
        return len(self._found)

    def get(self, key: Key) -> Hypotheses | None:
        """Return what was found for a search, None if it is not known."""
        found = self._found.get(key)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._found.move_to_end(key)
        return found

    def put(self, key: Key, found: Hypotheses) -> None:
        """Keep what was found; what has not been used for longest is forgotten."""
        self._found[key] = found
        self._found.move_to_end(key)
        while len(self._found) > self._size:
            self._found.popitem(last=False)

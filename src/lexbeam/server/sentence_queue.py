"""Sentences that wait to be searched, taken from requests in turn.

A request that has a book to translate has one sentence in a batch for every one that another
request has, as long as there are others. A batch is made of searches that can run together: of
one model, with equal settings.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Payload = TypeVar("Payload")

LARGEST_BATCH = 32
"""Sentences searched together at most."""
MOST_OF_ONE_REQUEST = 16
"""Sentences of one request in a batch: a short request never waits for a longer batch."""
MOST_TOKENS = 1200
"""Source tokens in a batch: long sentences take long, and others wait for them."""


@dataclass(frozen=True)
class Waiting(Generic[Payload]):
    """A sentence that waits: whose it is, what it can be searched with, and since when."""

    owner: int
    group: Hashable
    length: int
    since: float
    payload: Payload


class SentenceQueue(Generic[Payload]):
    """A queue for each request; not to be used by two threads at once."""

    def __init__(self) -> None:
        self._queues: OrderedDict[int, deque[Waiting[Payload]]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def owners(self) -> int:
        """How many requests have sentences that wait."""
        return len(self._queues)

    @property
    def oldest(self) -> float:
        """Since when the longest waiting of the first sentences waits."""
        return min((queue[0].since for queue in self._queues.values()), default=0.0)

    def add(self, sentences: Iterable[Waiting[Payload]]) -> None:
        """Let sentences wait behind those that their requests have already."""
        for sentence in sentences:
            self._queues.setdefault(sentence.owner, deque()).append(sentence)
            self._size += 1

    def drop(self, owner: int) -> None:
        """Forget what waits for a request."""
        self._size -= len(self._queues.pop(owner, ()))

    def take(self) -> list[Waiting[Payload]]:
        """Return the next batch; its requests go to the end of the line."""
        if not self._queues:
            return []
        group = next(iter(self._queues.values()))[0].group
        batch: list[Waiting[Payload]] = []
        tokens = 0
        for _ in range(MOST_OF_ONE_REQUEST):
            for owner in list(self._queues):
                queue = self._queues[owner]
                first = queue[0]
                full = len(batch) == LARGEST_BATCH or tokens + first.length > MOST_TOKENS
                if batch and full:
                    return batch
                if first.group == group:
                    batch.append(queue.popleft())
                    self._size -= 1
                    tokens += first.length
                    self._queues.move_to_end(owner)
                    if not queue:
                        del self._queues[owner]
        return batch

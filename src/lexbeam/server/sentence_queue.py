"""Sentences that wait to be searched, taken from requests in turn.

A request that has a book to translate has one sentence in a batch for every one that another
request has, as long as there are others. A batch is made of searches that can run together: of
one model, with equal settings.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Payload = TypeVar("Payload")

LARGEST_BATCH = 32
"""Sentences searched together at most."""
MOST_OF_ONE_REQUEST = 16
"""Sentences of one request in a batch."""
SHORT_REQUEST = 8
"""Sentences that a request has waiting at most to be a short one."""
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
    """A queue for each request; not to be used by two threads at once.

    A request with few sentences left is *short*, one with more is *long*. Batches are of one kind,
    so that the sentences of a book never keep a short request waiting in its own batch.
    """

    def __init__(self) -> None:
        self._queues: OrderedDict[int, deque[Waiting[Payload]]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def owners(self, short: bool) -> list[int]:
        """Return the requests of a kind that have sentences waiting, the next one first."""
        return [
            owner for owner, queue in self._queues.items() if (len(queue) <= SHORT_REQUEST) == short
        ]

    def waiting_since(self, owners: Iterable[int]) -> tuple[float, float]:
        """Return since when the first sentences of requests wait: the oldest, the latest."""
        since = [self._queues[owner][0].since for owner in owners]
        return min(since), max(since)

    def add(self, sentences: Iterable[Waiting[Payload]]) -> None:
        """Let sentences wait behind those that their requests have already."""
        for sentence in sentences:
            self._queues.setdefault(sentence.owner, deque()).append(sentence)
            self._size += 1

    def drop(self, owner: int) -> None:
        """Forget what waits for a request."""
        self._size -= len(self._queues.pop(owner, ()))

    def take(self, owners: Sequence[int]) -> list[Waiting[Payload]]:
        """Return the next batch of some requests, which go to the end of the line."""
        group = self._queues[owners[0]][0].group
        batch: list[Waiting[Payload]] = []
        tokens = 0
        for _ in range(MOST_OF_ONE_REQUEST):
            for owner in owners:
                queue = self._queues.get(owner)
                if not queue or queue[0].group != group:
                    continue
                if batch and (
                    len(batch) == LARGEST_BATCH or tokens + queue[0].length > MOST_TOKENS
                ):
                    return batch
                tokens += queue[0].length
                batch.append(self._pop(owner, queue))
        return batch

    def _pop(self, owner: int, queue: deque[Waiting[Payload]]) -> Waiting[Payload]:
        self._size -= 1
        sentence = queue.popleft()
        self._queues.move_to_end(owner)
        if not queue:
            del self._queues[owner]
        return sentence

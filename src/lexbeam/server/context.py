"""What all endpoints share: models, threads, store, keys, limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError, LexbeamError
from lexbeam.server.bodies import Fields
from lexbeam.server.documents import DocumentStore
from lexbeam.server.errors import ApiError, too_busy
from lexbeam.server.glossaries import GlossaryStore
from lexbeam.server.keys import Key, Keys, this_month
from lexbeam.server.memory import HeldMemory
from lexbeam.server.metrics import Metrics
from lexbeam.server.models import Models, ServedModel
from lexbeam.server.scheduler import Results, Scheduler
from lexbeam.server.store import Store
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation

Result = TypeVar("Result")

_SAVE_EVERY = 5.0
_WAITING_THREADS = 32  # texts with tags and files wait in threads of their own


@dataclass(frozen=True)
class Limits:
    """How much one request may ask for, and how long it may take."""

    translate_bytes: int = 128 * 1024
    glossary_bytes: int = 32 * 1024 * 1024
    """A form takes up to three times as many bytes as the entries in it."""
    document_bytes: int = 30 * 1024 * 1024
    address_bytes: int = 60 * 1024
    texts: int = 20_000
    constraints: int = 100
    beam_size: int = 50
    alternatives: int = 20
    seconds: float = 120.0
    patience: float = 3.0
    """Seconds that a request waits while there is too much to do."""
    waiting_sentences: int = 4000
    waiting_requests: int = 400
    held_bytes: int = 256 * 1024 * 1024
    """Bytes of large bodies and of documents at a time."""


@dataclass
class Context:
    """A running server."""

    models: Models
    scheduler: Scheduler
    store: Store
    keys: Keys
    glossary: Glossary | None = None
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    names: frozenset[str] | None = None
    """Names by which the server may be called; None for any."""
    ready: bool = True

    def __post_init__(self) -> None:
        self.glossaries = GlossaryStore(self.store)
        self.documents = DocumentStore(self.store)
        self.pool = ThreadPoolExecutor(_WAITING_THREADS, "waiting")
        self.memory = HeldMemory(self.limits.held_bytes, self.limits.patience)
        self._background: set[asyncio.Task[None]] = set()
        self._saved = time.monotonic()
        self._waiting = 0

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on after its request was answered."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        """Finish what was begun, and keep what the keys have used."""
        if self._background:
            await asyncio.wait(self._background, timeout=self.limits.seconds)
        await asyncio.to_thread(self.scheduler.stop)
        self.pool.shutdown(wait=False)
        self.save_usage()
        self.store.close()

    def charge(self, key: Key, characters: int) -> None:
        """Count characters of a key, and keep the count from time to time."""
        self.keys.charge(key, characters)
        self.metrics.characters.inc(characters)
        if time.monotonic() - self._saved > _SAVE_EVERY:
            self._saved = time.monotonic()
            self.run_in_background(asyncio.to_thread(self.save_usage))

    def save_usage(self) -> None:
        """Keep what the keys have used."""
        self.store.keep_usage(this_month(), self.keys.all_used)

    async def admit(self) -> None:
        """Wait a little until there is less to do.

        Raises:
            ApiError: there still is too much.
        """
        limits, scheduler = self.limits, self.scheduler
        deadline = time.monotonic() + limits.patience
        while (
            scheduler.waiting > limits.waiting_sentences
            or scheduler.unfinished > limits.waiting_requests
        ):
            if self._waiting > 4 * limits.waiting_requests or time.monotonic() > deadline:
                raise too_busy(5)
            self._waiting += 1
            try:
                await asyncio.sleep(0.05)
            finally:
                self._waiting -= 1

    def with_server_terms(self, glossary: Glossary | None) -> Glossary | None:
        """Return a glossary together with the one that the server was started with."""
        if self.glossary is None or glossary is None:
            return glossary or self.glossary
        return self.glossary.overridden_by(glossary)


@dataclass(frozen=True)
class Call:
    """One request to an endpoint."""

    context: Context
    request: Request
    fields: Fields
    key: Key
    charged: list[int] = field(default_factory=list)

    def charge(self, characters: int) -> None:
        """Count characters of the key; they are taken back if the request fails.

        Raises:
            ApiError: there are more than the key has left.
        """
        self.context.charge(self.key, characters)
        self.charged.append(characters)

    def refund(self) -> None:
        """Take back what was counted."""
        self.context.keys.refund(self.key, sum(self.charged))

    def path(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])

    async def within_time(self, work: Awaitable[Result]) -> Result:
        """Wait for something as long as the client does, and no longer than a request may take.

        Raises:
            ApiError: it took too long, or the client has gone.
        """
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(self._client_gone())
        try:
            await asyncio.wait(
                {task, gone},
                timeout=self.context.limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if task.done():
                return task.result()
            raise ApiError(
                499 if gone.done() else 504, "The request took too long: try again, or send less"
            )
        finally:
            task.cancel()
            gone.cancel()

    async def _client_gone(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            pass

    async def search(self, served: ServedModel, requests: Sequence[TextRequest]) -> Results:
        """Translate texts as they are; return a translation or an error for each."""
        await self.context.admit()
        future = self.context.scheduler.submit(served.translator, requests)
        return await self.within_time(asyncio.wrap_future(future))


def succeeded(results: Sequence[Translation | LexbeamError], field_name: str) -> list[Translation]:
    """Return translations.

    Raises:
        ApiError: one of them is an error.
    """
    for i, result in enumerate(results):
        if isinstance(result, LexbeamError):
            where = f"{field_name} {i}: " if len(results) > 1 else ""
            raise ApiError(status_of(result), f"{where}{result}")
    return [result for result in results if isinstance(result, Translation)]


def status_of(error: LexbeamError) -> int:
    """Return the status by which an error is answered."""
    return 400 if isinstance(error, InputError) else 500

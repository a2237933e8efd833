"""Translates the texts of many requests at once, on a few threads.

Each text is a generator that yields the searches it needs (`Translator.searches`). Their sentences
wait in one queue; a thread that is free takes a batch of them, whoever they belong to, and resumes
the texts whose searches are all done.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from lexbeam.errors import LexbeamError
from lexbeam.server.logs import log_failure
from lexbeam.server.sentence_cache import SentenceCache
from lexbeam.server.sentence_queue import LARGEST_BATCH, SentenceQueue, Waiting
from lexbeam.translation.jobs import Found, Hypotheses, Job, JobGenerator, answer
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation
from lexbeam.translation.translator import Translator

LONGEST_GAP = 0.005
"""Seconds without another sentence after which a batch leaves."""

LONGEST_WAIT = 0.05
"""Seconds after which a batch leaves, even if more sentences come all the time."""

ANSWER_SECONDS = 0.0015
"""Seconds that it takes to send an answer, and for the next request to come."""

_FORGET = 0.7  # share of the number of requests at a time that is remembered from batch to batch

CACHED_SENTENCES = 5_000

Results = list[Translation | LexbeamError]


class InternalError(LexbeamError):
    """Something went wrong that nobody expected; the log says what."""


@dataclass(eq=False)
class _Request:
    """Texts that are answered together."""

    number: int
    results: list[Translation | LexbeamError | None]
    future: Future[Results]
    left: int


@dataclass(eq=False)
class _Text:
    """A text on its way: its generator, and what was found of the searches that it wants."""

    request: _Request
    index: int
    translator: Translator
    generator: JobGenerator[Translation]
    found: Found = field(default_factory=list)
    missing: int = 0


@dataclass(frozen=True)
class _Search:
    """A search, and the places of the text's list that wait for it."""

    text: _Text
    job: Job
    places: tuple[int, ...]


@dataclass
class Counters:
    """What has been done so far."""

    texts: int = 0
    batches: int = 0
    sentences: int = 0


class Scheduler:
    """Threads, a queue and a cache for the translators of a server.

    ``threads`` batches are searched at a time. One thread more is there for short requests while
    long ones are searched, so that they need not wait until a batch of those ends.
    """

    def __init__(self, threads: int, cached: int = CACHED_SENTENCES) -> None:
        self._lock = threading.Condition()
        self._starting: deque[_Text] = deque()
        self._queue: SentenceQueue[_Search] = SentenceQueue()
        self._cache = SentenceCache(cached)
        self._numbers = itertools.count()
        self._at_a_time = 1.0  # requests, lately
        self._free_since = 0.0  # when those of the last batch can be back
        self._cores = threads
        self._running = self._running_long = 0  # batches
        self._stopping = False
        self._unfinished = 0
        self.counters = Counters()
        self._threads = [
            threading.Thread(target=self._work, name=f"search-{i}", daemon=True)
            for i in range(threads + 1)
        ]
        for thread in self._threads:
            thread.start()

    # --- for those who ask ---------------------------------------------------------------------

    def submit(
        self, translator: Translator, requests: Sequence[TextRequest], owner: int | None = None
    ) -> Future[Results]:
        """Translate texts together; the future has a translation or an error per text.

        A future that is cancelled is taken out of the queue. ``owner`` is a number from
        `new_owner` for texts that belong to one request, which gets its turns as one.
        """
        future: Future[Results] = Future()
        if not requests:
            future.set_result([])
            return future
        number = self.new_owner() if owner is None else owner
        request = _Request(number, [None] * len(requests), future, len(requests))
        texts = [
            _Text(request, i, translator, translator.searches(each))
            for i, each in enumerate(requests)
        ]
        future.add_done_callback(partial(self._forget, number))
        with self._lock:
            self._unfinished += 1
            self._at_a_time = max(self._at_a_time, self._unfinished)
            self._starting.extend(texts)
            self._lock.notify()
        return future

    def new_owner(self) -> int:
        """Return a number for a request."""
        return next(self._numbers)

    @property
    def waiting(self) -> int:
        """Sentences that wait for a batch, and texts that are not cut into sentences yet."""
        return len(self._queue) + len(self._starting)

    @property
    def unfinished(self) -> int:
        """Requests that are not answered yet."""
        return self._unfinished

    @property
    def cache(self) -> SentenceCache:
        """What was found lately."""
        return self._cache

    def stop(self) -> None:
        """Finish what was submitted, then end the threads."""
        with self._lock:
            self._stopping = True
            self._lock.notify_all()
        for thread in self._threads:
            thread.join()

    def _forget(self, owner: int, future: Future[Results]) -> None:
        with self._lock:
            self._unfinished -= 1
            if future.cancelled():
                self._queue.drop(owner)
            self._lock.notify_all()

    # --- for the threads -----------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._lock:
                work = self._next()
            if work is None:
                return
            try:
                work()
            except Exception:  # a thread that ends would be missed by all
                log_failure("a worker failed")

    def _next(self) -> Callable[[], None] | None:
        """Wait for something to do; None when there is nothing left and the server stops."""
        while True:
            if self._starting:
                return partial(self._resume, self._starting.popleft(), None)
            wait = None
            if len(self._queue):
                short = self._queue.owners(short=True)
                long = self._queue.owners(short=False)
                if long and self._may_run_long(bool(short)):
                    return self._batch(long, is_long=True)
                if short and self._may_run_short():
                    wait = self._time_left(short)
                    if wait <= 0 or self._stopping:
                        return self._batch(short, is_long=False)
            elif self._stopping and not self._unfinished:
                return None
            self._lock.wait(wait)

    def _time_left(self, owners: Sequence[int]) -> float:
        """Return for how long short requests may still wait for others to share a batch with.

        Not at all if they are as many as can be expected: a share of those that there were
        lately, as there are batches at a time, and one that waits. Those whose batch was just
        done may come back with their next request, so the time counts from when they can be
        there.
        """
        if len(owners) >= min(self._at_a_time / (self._cores + 1), LARGEST_BATCH):
            return 0.0
        oldest, latest = (max(at, self._free_since) for at in self._queue.waiting_since(owners))
        return min(oldest + LONGEST_WAIT, latest + LONGEST_GAP) - time.monotonic()

    def _may_run_long(self, short_ones_wait: bool) -> bool:
        """Return whether a batch of long requests may run: one always, more if nobody waits."""
        if not self._running_long:
            return self._running < self._cores + (self._running_long > 0)
        return not short_ones_wait and self._running < self._cores

    def _may_run_short(self) -> bool:
        """Return whether a batch of short requests may run: beside long ones there is room."""
        return self._running < self._cores + (self._running_long > 0)

    def _batch(self, owners: Sequence[int], is_long: bool) -> Callable[[], None]:
        batch = self._queue.take(owners)
        self._running += 1
        self._running_long += is_long
        if not is_long:
            self._at_a_time = max(self._unfinished, _FORGET * self._at_a_time)
        return partial(self._run_and_count, [each.payload for each in batch], is_long)

    def _run_and_count(self, searches: Sequence[_Search], is_long: bool) -> None:
        try:
            found = _found(searches[0].text.translator, [search.job for search in searches])
            self._deliver(searches, found)
        finally:
            with self._lock:
                self._running -= 1
                self._running_long -= is_long
                self._free_since = time.monotonic() + ANSWER_SECONDS * len(searches)
                self._lock.notify()

    def _resume(self, text: _Text, found: Found | None) -> None:
        """Let a text go on; queue the searches that it wants then, or keep its result."""
        if text.request.future.cancelled():
            text.generator.close()
            return
        try:
            resume = answer(text.generator, found) if found is not None else None
            jobs = resume() if resume is not None else next(text.generator)
            complete = self._enqueue(text, jobs)
        except StopIteration as end:
            self._finish(text, end.value)
        except LexbeamError as error:
            self._finish(text, error)
        except Exception:
            log_failure("a text could not be translated")
            self._finish(text, InternalError("something went wrong with this text"))
        else:
            if complete:
                self._resume(text, text.found)

    def _enqueue(self, text: _Text, jobs: Sequence[Job]) -> bool:
        """Queue searches, short ones first; equal ones once, and none that the cache knows.

        Returns whether the cache knew them all.
        """
        places: dict[Job, list[int]] = {}
        for i, job in enumerate(jobs):
            places.setdefault(job, []).append(i)
        text.found = [[] for _ in jobs]
        model, now = id(text.translator), time.monotonic()
        waiting: list[Waiting[_Search]] = []
        with self._lock:
            for job in sorted(places, key=lambda job: len(job.source)):
                known = self._cache.get((model, job))
                if known is not None:
                    for i in places[job]:
                        text.found[i] = known
                    continue
                search = _Search(text, job, tuple(places[job]))
                group = (model, job.settings)
                waiting.append(Waiting(text.request.number, group, len(job.source), now, search))
            text.missing = len(waiting)
            if not text.request.future.cancelled():
                self._queue.add(waiting)
                self._lock.notify()
        return not waiting

    def _deliver(self, searches: Sequence[_Search], found: Found) -> None:
        """Keep what was found, and let the texts go on that have all they wanted."""
        translator = searches[0].text.translator
        complete: list[_Text] = []
        with self._lock:
            self.counters.batches += 1
            self.counters.sentences += len(searches)
            for search, each in zip(searches, found, strict=True):
                if not isinstance(each, LexbeamError):
                    self._cache.put((id(translator), search.job), each)
                for i in search.places:
                    search.text.found[i] = each
                search.text.missing -= 1
                if not search.text.missing:
                    complete.append(search.text)
            if len(self._queue) or len(complete) > 1:
                self._lock.notify()
        for text in complete:
            self._resume(text, text.found)

    def _finish(self, text: _Text, result: Translation | LexbeamError) -> None:
        request = text.request
        with self._lock:
            self.counters.texts += 1
            request.results[text.index] = result
            request.left -= 1
            finished = not request.left
        if finished and request.future.set_running_or_notify_cancel():
            request.future.set_result([each for each in request.results if each is not None])


def _found(translator: Translator, jobs: Sequence[Job]) -> Found:
    """Search for jobs together; if that fails in a way nobody expected, one by one."""
    try:
        return translator.search(jobs, LARGEST_BATCH)
    except Exception:
        log_failure("a batch failed")
    return [_found_alone(translator, job) for job in jobs]


def _found_alone(translator: Translator, job: Job) -> Hypotheses | LexbeamError:
    try:
        (found,) = translator.search([job])
    except Exception:
        log_failure("a search failed")
        return InternalError("something went wrong with this text")
    return found

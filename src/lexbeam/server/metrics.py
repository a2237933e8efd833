"""What ``/metrics`` shows, for Prometheus: no text, no key, no address."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from lexbeam.server.scheduler import Scheduler

_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "lexbeam_requests",
            "Requests by endpoint and status",
            ["endpoint", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "lexbeam_request_seconds",
            "Seconds until a request was answered",
            ["endpoint"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._counted: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.characters = Counter(
            "lexbeam_characters", "Characters translated", registry=self._registry
        )

    def watch(self, scheduler: Scheduler) -> None:
        """Show what a scheduler does."""
        shown: dict[str, tuple[str, Callable[[], float]]] = {
            "lexbeam_waiting_sentences": ("Sentences in the queue", lambda: scheduler.waiting),
            "lexbeam_unfinished_requests": (
                "Requests being translated",
                lambda: scheduler.unfinished,
            ),
            "lexbeam_batches": ("Batches searched", lambda: scheduler.counters.batches),
            "lexbeam_sentences": ("Sentences searched", lambda: scheduler.counters.sentences),
            "lexbeam_cache_hits": ("Sentences found in the cache", lambda: scheduler.cache.hits),
            "lexbeam_cached_sentences": ("Sentences in the cache", lambda: len(scheduler.cache)),
        }
        for name, (text, value) in shown.items():
            Gauge(name, text, registry=self._registry).set_function(value)

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request."""
        counted = self._counted.get((endpoint, status))
        if counted is None:
            counted = self._requests.labels(endpoint, str(status)), self._seconds.labels(endpoint)
            self._counted[endpoint, status] = counted
        requests, timed = counted
        requests.inc()
        timed.observe(seconds)

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self._registry)

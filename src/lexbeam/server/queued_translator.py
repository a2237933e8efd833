"""A translator for threads that wait: its sentences share the batches of all requests."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

from lexbeam.errors import LexbeamError
from lexbeam.server.models import ServedModel
from lexbeam.server.scheduler import Results, Scheduler
from lexbeam.server.texts import respaced, without_model
from lexbeam.translation.requests import TextRequest


class AbandonedError(LexbeamError):
    """Nobody waits for the translation any more."""


class QueuedTranslator:
    """Translates by way of a scheduler; all that one of them does is one request there."""

    def __init__(self, scheduler: Scheduler, served: ServedModel) -> None:
        self.info: dict[str, Any] = served.translator.info
        self._scheduler = scheduler
        self._served = served
        self._owner = scheduler.new_owner()
        self._abandoned = False
        self._future: Any = None

    def translate_each(self, requests: Iterable[TextRequest]) -> Results:
        """Translate texts together; return a translation or an error per text."""
        asked = list(requests)
        known = [without_model(request, self._served) for request in asked]
        waiting = [
            replace(request, text=request.text.strip())
            for request, result in zip(asked, known, strict=True)
            if result is None
        ]
        found = iter(self._wait(waiting))
        return [
            respaced(next(found) if result is None else result, request.text)
            for request, result in zip(asked, known, strict=True)
        ]

    def _wait(self, requests: list[TextRequest]) -> Results:
        if self._abandoned:
            raise AbandonedError("the request was abandoned")
        self._future = self._scheduler.submit(self._served.translator, requests, self._owner)
        try:
            results: Results = self._future.result()
        except CancelledError:
            raise AbandonedError("the request was abandoned") from None
        return results

    def abandon(self) -> None:
        """Take what is not done yet out of the queue."""
        self._abandoned = True
        if self._future is not None:
            self._future.cancel()

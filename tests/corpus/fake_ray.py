"""A stand-in for Ray whose actors never start, or die: what a busy or broken cluster does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class ActorDiedError(Exception):
    """What Ray raises for a call to an actor that is gone."""


class FakeRay:
    """Has as much of Ray as a pool of actors uses."""

    exceptions = SimpleNamespace(RayActorError=ActorDiedError)

    def __init__(self, *, dies: bool) -> None:
        self._dies = dies
        self.started = 0
        self.killed = 0

    def remote(self, **_: object) -> Any:
        return lambda _: SimpleNamespace(remote=self._start)

    def _start(self, _: object) -> Any:
        self.started += 1
        return SimpleNamespace(start=SimpleNamespace(remote=object))

    def put(self, value: object) -> object:
        return value

    def wait(self, calls: list[object], timeout: float) -> tuple[list[object], list[object]]:
        assert timeout > 0
        return (calls[:1], calls[1:]) if self._dies else ([], calls)

    def get(self, call: object) -> None:
        raise ActorDiedError(f"{call} failed:\nModuleNotFoundError: No module named 'lexbeam'")

    def kill(self, _: object) -> None:
        self.killed += 1

    def available_resources(self) -> dict[str, float]:
        return {"CPU": 0.5}

"""Work on shards on a Ray cluster (extra ``ray``): one actor per process, one call per shard.

Inputs, model and output folder must be where all machines of the cluster see them. An actor that
dies, alone or with its machine, is replaced, and its shard is tried again.
"""

from __future__ import annotations

import logging
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from lexbeam.corpus.plan import Shard
from lexbeam.corpus.retries import Lost, Outcome, Retries
from lexbeam.corpus.worker import OnRows, Part, Task, Worker
from lexbeam.errors import InputError, LexbeamError, MissingExtraError

START_SECONDS = 300
"""How long to wait for a first actor, while the cluster has something else to do or grows."""
CONNECT_SECONDS = 10
_POLL_SECONDS = 1.0


class RayWorker:
    """A worker as an actor; what it refuses to do it returns as text."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._worker: Worker | None = None

    def start(self) -> str | None:
        """Load the model."""
        try:
            self._worker = Worker(self._task)
        except LexbeamError as error:
            return str(error)
        return None

    def run(self, shard: Shard) -> Part | str:
        """Work on a shard."""
        assert self._worker is not None
        try:
            return self._worker.run(shard)
        except LexbeamError as error:
            return str(error)


def on_ray(
    task: Task,
    shards: Sequence[Shard],
    address: str,
    processes: int | None,
    on_rows: OnRows,
) -> Iterator[Outcome]:
    """Yield what became of each shard, in the order in which they are done.

    ``processes`` is how many actors to start; None leaves Ray one CPU and takes all others.
    """
    try:
        import ray  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtraError("--ray", "ray") from error
    with _connected(ray, address):
        count = pool_size(ray.cluster_resources().get("CPU", 0), task.threads, processes)
        pool = _Actors(ray, task, shards, min(count, len(shards)))
        try:
            for outcome, rows in pool.outcomes():
                on_rows(rows)
                yield outcome
        except ray.exceptions.RayError as error:
            raise InputError(f"--ray {address}: {_last_line(error)}") from error
        finally:
            pool.stop()


def pool_size(cpus: float, threads: int, processes: int | None) -> int:
    """Return how many actors to start; one CPU is left to Ray, which would wait for it for ever.

    Raises:
        InputError: there are not as many CPUs.
    """
    most = int((cpus - 1) // threads)
    if most < 1 or (processes is not None and processes > most):
        asked = max(processes or 1, 1)
        advice = f"give at most --processes {most}" if most > 0 else "add machines"
        advice += ", or start Ray with more --num-cpus"
        raise InputError(
            f"{asked} process{'es' * (asked > 1)} with {threads} CPU{'s' * (threads > 1)} each "
            f"would leave Ray none of its {cpus:g} CPUs: {advice}"
        )
    return most if processes is None else processes


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Connect with a cluster, unless this process is connected with one already."""
    if ray.is_initialized():
        yield
        return
    _check_reachable(address)
    local = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level=logging.ERROR,
            **(local if address == "local" else {}),
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise InputError(f"--ray {address}: can't connect: {_last_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Refuse an address that nobody answers at; Ray itself would try for many minutes."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or "/" in host:
        return  # not an address, but a word that Ray knows
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--ray {address}: can't connect: {reason}") from error


class _Actors:
    def __init__(self, ray: Any, task: Task, shards: Sequence[Shard], count: int) -> None:
        self._ray = ray
        self._waiting = deque(shards)
        self._left = len(shards)
        self._retries = Retries(count)
        self._actor = ray.remote(num_cpus=task.threads, max_restarts=0)(RayWorker)
        self._task = ray.put(task)
        self._calls: dict[Any, tuple[Any, Shard | None]] = {}
        """What was called and is not done yet: the actor, and its shard if it has started."""
        for _ in range(count):
            self._start()

    def stop(self) -> None:
        """End all actors."""
        for actor, _ in self._calls.values():
            with suppress(Exception):
                self._ray.kill(actor)

    def outcomes(self) -> Iterator[tuple[Outcome, int]]:
        """Yield what became of each shard, and how many rows more are done by it."""
        heard = time.monotonic()
        while self._left:
            done, _ = self._ray.wait(list(self._calls), timeout=_POLL_SECONDS)
            for call in done:
                heard = time.monotonic()
                outcome = self._answered(call)
                if outcome is not None:
                    self._left -= 1
                    yield outcome
            is_working = any(shard for _, shard in self._calls.values())
            if not is_working and time.monotonic() - heard > START_SECONDS:
                free = self._ray.available_resources().get("CPU", 0)
                raise InputError(
                    f"no process could be started on the cluster for {START_SECONDS} seconds: "
                    f"{free:g} of its CPUs are free"
                )

    def _start(self) -> None:
        actor = self._actor.remote(self._task)
        self._calls[actor.start.remote()] = (actor, None)

    def _answered(self, call: Any) -> tuple[Outcome, int] | None:
        """Hear what a call has come to; give its actor the next shard."""
        actor, shard = self._calls.pop(call)
        try:
            answer = self._ray.get(call)
        except self._ray.exceptions.RayActorError as error:
            return self._died(shard, _last_line(error))
        if isinstance(answer, str):
            raise InputError(answer)
        if self._waiting:
            following = self._waiting.popleft()
            self._calls[actor.run.remote(following)] = (actor, following)
        else:
            self._ray.kill(actor)
        if shard is None:
            return None
        self._retries.finished()
        return answer, shard.slice.rows

    def _died(self, shard: Shard | None, reason: str) -> tuple[Outcome, int] | None:
        """Replace an actor; let its shard wait again, or give it up."""
        lost = self._retries.died(shard, f"of this: {reason}")
        if lost is None and shard is not None:
            self._waiting.appendleft(shard)
        if self._waiting:
            self._start()
        return (lost, 0) if isinstance(lost, Lost) else None


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__

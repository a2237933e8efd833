"""Work on shards in several processes of this machine.

A thread here speaks with each process. A process that dies is replaced, and its shard is tried
again.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from lexbeam.corpus.plan import Shard
from lexbeam.corpus.retries import Lost, Outcome, Retries
from lexbeam.corpus.worker import OnRows, Part, Task
from lexbeam.errors import InputError, LexbeamError

_GRACE_SECONDS = 5  # for a process that has stopped answering to end by itself
_PACKAGES = str(Path(__file__).parents[2])
_START = (
    f"import sys; sys.path.append({_PACKAGES!r}); "
    "from lexbeam.corpus.worker_process import main; main()"
)


def in_processes(
    task: Task, shards: Sequence[Shard], processes: int, on_rows: OnRows
) -> Iterator[Outcome]:
    """Yield what became of each shard, in the order in which they are done."""
    pool = _Pool(task, shards, min(processes, len(shards)))
    try:
        left = len(shards)
        while left:
            event = pool.events.get()
            if isinstance(event, int):
                on_rows(event)
            elif isinstance(event, BaseException):
                raise event
            else:
                left -= 1
                yield event
    finally:
        pool.stop()


class _DiedError(Exception):
    """A process has ended without an answer."""


class _Pool:
    def __init__(self, task: Task, shards: Sequence[Shard], processes: int) -> None:
        self.events: SimpleQueue[int | Outcome | BaseException] = SimpleQueue()
        self._task = task
        self._waiting = deque(shards)
        self._retries = Retries(processes)
        self._lock = threading.Lock()
        self._running: set[_Process] = set()
        self._is_stopped = False
        self._threads = [threading.Thread(target=self._drive) for _ in range(processes)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all processes, whatever they are doing."""
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _drive(self) -> None:
        """Have one process after the other work on shards until none is left."""
        try:
            while self._waiting and not self._is_stopped:
                process = self._start()
                if process is not None:
                    with process:
                        self._give_shards(process)
                    with self._lock:
                        self._running.discard(process)
        except OSError as error:
            self.events.put(InputError(f"can't start a process: {error.strerror or error}"))
        except BaseException as error:
            self.events.put(error)

    def _start(self) -> _Process | None:
        with self._lock:
            if self._is_stopped:
                return None
            process = _Process(self._task)
            self._running.add(process)
            return process

    def _give_shards(self, process: _Process) -> None:
        """Give a process shards until none is left, or it dies."""
        while not self._is_stopped:
            try:
                shard = self._waiting.popleft()
            except IndexError:
                return
            reported: list[int] = []

            def report(rows: int, reported: list[int] = reported) -> None:
                reported.append(rows)
                self.events.put(rows)

            try:
                part = process.run(shard, report)
            except _DiedError as died:
                self.events.put(-sum(reported))
                self._bury(shard, str(died))
                return
            with self._lock:
                self._retries.finished()
            self.events.put(part)

    def _bury(self, shard: Shard, reason: str) -> None:
        """Let a shard whose process has died wait again, or give it up."""
        with self._lock:
            if self._is_stopped:
                return
            lost = self._retries.died(shard, reason)
        if isinstance(lost, Lost):
            self.events.put(lost)
        else:
            self._waiting.appendleft(shard)


class _Process:
    """One process, spoken to through its standard input and output."""

    def __init__(self, task: Task) -> None:
        # A group of its own keeps the interrupts of a terminal away from it.
        group: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **group,
        )
        self._task: Task | None = task

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream and stream.close()
        self._process.wait()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()

    def run(self, shard: Shard, on_rows: Callable[[int], object]) -> Part:
        """Have the process work on a shard."""
        if self._task is not None:
            self._send(self._task)
            self._task = None
        self._send(shard)
        while True:
            kind, content = self._receive()
            if kind == "rows":
                on_rows(content)
            elif kind == "error":
                raise LexbeamError(content)
            elif kind == "done":
                part: Part = content
                return part

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        try:
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()
        except OSError as error:
            raise _DiedError(self._end()) from error

    def _receive(self) -> tuple[str, Any]:
        assert self._process.stdout is not None
        try:
            message: tuple[str, Any] = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise _DiedError(self._end()) from error
        return message

    def _end(self) -> str:
        """Say how the process has ended."""
        try:
            status = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        if status >= 0:
            return f"with exit status {status}"
        why = " (out of memory?)" if -status == signal.SIGKILL else ""
        return f"by signal {-status}{why}"

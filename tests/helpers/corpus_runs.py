"""``lexbeam corpus`` in processes of its own, to be killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_VERBS = ("restart", "select", "open", "close", "delete", "copy", "move", "rename", "print", "save")
_NOUNS = ("computer", "printer", "password", "file", "folder", "window", "network", "server")


def short_lines(count: int) -> list[str]:
    """Return short sentences for the model that comes along; only few of them are equal."""
    return [
        f"{_VERBS[n % 10].capitalize()} the {_NOUNS[n // 10 % 8]} {n // 80}." for n in range(count)
    ]


def start(arguments: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> Started:
    """Start ``lexbeam corpus`` in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "lexbeam", "corpus", *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **(more or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


Started = subprocess.Popen[str]


def finish(arguments: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> str:
    """Run ``lexbeam corpus`` to its end; return its exit status and what it says."""
    process = start(arguments, folder, more)
    output, errors = process.communicate(timeout=200)
    return f"{process.returncode} {output}{errors}"


def wait_for(condition: Callable[[], object], process: Started | None = None) -> None:
    """Wait until something is so; fail if a process ends before it is."""
    for _ in range(4000):
        if condition():
            return
        if process is not None and process.poll() is not None:
            raise AssertionError(f"it has ended: {process.communicate()}")
        time.sleep(0.05)
    raise AssertionError("it does not become so")


class Process(NamedTuple):
    """A process, and what started it."""

    id: int
    parent: int
    parent_command: str


def processes_of(name: str) -> Iterator[Process]:
    """Yield the processes of this machine whose command has a name in it."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if name in _command(path):
                parent = int(path.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                yield Process(int(path.name), parent, _command(Path(f"/proc/{parent}")))


def _command(path: Path) -> str:
    return path.joinpath("cmdline").read_bytes().decode(errors="replace")


def children(process: int, name: str) -> list[int]:
    """Return the processes that a process has started whose command has a name in it."""
    return [each.id for each in processes_of(name) if each.parent == process]


def is_running(process: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False

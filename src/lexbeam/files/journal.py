"""The journal of a job: finished texts, one per line, so that a job that was killed goes on.

It stands beside the output and goes when the output is there. A line that was cut short by the
end of the process is left out when it is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from lexbeam.translation.marked_text import Target


class Journal:
    """Texts by their keys; use it in a ``with`` statement."""

    def __init__(self, output: Path) -> None:
        self.path = output.with_name(f".{output.name}.lexbeam")
        self._file: IO[bytes] | None = None
        self._texts = dict(self._read())

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def _read(self) -> Iterable[tuple[str, Target]]:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError:
            return
        for line in lines:
            try:
                key, target = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                continue
            if isinstance(key, str) and _is_target(target):
                yield key, target

    def get(self, key: str, codes: list[int]) -> Target | None:
        """Return a finished text, if it has the codes that it must have."""
        target = self._texts.get(key)
        if target is None or sorted(p for p in target if isinstance(p, int)) != codes:
            return None
        return target

    def add(self, finished: Iterable[tuple[str, Target]]) -> None:
        """Write down finished texts."""
        lines = [json.dumps([key, target], ensure_ascii=True) for key, target in finished]
        if not lines:
            return
        if self._file is None:
            self._file = self.path.open("ab")
            if self._file.tell():
                self._file.write(b"\n")  # whatever was cut short ends here
        self._file.write(("\n".join(lines) + "\n").encode())
        self._file.flush()

    def remove(self) -> None:
        """Take the journal away: the output is there."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self.path.unlink(missing_ok=True)


def _is_target(target: object) -> bool:
    return isinstance(target, list) and all(
        isinstance(part, str) or (isinstance(part, int) and not isinstance(part, bool))
        for part in target
    )


def write_whole(path: Path, pieces: Iterable[bytes], like: Path) -> None:
    """Write a file that appears at once: beside its place first, then renamed.

    It gets the permissions of what was there, or of the file it was made from.
    """
    part = path.with_name(f".{path.name}.lexbeam-part")
    try:
        with part.open("wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        part.chmod((path if path.exists() else like).stat().st_mode & 0o777)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise

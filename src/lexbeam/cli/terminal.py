"""What commands show on a terminal while they work, and how they end."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import repeat
from typing import IO, Any, TextIO

import click

from lexbeam.cli.start import discard_output


class DownloadBar:
    """One progress bar per file, on a terminal only."""

    def __init__(self) -> None:
        self._bars = ExitStack()
        self._name = ""
        self._bar: Any = None

    def __enter__(self) -> DownloadBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.close()

    def update(self, name: str, done: int, total: int | None) -> None:
        """Show how much of a file is there."""
        if not sys.stderr.isatty() or not total:
            return
        if name != self._name:
            self._bars.close()
            bar = click.progressbar(length=total, label=name, file=sys.stderr)
            self._name, self._bar = name, self._bars.enter_context(bar)
        self._bar.update(done - self._bar.pos)


class StudyBar:
    """One progress bar for a study on a terminal; elsewhere a line for each measurement."""

    def __init__(self) -> None:
        self._bars = ExitStack()
        self._bar: Any = None
        self._name = ""

    def __enter__(self) -> StudyBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.close()

    def update(self, name: str, done: float, total: float) -> None:
        """Show what is being measured."""
        if not sys.stderr.isatty():
            if name != self._name:
                click.echo(f"{100 * done / max(total, 1):3.0f} % {name}", err=True)
            self._name = name
            return
        if self._bar is None:
            self._bar = self._bars.enter_context(
                click.progressbar(
                    length=max(int(total), 1),
                    label="measuring",
                    item_show_func=lambda name: name,
                    file=sys.stderr,
                )
            )
        self._bar.update(int(done) - self._bar.pos, name)


class LineBar:
    """How much of the input has been translated, on a terminal that is free for it.

    A file of known size has a bar; of anything else the lines are counted.
    """

    def __init__(self, reader: IO[bytes], writer: IO[bytes], terminal: TextIO) -> None:
        self._terminal = terminal
        self._is_shown = terminal.isatty() and not writer.isatty() and not reader.isatty()
        size = _file_size(reader)
        self._bar: Any = click.progressbar(
            None if size else repeat(None),
            length=size,
            file=terminal,
            hidden=not self._is_shown,
            item_show_func=lambda lines: "" if lines is None else f"{lines} lines",
        )

    def __enter__(self) -> LineBar:
        self._bar.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.__exit__(*exception)

    def update(self, lines: int, new_bytes: int) -> None:
        """Say how many lines are done, and how many bytes the last ones had."""
        self._bar.update(new_bytes, lines)

    def clear(self) -> None:
        """Take the bar away, so that something else can be written."""
        if self._is_shown:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()


def _file_size(reader: IO[bytes]) -> int | None:
    with suppress(OSError, ValueError, AttributeError):
        status = os.fstat(reader.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            return status.st_size
    return None


@contextmanager
def graceful() -> Iterator[None]:
    """End quietly when nobody reads the output any more."""
    try:
        yield
    except BrokenPipeError:
        discard_output()
        sys.exit(1)

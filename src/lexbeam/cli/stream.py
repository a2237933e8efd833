"""Lines in, lines out: in order, as soon as they are ready, whatever any one of them holds."""

from __future__ import annotations

import os
import queue
import signal
import stat
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from lexbeam.cli.lines import JsonLines, Line, LineFormat
from lexbeam.errors import InputError, LexbeamError
from lexbeam.text.files import decode_line
from lexbeam.translation.translator import Translator

WINDOW_BATCHES = 4
"""Batches read ahead at most: sorting by length needs a choice, output should not wait long."""

_READ_BYTES = 1 << 16
_BAR_WIDTH = 30


class Stream:
    """Translates lines with one translator and one format."""

    def __init__(
        self,
        translator: Translator,
        line_format: LineFormat,
        settings: dict[str, Any],
        errors: IO[str] | None = None,
    ) -> None:
        self._translator = translator
        self._format = line_format
        self._settings = settings
        self._errors = errors or sys.stderr
        self.failed = 0

    def run(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        """Translate every line of a reader; count the lines that failed in ``failed``."""
        progress = _Progress(reader, writer, self._errors)
        window = self._settings["batch_size"] * WINDOW_BATCHES
        for first, raw_lines in _windows(reader, window):
            lines = [self._read(first + i, raw) for i, raw in enumerate(raw_lines)]
            self._translate(lines)
            progress.clear()
            self._write(lines, writer)
            progress.show(first + len(lines) - 1, sum(map(len, raw_lines)))
        progress.clear()

    def run_one(self, text: str, reading: LineFormat, writer: IO[bytes]) -> None:
        """Translate a text that was given whole."""
        line = Line(number=1, record={"text": text})
        reading.read(text, line)
        line.skipped = False
        self._translate([line])
        self._write([line], writer)

    def _read(self, number: int, raw: bytes) -> Line:
        line = Line(number)
        try:
            self._format.read(decode_line(raw, is_first=number == 1), line)
        except InputError as error:
            line.error = str(error)
        return line

    def _translate(self, lines: Sequence[Line]) -> None:
        """Translate lines together; if one spoils it for all, each by itself."""
        waiting = [line for line in lines if line.error is None and not line.skipped]
        if not waiting:
            return
        try:
            translations = self._translator.translate(
                [line.text for line in waiting],
                [line.constraints for line in waiting],
                [line.avoid for line in waiting],
                [line.prefix for line in waiting],
                **self._settings,
            )
        except LexbeamError as error:
            if len(waiting) == 1:
                waiting[0].error = str(error).removeprefix("sentence 0: ")
            else:
                for line in waiting:
                    self._translate([line])
            return
        for line, translation in zip(waiting, translations, strict=True):
            line.translation = translation

    def _write(self, lines: Sequence[Line], writer: IO[bytes]) -> None:
        with _uninterrupted():
            for line in lines:
                self._complain(line)
                self._note(line)
            writer.write("".join(self._format.write(line) + "\n" for line in lines).encode())
            writer.flush()

    def _complain(self, line: Line) -> None:
        """Say on standard error what is wrong with a line."""
        faults = [line.error] if line.error else []
        if line.translation:
            reports = line.translation.constraints
            missing = [report.text for report in reports if not (report.met or report.dropped)]
            faults += [f'the translation lacks "{phrase}"' for phrase in missing]
            faults += [f'the translation has "{each}"' for each in line.translation.unavoided]
        for fault in faults:
            self._say(line, fault)
        self.failed += bool(faults)

    def _note(self, line: Line) -> None:
        """Say on standard error what plain text has no place for."""
        if line.translation is None or isinstance(self._format, JsonLines):
            return
        for report in line.translation.constraints:
            price = "" if report.price is None else f" {report.price:.2f}"
            if report.dropped:
                self._say(line, f'"{report.text}" was dropped: it would cost{price or " too much"}')
            elif price:
                self._say(line, f'"{report.text}" costs{price}')

    def _say(self, line: Line, what: str) -> None:
        shown = f"lexbeam: line {line.number}: {what}\n"
        self._errors.write(shown.encode("utf-8", "backslashreplace").decode())


def _windows(reader: IO[bytes], size: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines that have come in so far, at most ``size``, with the first one's number.

    A thread reads ahead. So a file is taken in large windows, while somebody who types, or a
    program that waits for each answer, gets it at once.
    """
    arrived: queue.Queue[bytes | BaseException | None] = queue.Queue(maxsize=2 * size)
    threading.Thread(target=_read_lines, args=(reader, arrived), daemon=True).start()
    number, ended = 1, False
    while not ended:
        items = [arrived.get()]
        while len(items) < size:
            try:
                items.append(arrived.get_nowait())
            except queue.Empty:
                break
        lines = [item for item in items if isinstance(item, bytes)]
        if lines:
            yield number, lines
        number += len(lines)
        last = items[-1]
        if isinstance(last, BaseException):
            raise InputError(f"can't read the input: {last}") from last
        ended = last is None


def _read_lines(reader: IO[bytes], arrived: queue.Queue[bytes | BaseException | None]) -> None:
    """Put lines on a queue as they come, then None, or the error that ended them."""
    unbuffered = getattr(reader, "raw", reader)  # a buffer would wait until it is full
    rest = b""
    try:
        while chunk := unbuffered.read(_READ_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                arrived.put(line + b"\n")
        if rest:
            arrived.put(rest)
    except (OSError, ValueError) as error:
        arrived.put(error)
    else:
        arrived.put(None)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold back an interrupt until what is being printed has been printed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _frame: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous or signal.default_int_handler)
    if interrupts:
        raise KeyboardInterrupt


class _Progress:
    """A bar (for a file of known size) and a counter, when the terminal is free for them."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes], terminal: IO[str]) -> None:
        self._terminal = terminal
        self._shown = terminal.isatty() and not writer.isatty() and not reader.isatty()
        self._done = 0
        self._total = _file_size(reader)

    def show(self, lines: int, new_bytes: int) -> None:
        """Count up."""
        if self._shown:
            self._done += new_bytes
            self._terminal.write(f"\r{self._bar()}{lines} lines")
            self._terminal.flush()

    def _bar(self) -> str:
        if not self._total:
            return ""
        share = min(1.0, self._done / self._total)
        return f"[{'#' * int(share * _BAR_WIDTH):-<{_BAR_WIDTH}}] {share:4.0%}  "

    def clear(self) -> None:
        """Take the counter away, to make room for something else."""
        if self._shown:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()


def _file_size(reader: IO[bytes]) -> int | None:
    with suppress(OSError, ValueError, AttributeError):
        status = os.fstat(reader.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_size:
            return status.st_size
    return None

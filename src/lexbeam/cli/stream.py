"""Lines in, lines out: in order, as soon as they are ready, whatever any one of them holds."""

from __future__ import annotations

import queue
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import IO, TextIO

from lexbeam.cli.terminal import LineBar
from lexbeam.errors import InputError, LexbeamError
from lexbeam.text.files import decode_line
from lexbeam.translation.lines import JsonLines, Line, LineFormat, PlainLines
from lexbeam.translation.reporting import Reporter
from lexbeam.translation.translator import Translator

WINDOW_BATCHES = 4
"""Batches read ahead at most: sorting by length needs a choice, output should not wait long."""

_READ_BYTES = 1 << 16


class Stream:
    """Translates lines with one translator and one format."""

    def __init__(
        self,
        translator: Translator,
        line_format: LineFormat,
        batch_size: int,
        errors: TextIO | None = None,
        reporter: Reporter | None = None,
    ) -> None:
        """Translate with a translator; ``reporter`` is told of every line and its costs."""
        self._translator = translator
        self._format = line_format
        self._batch_size = batch_size
        self._errors = errors or sys.stderr
        self._reporter = reporter
        self.failed = 0

    def run(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        """Translate every line of a reader; count the lines that failed in ``failed``."""
        window = self._batch_size * WINDOW_BATCHES
        with LineBar(reader, writer, self._errors) as bar:
            for first, raw_lines in _windows(reader, window):
                lines = [self._read(first + i, raw) for i, raw in enumerate(raw_lines)]
                self._translate(lines)
                bar.clear()
                self._write(lines, writer)
                bar.update(first + len(lines) - 1, sum(map(len, raw_lines)))

    def run_one(self, text: str, reading: PlainLines, writer: IO[bytes]) -> None:
        """Translate a text that was given whole, even if there is nothing in it."""
        line = Line(number=1, request=reading.request(text), record={"text": text})
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
        """Translate lines together; one that can't be translated has its error."""
        waiting = [line for line in lines if line.error is None and line.request is not None]
        requests = [line.request for line in waiting if line.request is not None]
        results = self._translator.translate_each(requests)
        for line, result in zip(waiting, results, strict=True):
            if isinstance(result, LexbeamError):
                line.error = str(result)
            else:
                line.translation = result
        if self._reporter is not None:
            for line in lines:
                self._reporter.add_line(line)

    def _write(self, lines: Sequence[Line], writer: IO[bytes]) -> None:
        with _uninterrupted():
            for line in lines:
                self._complain(line)
                self._note(line)
            _write_all(writer, "".join(self._format.write(line) + "\n" for line in lines).encode())

    def _complain(self, line: Line) -> None:
        """Say on standard error what is wrong with a line."""
        for fault in line.faults:
            self._say(line, fault)
        self.failed += bool(line.faults)

    def _note(self, line: Line) -> None:
        """Say on standard error what plain text can't show."""
        if line.translation is None or isinstance(self._format, JsonLines):
            return
        for report in line.translation.constraints:
            is_said = report.price is not None and self._reporter is None
            cost = f" {report.price:.2f}" if is_said else ""
            if report.dropped:
                why = report.reason or f"it would cost{cost or ' too much'}"
                self._say(line, f'"{report.text}" was dropped: {why}')
            elif cost:
                self._say(line, f'"{report.text}" costs{cost}')

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


def _write_all(writer: IO[bytes], written: bytes) -> None:
    """Write and flush; a signal may end a single write to a full pipe before all is written."""
    left = memoryview(written)
    while left:
        left = left[writer.write(left) :]
    writer.flush()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold back an interrupt until what is being printed has been printed; a second one ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        if interrupts:
            raise KeyboardInterrupt  # Nobody may be reading.
        interrupts.append(number)

    previous = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous or signal.default_int_handler)
    if interrupts:
        raise KeyboardInterrupt

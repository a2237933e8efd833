"""Run the command ``lexbeam``, whatever its standard streams are and however it ends.

What can't be said on standard error is not said. Output that can't be written is one line on
standard error and the exit status 1.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, NoReturn

INTERRUPTED = 128 + signal.SIGINT
_CLOSED = ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY))
"""How the null device is opened in place of a stream that is closed: so that reading and writing
fail as they would, while no file that is opened later gets its number."""


def main() -> NoReturn:
    """Run the command and end the process."""
    open_streams()
    from lexbeam.cli.main import main as command  # noqa: PLC0415

    status = run(command)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while Python cleans up
    sys.exit(status)


def run(command: Callable[..., Any]) -> int:
    """Run a command of click; return the exit status once all output is written."""
    try:
        command(prog_name="lexbeam")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except OSError as error:
        status = _fail(error)
    else:
        status = 0
    try:
        sys.stdout.flush()
    except OSError as error:
        status = status or _fail(error)
        discard_output()
    return status


def _fail(error: OSError) -> int:
    where = "standard output" if error.filename is None else error.filename
    sys.stderr.write(f"lexbeam: {where}: {error.strerror or error}\n")
    return 1


def discard_output() -> None:
    """Send what is still buffered for standard output nowhere, so that it can't fail again."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        sys.stdout.flush()


def open_streams() -> None:
    """Give every standard stream an object; standard error gets one that never fails."""
    for number, mode in _CLOSED:
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    sys.stdin = sys.stdin or _text(0, "r")
    sys.stdout = sys.stdout or _text(1, "w")
    encoding = sys.stderr.encoding if sys.stderr else "utf-8"
    sys.stderr = io.TextIOWrapper(
        _ForgivingFile(2, "w", closefd=False),
        encoding,
        "backslashreplace",
        line_buffering=True,
        write_through=True,
    )


def _text(number: int, mode: str) -> Any:
    stream: IO[Any] = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
    return stream


class _ForgivingFile(io.FileIO):
    """A file that takes whatever is written to it, and loses what can't be kept."""

    def write(self, data: Any, /) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        with suppress(OSError):
            while rest:
                written = super().write(rest)
                if written is None:  # the other side is not ready to read
                    break
                rest = rest[written:]
        return size

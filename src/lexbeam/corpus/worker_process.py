"""A worker in a process of its own: it is sent shards on standard input, and answers on output.

It ends when its standard input does, in the middle of a shard if need be: then whoever started
it is gone.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO, Any

from lexbeam.errors import LexbeamError

Message = tuple[str, Any]
"""``ready``; ``rows`` and how many more are done; ``done`` and a part; ``error`` and its text."""


def main() -> None:
    """Work until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started it decides
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints something must not disturb the answers
    received: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(received,), daemon=True).start()
    try:
        _work(received, answers)
    except BrokenPipeError:
        os._exit(1)


def _receive(received: SimpleQueue[Any]) -> None:
    while True:
        try:
            received.put(pickle.load(sys.stdin.buffer))
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)


def _work(received: SimpleQueue[Any], answers: IO[bytes]) -> None:
    def answer(kind: str, content: Any = None) -> None:
        pickle.dump((kind, content), answers)
        answers.flush()

    try:
        from lexbeam.corpus.worker import Worker  # noqa: PLC0415  (importing may fail, too)

        worker = Worker(received.get())
        answer("ready")
        while True:
            answer("done", worker.run(received.get(), lambda rows: answer("rows", rows)))
    except LexbeamError as error:
        answer("error", str(error))
    except BrokenPipeError:
        raise
    except Exception as error:
        answer("error", f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

"""Limits of time that do not depend on what else the machine is doing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Fail if the code inside takes more of the processor's time than this."""
    started = time.process_time()
    yield
    taken = time.process_time() - started
    assert taken <= seconds, f"{taken:.1f} s of processor time, {seconds} are allowed"

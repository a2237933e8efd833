"""Which implementation of a step's arithmetic runs: the compiled one, or NumPy.

A step does some 150 small operations on arrays of about fifty numbers. With NumPy each call costs
more than its arithmetic; the compiled kernel (``_kernel.c``) does the same in a few calls. It is
built when the package is, if there is a compiler. The NumPy code is the definition: it runs where
there is no kernel, for what the kernel does not cover, and with ``LEXBEAM_KERNEL=off``. Results
are equal, and the tests hold them so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.compiled_modules import OFF, SETTING, call, load

__all__ = ["call", "compiled", "describe", "numbers_of_step", "switched"]

WORD_ENDS, KEEP_ALL, DROP, BY_WORTH = 1, 2, 4, 8
"""Flags of a step: ends of words are candidates; all candidates are kept; what lags is dropped; it
lags by what it is worth, not by its score."""

FLAGS, LENGTH, LAG, STEP = 1, 6, 7, 13
"""Indices among the numbers of a step, of those that change."""

UNCHECKED = 0, -np.inf, 0.0
"""What a step is told of the model if its answer has been checked before."""

NOTHING_LEARNT = 0.0, 0.0, 0.0, 0.0, 0.0
NO_COSTS: tuple[NDArray[Any] | None, ...] = (None,) * 15
"""What a step is given of costs if it has none."""

UNCONSTRAINED: tuple[NDArray[Any] | None, ...] = (None,) * 28
"""What a step is given of constraints if there are none."""

_usable, _reason = load("lexbeam.search", "_kernel")
compiled: ModuleType | None = None if OFF else _usable
"""The compiled functions; None: NumPy does it all."""


@lru_cache(maxsize=1024)
def numbers_of_step(
    k: int,
    flags: int,
    model: tuple[int, int, float, float] = (-1, *UNCHECKED),
    lag_and_handicap: tuple[float, float] = (0.0, 0.0),
    costs: tuple[float, ...] = NOTHING_LEARNT,
) -> NDArray[np.float64]:
    """Return the numbers of a step in the order of ``_kernel_step.h``.

    ``model`` is its end of sentence, the size of its vocabulary, what an asked token scores at
    least, and how far log-probabilities may be above 0; ``costs`` are the constants of
    `search.future_cost` and the number of the step. They are made once: nobody may write to them.
    """
    numbers = np.array([k, flags, *model, 1.0, *lag_and_handicap, *costs])
    numbers.flags.writeable = False
    return numbers


def describe() -> str:
    """Return which implementation runs, for users."""
    return "compiled" if compiled is not None else f"NumPy ({_reason or f'{SETTING}=off'})"


@contextmanager
def switched(on: bool) -> Iterator[None]:
    """Run with the compiled kernel, where it is built, or without; for all threads."""
    global compiled  # noqa: PLW0603  (that is what a switch is)
    before = compiled
    compiled = _usable if on else None
    try:
        yield
    finally:
        compiled = before

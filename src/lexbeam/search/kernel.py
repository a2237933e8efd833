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
from types import ModuleType

from lexbeam.compiled_modules import OFF, SETTING, call, load

__all__ = ["call", "compiled", "describe", "switched"]

_usable, _reason = load("lexbeam.search", "_kernel")
compiled: ModuleType | None = None if OFF else _usable
"""The compiled functions; None: NumPy does it all."""


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

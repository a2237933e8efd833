"""Compiled modules: which there are, and whether one can be used.

They make things faster and are built when the package is, if there is a compiler
(``hatch_build.py``). All else works without, and with ``LEXBEAM_KERNEL=off``.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

SETTING = "LEXBEAM_KERNEL"
"""The environment variable that turns compiled modules off."""

OFF = os.environ.get(SETTING, "").lower() == "off"
"""Whether it does."""

_ROOT = Path(__file__).parent


def _checksum(folder: Path, name: str) -> int | None:
    """Return a number for the source of a compiled module; None if it is not there."""
    sources = sorted(folder.glob(f"{name}*.[ch]"))
    if not sources:
        return None
    number = 0
    for path in [*sources, _ROOT / "_compiled_arrays.h"]:
        number = zlib.crc32(path.read_bytes(), number)
    return number


def load(package: str, name: str) -> tuple[ModuleType | None, str]:
    """Return a compiled module of a package, or None and why it can't be used."""
    try:
        module = import_module(f"{package}.{name}")  # it may not be there
    except ImportError:
        return None, "the compiled kernel is not built"
    folder = _ROOT.joinpath(*package.split(".")[1:])
    if _checksum(folder, name) not in (None, module.CHECKSUM):
        return None, "the compiled kernel is older than its source"
    return module, ""


def call(function: Callable[..., Any], *given: Any) -> Any:
    """Call a compiled function; it reads arrays that lie in one piece, so others are copied."""
    try:
        return function(*given)
    except ValueError:
        arrays = (np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in given)
        return function(*arrays)

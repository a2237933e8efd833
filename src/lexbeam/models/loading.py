"""Find a model by its path or its language pair, and load it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lexbeam.errors import ModelError, represented
from lexbeam.models import registry
from lexbeam.models.formats import load_path
from lexbeam.models.model import Model

EMBEDDED = Path(__file__).parent / "embedded" / "en-de"
"""The model that comes with the package: small, English to German."""


def find_model(name: str | Path | None) -> Path:
    """Return the path of a model: one given, a pair that was pulled, or the embedded model."""
    if name is None:
        return EMBEDDED if EMBEDDED.is_dir() else registry.only_installed()
    if not isinstance(name, str | os.PathLike):
        raise ModelError(f"a model has a name or a path, not {represented(name)}")
    path = Path(name)
    with suppress(OSError, ValueError):  # a name that no file can have
        if path.exists():
            return path
    if not registry.is_pair(str(name)):
        raise ModelError(f"there is no model {str(name)!r}: check the path")
    installed = registry.find_installed(str(name))
    if installed is not None:
        return installed
    if name == EMBEDDED.name and EMBEDDED.is_dir():
        return EMBEDDED
    raise ModelError(f"there is no model {str(name)!r}: run: lexbeam pull {name}")


def load_model(name: str | Path | None, threads: int) -> Model:
    """Load a model by its path or its language pair, whatever its format."""
    return load_path(find_model(name), threads)

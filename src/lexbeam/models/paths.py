"""The folders that lexbeam keeps models and caches in, as each system has them.

``LEXBEAM_HOME`` and ``LEXBEAM_CACHE`` name other folders.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from lexbeam.errors import ModelError

_APPLICATION = "lexbeam"


def data_home() -> Path:
    """Return the folder for lexbeam's data; it need not exist."""
    return _chosen("LEXBEAM_HOME") or _checked(
        platformdirs.user_data_path(_APPLICATION, appauthor=False), "LEXBEAM_HOME"
    )


def models_home() -> Path:
    """Return the folder of the models that were pulled: one folder per language pair."""
    return data_home() / "models"


def cache_home() -> Path:
    """Return the folder for what can be built anew from a model's files; it need not exist."""
    return _chosen("LEXBEAM_CACHE") or _checked(
        platformdirs.user_cache_path(_APPLICATION, appauthor=False), "LEXBEAM_CACHE"
    )


def _chosen(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(os.path.expanduser(value)) if value else None  # noqa: PTH111  (never raises)


def _checked(folder: Path, variable: str) -> Path:
    """Refuse a folder below a home that this user does not have."""
    if folder.parts[:1] == ("~",):
        raise ModelError(f"this user has no home folder: set {variable} to a folder of your choice")
    return folder

"""Where lexbeam keeps what it downloads, by the custom of each system."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_home() -> Path:
    """Return the folder for lexbeam's data; the variable ``LEXBEAM_HOME`` overrides it."""
    override = os.environ.get("LEXBEAM_HOME")
    if override:
        return Path(override).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "lexbeam"


def models_home() -> Path:
    """Return the folder that holds the models, one folder a language pair."""
    return data_home() / "models"

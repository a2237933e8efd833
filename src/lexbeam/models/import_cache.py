"""Models of other makers, imported once into the user's cache folder and loaded from there.

There is one bundle per model. It is made anew when the model's files or the code of this package
change, and when it is damaged. Where the cache folder can't be written to, the bundle is in a
temporary folder until the process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from lexbeam.errors import ModelError
from lexbeam.models import bundle
from lexbeam.models.file_reading import naming
from lexbeam.models.graph_cache import code_digest
from lexbeam.models.model import Model
from lexbeam.models.paths import cache_home
from lexbeam.version import __version__

_FOLDER = "imported"

Import = Callable[[Path], object]
"""Writes a bundle to a folder."""


def load_imported(files: Sequence[Path], kind: str, write: Import, threads: int) -> Model:
    """Load what ``write`` makes of a model's files, from the cache if nothing has changed."""
    kept = _place(files, kind)
    if kept is not None and bundle.is_bundle(kept):
        with contextlib.suppress(ModelError):  # damaged: it is made anew
            return _described(bundle.load(kept, threads), files, kind)
    folder = _write(kept, write)
    with naming(files[0] if len(files) == 1 else files[0].parent):
        return _described(bundle.load(folder, threads), files, kind)


def _described(model: Model, files: Sequence[Path], kind: str) -> Model:
    """Return a model that says of itself what it was imported from."""
    return replace(model, info={**model.info, "type": kind, "files": [str(file) for file in files]})


def _place(files: Sequence[Path], kind: str) -> Path | None:
    """Return the folder for the bundle of a model; None if there is no place for it."""
    try:
        paths = [path.resolve(strict=True) for path in files]
        states = [(path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
        home = cache_home()
    except (OSError, RuntimeError, ModelError):  # no home, or a file that reading will report
        return None
    name, state = (
        hashlib.sha256(json.dumps(each).encode()).hexdigest()[:32]
        for each in ([kind, *map(str, paths)], [__version__, code_digest(), states])
    )
    return home / _FOLDER / f"{name}.{state}"


def _write(kept: Path | None, write: Import) -> Path:
    """Write a bundle beside its place and move it there when it is complete."""
    folder = _temporary(kept)
    try:
        write(folder)
        if kept is None or folder.parent != kept.parent:
            return folder
        for older in kept.parent.glob(f"{kept.name.partition('.')[0]}.*"):
            shutil.rmtree(older, ignore_errors=True)
        try:
            folder.replace(kept)
        except OSError:  # another process has been quicker
            if not bundle.is_bundle(kept):
                raise
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"the model can't be written to {folder}: {error}") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return kept


def _temporary(kept: Path | None) -> Path:
    """Return a new folder next to where the bundle will be kept, or one that does not stay."""
    if kept is not None:
        with contextlib.suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            return Path(tempfile.mkdtemp(prefix=".", dir=kept.parent))
    folder = Path(tempfile.mkdtemp(prefix="lexbeam-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

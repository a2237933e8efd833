"""Find a model by its folder or its language pair, and load it with what can read it."""

from __future__ import annotations

from pathlib import Path

from lexbeam import registry
from lexbeam.errors import ModelError
from lexbeam.model import Model


def find_model(name: str | Path | None) -> Path:
    """Return the folder of a model: a path, a pair that was pulled, or the only one pulled."""
    if name is None:
        return registry.only_installed()
    path = Path(name)
    if path.exists():
        return path
    installed = registry.find_installed(str(name)) if registry.is_pair(str(name)) else None
    if installed is None:
        hint = f"run: lexbeam pull {name}" if registry.is_pair(str(name)) else "check the path"
        raise ModelError(f"there is no model {str(name)!r}: {hint}")
    return installed


def load_model(name: str | Path | None, threads: int) -> Model:
    """Load a model with the importer its files ask for."""
    from lexbeam import bundle  # noqa: PLC0415  (importers are slow to import)
    from lexbeam.importers import bergamot  # noqa: PLC0415

    path = find_model(name)
    if bundle.is_bundle(path):
        return bundle.load(path, threads)
    return bergamot.load(path, threads)

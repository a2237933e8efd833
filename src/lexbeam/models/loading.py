"""Find a model by its folder or its language pair, and load it with what can read it."""

from __future__ import annotations

from pathlib import Path

from lexbeam.errors import ModelError
from lexbeam.models import registry
from lexbeam.models.model import Model

EMBEDDED = Path(__file__).parent / "embedded" / "en-de"
"""The model that comes with the package: small, English to German."""


def find_model(name: str | Path | None) -> Path:
    """Return the folder of a model: a path, a pair that was pulled, or the one that comes along."""
    if name is None:
        return EMBEDDED if EMBEDDED.is_dir() else registry.only_installed()
    path = Path(name)
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
    """Load a model with the importer its files ask for."""
    from lexbeam.models import bundle  # noqa: PLC0415  (importers are slow to import)
    from lexbeam.models.importers import bergamot  # noqa: PLC0415

    path = find_model(name)
    if bundle.is_bundle(path):
        return bundle.load(path, threads)
    return bergamot.load(path, threads)

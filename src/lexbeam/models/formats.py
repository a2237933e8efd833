"""The formats that models come in, each one module that registers itself.

A format says which paths look like one of its models, and loads them. The modules are `bundle`
and those of `lexbeam.models.importers`; they are imported one after another until one of them
recognises a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from lexbeam.errors import ModelError
from lexbeam.models.discovery import module_names
from lexbeam.models.file_reading import refusing_unreadable
from lexbeam.models.model import Model
from lexbeam.plugins import MODEL_FORMATS, load_plugins

_OWN = "lexbeam.models.bundle"
_IMPORTERS = "lexbeam.models.importers"


class ModelFormat(NamedTuple):
    """A format of models."""

    name: str
    """What to call such a model, for people: "a bundle"."""
    sign: str
    """The file by which it is recognised, for people."""
    recognises: Callable[[Path], bool]
    """Return whether a file or folder looks like such a model."""
    load: Callable[[Path, int], Model]
    """Load a model, given its path and the number of threads."""


_FORMATS: dict[str, ModelFormat] = {}


def register(
    name: str,
    sign: str,
    recognises: Callable[[Path], bool],
    load: Callable[[Path, int], Model],
) -> None:
    """Add a format; see `ModelFormat`."""
    _FORMATS[name] = ModelFormat(name, sign, recognises, load)


@refusing_unreadable()
def load_path(path: Path, threads: int) -> Model:
    """Load the model in a file or folder with the first format that recognises it."""
    tried = []
    for model_format in _all_formats():
        if model_format.recognises(path):
            return model_format.load(path, threads)
        tried.append(f"{model_format.sign} ({model_format.name})")
    raise ModelError(f"{path}: no model that can be loaded: expected {' or '.join(tried)}")


def _all_formats() -> Iterator[ModelFormat]:
    """Yield all formats, those of plugins last.

    Modules are slow to import, so each is imported when its turn comes.
    """
    seen: set[str] = set()
    for module in (_OWN, *module_names(_IMPORTERS), None):
        if module is None:
            load_plugins(MODEL_FORMATS)
        else:
            import_module(module)
        for name in [name for name in _FORMATS if name not in seen]:
            seen.add(name)
            yield _FORMATS[name]

"""What a loaded model offers, and finding one: by folder, by file, or by language pair."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import sentencepiece

from lexbeam import registry
from lexbeam.errors import ModelError
from lexbeam.scorer import Scorer


class Model(Protocol):
    """A model ready to translate, wherever it came from.

    ``info`` describes it for people; ``target_language`` is used where it is given.
    """

    @property
    def engine(self) -> Scorer:
        """What the search drives."""
        ...

    @property
    def source(self) -> sentencepiece.SentencePieceProcessor:
        """The vocabulary of the source side."""
        ...

    @property
    def target(self) -> sentencepiece.SentencePieceProcessor:
        """The vocabulary of the target side."""
        ...

    @property
    def info(self) -> Mapping[str, Any]:
        """Facts about the model by name."""
        ...

    @property
    def max_source_length(self) -> int:
        """How many source tokens the model can read at once, the end of sentence included."""
        ...


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

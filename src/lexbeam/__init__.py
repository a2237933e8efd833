"""Lexically constrained translation: name the words, beam search places them.

What stands here is loaded when it is used, so that nothing waits for what it does not need.
"""

from __future__ import annotations

from importlib import import_module

from lexbeam.version import __version__

TYPE_CHECKING = False  # what type checkers take for true; typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

    from lexbeam.constraints.glossary import Glossary
    from lexbeam.corpus.batches import Batches
    from lexbeam.errors import (
        ConstraintError,
        InputError,
        LexbeamError,
        MissingExtraError,
        ModelError,
        ScorerError,
        SettingError,
    )
    from lexbeam.translation.requests import TextRequest
    from lexbeam.translation.results import ConstraintReport, Link, Translation
    from lexbeam.translation.translator import Translator, load

__all__ = [
    "Batches",
    "ConstraintError",
    "ConstraintReport",
    "Glossary",
    "InputError",
    "LexbeamError",
    "Link",
    "MissingExtraError",
    "ModelError",
    "ScorerError",
    "SettingError",
    "TextRequest",
    "Translation",
    "Translator",
    "__version__",
    "load",
]

_MODULES = {
    "Batches": "corpus.batches",
    "Glossary": "constraints.glossary",
    "TextRequest": "translation.requests",
    "Translation": "translation.results",
    "ConstraintReport": "translation.results",
    "Link": "translation.results",
    "Translator": "translation.translator",
    "load": "translation.translator",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

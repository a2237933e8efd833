"""Lexically constrained translation: name the words, beam search places them."""

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import (
    ConstraintError,
    InputError,
    LexbeamError,
    MissingExtraError,
    ModelError,
    ScorerError,
    SettingError,
)
from lexbeam.translation.results import ConstraintReport, Translation
from lexbeam.translation.translator import Translator, load
from lexbeam.version import __version__

__all__ = [
    "ConstraintError",
    "ConstraintReport",
    "Glossary",
    "InputError",
    "LexbeamError",
    "MissingExtraError",
    "ModelError",
    "ScorerError",
    "SettingError",
    "Translation",
    "Translator",
    "__version__",
    "load",
]

"""Lexically constrained translation: name the words, beam search places them."""

from lexbeam.errors import LexbeamError

__all__ = ["LexbeamError", "__version__"]

__version__ = "0.1.0"

"""A phrase as tokens."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace

from lexbeam.text.word_boundaries import are_glued


@dataclass(frozen=True)
class Spelling:
    """A phrase as tokens, and how it looks in the output."""

    ids: tuple[int, ...]
    surface: str
    """The phrase in the output."""
    spaced: bool = True
    """Whether its first token begins with a space, so that it starts a word wherever it is."""
    pieces: tuple[str, ...] = ()
    """Its pieces if some of its characters are not in the vocabulary, else nothing.

    To the model these characters are all the same unknown token.
    """
    written: str = ""
    """What the tokens write if the vocabulary normalises the phrase: 1o for 1º, else nothing."""
    begins: bool = False
    """Whether the output begins with it and may go on with its last word."""
    first: bool = False
    """Whether it counts only as the beginning of the output."""
    inside: bool = False
    """Whether it counts only as the last part of a compound."""
    goes_on: bool = False
    """Whether it counts as the first part of a compound, too."""

    @property
    def apart(self) -> bool:
        """Whether it counts only where no word goes on before it."""
        texts = (self.surface, self.written or self.surface)
        return not (self.spaced or self.inside) and any(are_glued("a", text[0]) for text in texts)

    @property
    def is_rewritten(self) -> bool:
        """Whether the output shows it otherwise than its tokens write it."""
        return bool(self.pieces or self.written)


def asked_as(phrase: str, spelling: Spelling) -> Spelling:
    """Return a spelling that shows a phrase as it was asked for, not as the model normalises it."""
    same = unicodedata.normalize("NFC", spelling.surface) == unicodedata.normalize("NFC", phrase)
    return spelling if same else replace(spelling, surface=phrase, written=spelling.surface)

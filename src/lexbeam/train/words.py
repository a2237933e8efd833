"""Which pieces make up a word: what an aligner links are words, what a network reads are pieces.

Words are found in the pieces themselves, not in the text, so that a link between two words is
always a link between known pieces. A word begins where a piece brings a space, and where letters
and punctuation meet; every piece of punctuation is a word of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexbeam.text.vocabulary import SPACE
from lexbeam.train.vocabulary import BYTES, EOS

_BYTES = {f"<0x{byte:02X}>": byte for byte in range(BYTES)}
_ASCII = 128

Ids = NDArray[np.int32]


class PieceWords:
    """Groups the pieces of a vocabulary into words."""

    def __init__(self, pieces: Sequence[str], eos: int = EOS) -> None:
        bare = [_character(piece.replace(SPACE, "")) for piece in pieces]
        self._texts = [text.lower() for text in bare]
        self._opens = np.array([piece.startswith(SPACE) for piece in pieces])
        self._opens[eos] = True
        self._eos = eos
        self._is_space = np.array([not text for text in bare])
        self._is_punctuation = np.array([_is_punctuation(text) for text in bare])

    def begins(self, ids: Ids) -> NDArray[np.bool_]:
        """Return a mask of the pieces that begin a word; the end of a sentence is one.

        ``ids`` may be many sentences end to end, each with its end of sentence.
        """
        before = np.concatenate([[self._eos], ids[:-1]])
        punctuation = self._is_punctuation[ids]
        left_punctuation = self._is_punctuation[before] & ~self._is_space[before]
        new = (punctuation | left_punctuation) & ~self._is_space[before]
        begins: NDArray[np.bool_] = self._opens[ids] | new
        begins[before == self._eos] = True
        return begins

    def split(self, ids: Sequence[int]) -> list[str]:
        """Return the words of a sentence, in small letters."""
        if not ids:
            return []
        words: list[str] = []
        for piece, begins in zip(ids, self.begins(np.array(ids, np.int32)).tolist(), strict=True):
            if begins:
                words.append(self._texts[piece])
            else:
                words[-1] += self._texts[piece]
        return [word or SPACE for word in words]


def _character(text: str) -> str:
    """Return the character that a piece of a single byte stands for, if it is a whole one."""
    byte = _BYTES.get(text, _ASCII)
    return chr(byte) if byte < _ASCII else text


def _is_punctuation(text: str) -> bool:
    if not text or text in _BYTES:
        return False
    return not any(character.isalnum() or character == "_" for character in text)

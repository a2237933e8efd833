"""Learn the paper's own vocabulary: Moses tokens, then joint byte-pair encoding (§5).

Models for use are better off with SentencePiece: it needs no rules for a language, and gives
back the text it was given.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lexbeam.errors import InputError
from lexbeam.text.moses_vocabulary import (
    CODES,
    PIECES,
    RULES,
    SPECIAL,
    MosesBpe,
    libraries,
    split,
    write_pieces,
)
from lexbeam.text.vocabulary import SPACE

_ENDS = "</w>"  # subword-nmt's mark in a merge that makes the end of a word: here, its beginning


class MosesPieces:
    """A vocabulary of the paper's kind, in the directory of a run."""

    def __init__(self, directory: Path) -> None:
        files = [(directory / name).read_bytes() for name in (CODES, PIECES)]
        self.stored = MosesBpe(*files)

    @classmethod
    def load(cls, directory: Path) -> MosesPieces | None:
        """Load what an earlier start of a run has made, if there is any."""
        return cls(directory) if (directory / PIECES).exists() else None

    @classmethod
    def train(cls, sentences: Sequence[str], size: int, directory: Path) -> MosesPieces:
        """Learn as many merges as the size allows; all characters stay in the vocabulary."""
        moses, learn_bpe = libraries("sacremoses", "subword_nmt.learn_bpe")
        tokenizer = moses.MosesTokenizer(lang=RULES)
        words = Counter(word for text in sentences for word in split(tokenizer, text))
        characters = {character for word in words for character in word}
        # each character may begin a word or not
        merges = size - len(SPECIAL) - 2 * len(characters)
        if merges < 1:
            least = size - merges + 1
            raise InputError(f"vocabulary.size = {size} is too small: the text needs {least}")
        counts = io.StringIO("".join(f"{word[::-1]} {count}\n" for word, count in words.items()))
        codes = io.StringIO()
        with contextlib.redirect_stderr(io.StringIO()):  # a progress bar
            learn_bpe.learn_bpe(counts, codes, merges, is_dict=True)
        learned = codes.getvalue().splitlines()[1:]  # the first line is a version
        if len(learned) < merges:
            most = size - merges + len(learned)
            raise InputError(f"vocabulary.size = {size} is larger than the text allows: {most}")
        single = [form for c in sorted(characters) for form in (SPACE + c, c)]
        # Two merges may make the same piece.
        pieces = dict.fromkeys((*SPECIAL, *single, *map(_piece, learned)))
        (directory / CODES).write_text(codes.getvalue(), encoding="utf-8")
        (directory / PIECES).write_bytes(write_pieces(list(pieces)))
        return cls(directory)

    @property
    def size(self) -> int:
        """Number of tokens."""
        return len(self.stored)

    @property
    def pieces(self) -> list[str]:
        """The tokens as text, by id."""
        return self.stored.id_to_piece(list(range(self.size)))

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each sentence, without the end of sentence."""
        encoded: list[list[int]] = self.stored.encode(sentences)
        return encoded

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each token sequence."""
        return [self.stored.decode([int(i) for i in ids]) for ids in sentences]


def _piece(merge: str) -> str:
    """Return the piece that a merge makes of parts of words that were given backwards."""
    merged = merge.replace(" ", "")
    return SPACE + merged.removesuffix(_ENDS)[::-1] if merged.endswith(_ENDS) else merged[::-1]

"""What lexbeam asks of a vocabulary: text to pieces and ids, and back.

It is the part of SentencePiece's own interface that is needed here, so that SentencePiece's
processors fit as they are. Any other vocabulary (`lexbeam.text.moses_vocabulary`) writes its
pieces in the same way: those that begin a word begin with `SPACE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import sentencepiece

from lexbeam.errors import ModelError

SPACE = "▁"
"""How a space is written inside a piece."""

_BLANK_BYTES = frozenset(
    f"<0x{code:02X}>" for code in range(0x20) if not code or chr(code).isspace()
)
"""Bytes that are no part of any phrase: NUL, tabs, ends of lines."""

_NO_DUMMY_PREFIX = b"\x1a\x02\x18\x00"  # behind a model: normalizer_spec.add_dummy_prefix = false


class Processor(Protocol):
    """A vocabulary: pieces, and their ids."""

    def __len__(self) -> int:
        """Return the number of pieces."""

    def __hash__(self) -> int:
        """Return a hash: results for a vocabulary are cached."""

    def get_piece_size(self) -> int:
        """Return the number of pieces."""

    def eos_id(self) -> int:
        """Return the id of the end of sentence, less than 0 if there is none."""

    def unk_id(self) -> int:
        """Return the id of everything that is not in the vocabulary."""

    def encode(self, text: str | Sequence[str], /, *, out_type: type[int] | type[str] = ...) -> Any:
        """Return the ids of a text, or its pieces; a list of them for a list of texts."""

    def decode(self, pieces: Sequence[int] | Sequence[str], /) -> Any:
        """Return the text of ids or pieces; the end of sentence and its like write nothing."""

    def id_to_piece(self, ids: list[int], /) -> list[str]:
        """Return the pieces of ids."""

    def piece_to_id(self, piece: str, /) -> int:
        """Return the id of a piece."""

    def is_control(self, ids: list[int], /) -> list[bool]:
        """Return whether each id writes nothing."""

    def is_unknown(self, ids: list[int], /) -> list[bool]:
        """Return whether each id stands for what is not in the vocabulary."""

    def is_byte(self, ids: list[int], /) -> list[bool]:
        """Return whether each id writes one byte of a character, as ``<0xNN>``."""

    def is_unused(self, ids: list[int], /) -> list[bool]:
        """Return whether each id is one that no text is cut into."""


def end_token(processor: Processor) -> int:
    """Return the token of the end of a sentence."""
    token = processor.eos_id()
    if token < 0:
        raise ModelError("the vocabulary has no end of sentence (</s>)")
    return token


def without_blank_bytes(pieces: list[str]) -> list[str]:
    """Return pieces with a space for bytes that are no part of a text."""
    if _BLANK_BYTES.isdisjoint(pieces):
        return pieces
    following = [*pieces[1:], ""]
    return [
        piece if piece not in _BLANK_BYTES else "" if after.startswith(SPACE) else SPACE
        for piece, after in zip(pieces, following, strict=True)
    ]


def written_by_pieces(processor: Processor, size: int) -> Iterator[str]:
    """Yield what each piece adds to a text; nothing if that is not known."""
    ids = list(range(size))
    silent = (processor.is_control, processor.is_unknown)
    flags = zip(*(is_silent(ids) for is_silent in silent), strict=True)
    for piece, is_byte, flag in zip(
        processor.id_to_piece(ids), processor.is_byte(ids), flags, strict=True
    ):
        if is_byte:
            code = int(piece[3:5], 16)  # written as <0xNN>
            yield chr(code) if code < 0x80 else ""
        else:
            yield "" if any(flag) else piece.replace(SPACE, " ")


def without_space(processor: Processor) -> Processor | None:
    """Return the same vocabulary without the space that SentencePiece puts before every text.

    None for other vocabularies: they write whole words only.
    """
    if not isinstance(processor, sentencepiece.SentencePieceProcessor):
        return None
    model = processor.serialized_model_proto() + _NO_DUMMY_PREFIX
    return sentencepiece.SentencePieceProcessor(model_proto=model)

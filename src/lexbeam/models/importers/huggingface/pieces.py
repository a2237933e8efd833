"""Renumber a SentencePiece model, so that its ids are those of a network.

Networks of Hugging Face have ids of their own, and transformers maps one to the other at run time.
Here it is done once: the same pieces with the same scores, in the network's order, are a
SentencePiece model that needs no such map.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from lexbeam.errors import ModelError
from lexbeam.models.protobuf import bytes_field, float_field, int_field, read_fields

_PIECES, _TRAINER, _SELF_TEST = 1, 2, 4  # fields of ModelProto
_TEXT, _SCORE, _TYPE = 1, 2, 3  # fields of SentencePiece
_UNK_ID, _BOS_ID, _EOS_ID, _PAD_ID = 40, 41, 42, 43  # fields of TrainerSpec
_UNK_PIECE, _EOS_PIECE = 45, 47
_MODEL_TYPE, _VOCABULARY_SIZE = 3, 4
_UNIGRAM = 1
_LAST_RESORT = 9.0  # below the worst piece, and just above the unknown
_LOWEST = -1e6  # the score of pieces that are merged last, if at all


class Kind(IntEnum):
    """What a piece is to SentencePiece."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Piece(NamedTuple):
    """A piece of a vocabulary."""

    text: str
    score: float = 0.0
    kind: Kind = Kind.NORMAL

    def to_bytes(self) -> bytes:
        """Write the piece as a field of the model."""
        message = bytes_field(_TEXT, self.text) + float_field(_SCORE, self.score)
        return bytes_field(_PIECES, message + int_field(_TYPE, self.kind))


class Special(NamedTuple):
    """Tokens that are no text: the end of sentence, the unknown token, and control symbols."""

    eos: str = "</s>"
    unknown: str = "<unk>"
    control: frozenset[str] = frozenset()
    files: tuple[str, str] = ("", "")
    """The names of the files that the first two are from, for errors."""


class PieceModel:
    """A SentencePiece model whose pieces can be put into another order."""

    def __init__(self, data: bytes) -> None:
        self.pieces: list[Piece] = []
        self._trainer = b""
        self._rest: list[bytes] = []
        for number, value, field in read_fields(data):
            if number == _PIECES and isinstance(value, bytes):
                try:
                    self.pieces.append(_read_piece(value))
                except (ValueError, struct.error):
                    raise ModelError("damaged, or not a SentencePiece model") from None
            elif number == _TRAINER and isinstance(value, bytes):
                self._trainer = value
            elif number != _SELF_TEST:
                self._rest.append(field)
        if not self.pieces:
            raise ModelError("damaged, or not a SentencePiece model")

    @property
    def is_unigram(self) -> bool:
        """Return whether text is cut by the scores of pieces, not by merges."""
        fields = {number: value for number, value, _ in read_fields(self._trainer)}
        return fields.get(_MODEL_TYPE, _UNIGRAM) == _UNIGRAM

    def renumbered(
        self,
        ids: Mapping[str, int],
        size: int,
        *,
        special: Special,
        foreign: Kind = Kind.CONTROL,
    ) -> bytes:
        """Return the model with the pieces in the order of ``ids``.

        Tokens that are no pieces of this model become pieces of the kind ``foreign``: control
        symbols; unused pieces, into which no text is cut but which decode to their text; or
        normal ones, into which text is cut where they replace two others.
        Single characters among them become normal pieces with a low score, so that they are
        not unknown. Pieces without an id follow after ``size`` and are marked as unused.
        """
        for token, file in zip((special.eos, special.unknown), special.files, strict=True):
            if token not in ids:
                of = file and f" of {file}"
                raise ModelError(f"the token {token!r:.60}{of} is missing from the vocabulary")
        known = {piece.text: piece for piece in self.pieces}
        last = min(piece.score for piece in self.pieces) - _LAST_RESORT
        pieces = [Piece(f"<unused {index}>", kind=Kind.CONTROL) for index in range(size)]
        for index, text in _texts_by_id(ids, size).items():
            if text in special.control or text == special.eos:
                pieces[index] = Piece(text, kind=Kind.CONTROL)
            elif text == special.unknown:
                pieces[index] = Piece(text, kind=Kind.UNKNOWN)
            elif text in known:
                pieces[index] = known[text]
            elif text:
                alone = len(text) == 1
                worst = last + _LAST_RESORT if foreign == Kind.NORMAL else _LOWEST
                pieces[index] = Piece(text, last) if alone else Piece(text, worst, foreign)
        spare = [piece for text, piece in known.items() if text not in ids]
        pieces += [piece._replace(kind=Kind.UNUSED) for piece in spare]
        return self._write(pieces, ids, special)

    def _write(self, pieces: list[Piece], ids: Mapping[str, int], special: Special) -> bytes:
        replaced = {_UNK_ID, _BOS_ID, _EOS_ID, _PAD_ID, _UNK_PIECE, _EOS_PIECE, _VOCABULARY_SIZE}
        trainer = [
            field for number, _, field in read_fields(self._trainer) if number not in replaced
        ]
        trainer += [
            int_field(_VOCABULARY_SIZE, len(pieces)),
            int_field(_UNK_ID, ids[special.unknown]),
            int_field(_EOS_ID, ids[special.eos]),
            int_field(_BOS_ID, -1),
            int_field(_PAD_ID, -1),
            bytes_field(_UNK_PIECE, special.unknown),
            bytes_field(_EOS_PIECE, special.eos),
        ]
        written = [piece.to_bytes() for piece in pieces]
        return b"".join([*written, bytes_field(_TRAINER, b"".join(trainer)), *self._rest])


def _texts_by_id(ids: Mapping[str, int], size: int) -> dict[int, str]:
    """Return the text of each id; an id of two tokens, or out of range, is an error."""
    texts: dict[int, str] = {}
    for text, index in ids.items():
        if not 0 <= index < size:
            raise ModelError(f"the token {text!r} has the id {index}; the network has {size}")
        if index in texts:
            raise ModelError(f"the tokens {texts[index]!r} and {text!r} have one id, {index}")
        texts[index] = text
    return texts


def _read_piece(message: bytes) -> Piece:
    text, score, kind = "", 0.0, Kind.NORMAL
    for number, value, _ in read_fields(message):
        if number == _TEXT and isinstance(value, bytes):
            text = value.decode()
        elif number == _SCORE and isinstance(value, bytes):
            (score,) = struct.unpack("<f", value)
        elif number == _TYPE and isinstance(value, int):
            kind = Kind(value)
    return Piece(text, score, kind)

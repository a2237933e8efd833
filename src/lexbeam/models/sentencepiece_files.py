"""Read SentencePiece models, and check what SentencePiece itself takes on trust.

The rules by which a model normalises text are a double array (a trie in one table of numbers)
and the texts that its entries stand for. SentencePiece follows the numbers without looking where
they lead: a damaged table makes it read outside of it, which ends the process. So the table is
checked before any text meets it.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import sentencepiece as spm

from lexbeam.errors import ModelError
from lexbeam.models.protobuf import read_fields

_PIECE = 0x0A  # how each piece begins: field 1 of a model
_NORMALISERS = (3, 5)  # fields of a model: normalizer_spec, denormalizer_spec
_RULES = 2  # field of both: precompiled_charsmap
_BLOCK = 256  # numbers of a double array: one for each byte that may follow


def load_vocabulary(data: bytes, path: Path, size: int) -> spm.SentencePieceProcessor:
    """Read a SentencePiece model and check that it has as many pieces as the network.

    Further pieces must be marked as unused, so that no text is cut into them.
    """
    processor = spm.SentencePieceProcessor()
    try:
        _check_rules(data)
        processor.LoadFromSerializedProto(data)
    except (RuntimeError, UnicodeDecodeError, ModelError):
        raise ModelError(f"{path}: damaged, or not a SentencePiece model") from None
    ids = list(range(len(processor)))
    if len(processor) < size or not all(processor.is_unused(ids[size:])):
        raise ModelError(f"{path}: {len(processor)} pieces, but the network has {size}")
    try:
        pieces = processor.id_to_piece(ids)
    except UnicodeDecodeError:
        raise ModelError(f"{path}: damaged: a piece is not text") from None
    if not all(pieces) or not np.isfinite(processor.get_score(ids)).all():
        raise ModelError(f"{path}: damaged: a piece has no text, or a score that is not a number")
    if not 0 <= processor.eos_id() < size:
        raise ModelError(f"{path}: the vocabulary has no end of sentence")
    if not 0 <= processor.unk_id() < size:
        raise ModelError(f"{path}: the vocabulary has no unknown token")
    return processor


def _check_rules(data: bytes) -> None:
    """Raise ModelError if rules of normalisation lead outside of their table."""
    for number, value, _ in read_fields(data[_after_pieces(data) :]):
        if number in _NORMALISERS and isinstance(value, bytes):
            for inner, rules, _ in read_fields(value):
                if inner == _RULES and isinstance(rules, bytes) and rules:
                    _check_double_array(rules)


def _after_pieces(data: bytes) -> int:
    """Return where the short pieces end that a model begins with; there are many of them."""
    at, end = 0, len(data) - 1
    while at < end and data[at] == _PIECE and data[at + 1] < 0x80:
        at += 2 + data[at + 1]
    return min(at, len(data))


def _check_double_array(rules: bytes) -> None:
    if len(rules) < 4:
        raise ModelError("rules of normalisation that are cut short")
    (size,) = struct.unpack_from("<I", rules)
    texts = rules[4 + size :]
    if size % (4 * _BLOCK) or len(rules) <= 4 + size or texts[-1]:
        raise ModelError("rules of normalisation of an impossible size")
    units = np.frombuffer(rules, "<u4", size // 4, 4).astype(np.int64)
    inner = units >> 31 == 0
    followers = np.arange(len(units)) ^ (units >> 10) << ((units & 1 << 9) >> 6)
    if (followers[inner] | _BLOCK - 1 >= len(units)).any():
        raise ModelError("rules of normalisation that lead outside of their table")
    values = units[followers[inner & (units & 1 << 8 != 0)]] & (1 << 31) - 1
    if (values >= len(texts)).any():
        raise ModelError("rules of normalisation that lead outside of their texts")
    try:
        texts.decode()
    except UnicodeDecodeError:
        raise ModelError("rules of normalisation whose results are not text") from None

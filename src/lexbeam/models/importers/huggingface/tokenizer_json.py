"""A SentencePiece model from a ``tokenizer.json``, for checkpoints that have no other file.

The file has the content of the SentencePiece model that it was made from: pieces with scores
(Unigram) or in the order of their merges (BPE), and the table that normalises text.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models.importers.huggingface.files import read_json
from lexbeam.models.importers.huggingface.pieces import Piece, PieceModel
from lexbeam.models.protobuf import bytes_field, int_field

_TRAINER, _NORMALISER = 2, 3  # fields of ModelProto
_MODEL_TYPE, _BYTE_FALLBACK = 3, 35  # fields of TrainerSpec
_UNIGRAM, _BPE = 1, 2
_CHARSMAP = 2  # field of NormalizerSpec
_NEVER_MERGED = -1e9


def read_tokenizer_json(folder: Path, kind: str) -> tuple[PieceModel, dict[str, int]]:
    """Return the pieces that a tokenizer file describes, and their ids."""
    path = folder / "tokenizer.json"
    if not path.exists():
        raise ModelError(f"{folder}: no SentencePiece model and no tokenizer.json in this folder")
    content = read_json(path)
    model = content.get("model")
    parts = list(_parts(content.get("pre_tokenizer")))
    if not isinstance(model, dict) or "vocab" not in model:
        raise ModelError(f"{path}: no vocabulary in it")
    if any(part.get("type") == "ByteLevel" for part in parts):
        raise ModelError(
            f"{path}: the byte-level tokenizer of this {kind} model is not supported, only "
            "SentencePiece is"
        )
    if not any(part.get("type") == "Metaspace" for part in parts):
        raise ModelError(f"{path}: not made from a SentencePiece model, which it has to be")
    try:
        pieces, ids = _bpe(model) if model.get("type") == "BPE" else _unigram(model)
        charsmap = _charsmap(content.get("normalizer"))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelError(f"{path}: damaged: {error!r}") from None
    return PieceModel(_message(pieces, model, charsmap)), ids


def _parts(component: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a component of the tokenizer, or those it is a sequence of."""
    if isinstance(component, dict):
        yield component
        for key in ("pretokenizers", "normalizers"):
            for part in component.get(key) or []:
                yield from _parts(part)


def _unigram(model: Mapping[str, Any]) -> tuple[list[Piece], dict[str, int]]:
    pieces = [Piece(str(text), float(score)) for text, score in model["vocab"]]
    return pieces, {piece.text: index for index, piece in enumerate(pieces)}


def _bpe(model: Mapping[str, Any]) -> tuple[list[Piece], dict[str, int]]:
    """Return pieces whose scores fall in the order of the merges that make them."""
    ids = {str(text): int(index) for text, index in model["vocab"].items()}
    ranks: dict[str, int] = {}
    for merge in model["merges"]:
        one, other = merge.split(" ") if isinstance(merge, str) else merge
        ranks.setdefault(one + other, len(ranks))
    pieces = [Piece(text, -float(ranks[text]) if text in ranks else _NEVER_MERGED) for text in ids]
    return pieces, ids


def _charsmap(normaliser: Any) -> bytes:
    for part in _parts(normaliser):
        if part.get("type") == "Precompiled":
            return base64.b64decode(part["precompiled_charsmap"])
    return b""


def _message(pieces: list[Piece], model: Mapping[str, Any], charsmap: bytes) -> bytes:
    kind = _BPE if model.get("type") == "BPE" else _UNIGRAM
    trainer = int_field(_MODEL_TYPE, kind)
    if model.get("byte_fallback"):
        trainer += int_field(_BYTE_FALLBACK, 1)
    return b"".join(
        [
            *(piece.to_bytes() for piece in pieces),
            bytes_field(_TRAINER, trainer),
            bytes_field(_NORMALISER, bytes_field(_CHARSMAP, charsmap)),
        ]
    )

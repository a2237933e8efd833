"""The tokenizers of checkpoints as SentencePiece models with the network's ids.

All families but BART cut text with SentencePiece. They differ in where the ids come from: a table
in a file (Marian, M2M100), the order that fairseq gave them (NLLB, mBART), or SentencePiece itself
(T5). Language codes and other tokens that are no text are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import LARGEST_VOCABULARY, naming, read_file
from lexbeam.models.importers.huggingface.files import read_json, read_json_if_there
from lexbeam.models.importers.huggingface.pieces import PieceModel, Special

_SPM_NAMES = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "spm.model")
FAIRSEQ_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
_FAIRSEQ_REPLACED = 3  # pieces of SentencePiece that fairseq replaces by its own four


class Vocabularies(NamedTuple):
    """The vocabularies of both sides; ``target`` is None where one serves both."""

    source: bytes
    target: bytes | None
    source_ids: Mapping[str, int]
    target_ids: Mapping[str, int]
    eos: str


def find_sentencepiece(folder: Path) -> PieceModel | None:
    """Return the SentencePiece model of a checkpoint with one vocabulary, if there is a file."""
    path = next((folder / name for name in _SPM_NAMES if (folder / name).exists()), None)
    return None if path is None else read_pieces(path)


def vocabulary_file(folder: Path, name: str) -> Path:
    """Return the file that a vocabulary was read from: that of a name, or the one for both."""
    names = (name, *_SPM_NAMES, "tokenizer.json")
    return next((folder / each for each in names if (folder / each).exists()), folder)


def own_ids(model: PieceModel) -> dict[str, int]:
    """Return the ids that SentencePiece itself gives to its pieces."""
    return {piece.text: index for index, piece in enumerate(model.pieces)}


def fairseq_ids(model: PieceModel) -> dict[str, int]:
    """Return the ids that fairseq gives to the pieces."""
    texts = [piece.text for piece in model.pieces]
    return {text: index for index, text in enumerate([*FAIRSEQ_FIRST, *texts[_FAIRSEQ_REPLACED:]])}


def renumber(
    folder: Path, model: PieceModel, ids: Mapping[str, int], added: Mapping[str, int], size: int
) -> Vocabularies:
    """Return one vocabulary for both sides, with the network's ids.

    ``added`` are the ids of tokens that are no text.
    """
    names = special_tokens(folder)
    ids = {**ids, **added}
    control = frozenset(added) | frozenset(FAIRSEQ_FIRST) | names.control
    special = names._replace(control=control - {names.unknown})
    with naming(vocabulary_file(folder, "vocab.json")):
        data = model.renumbered(ids, size, special=special)
    return Vocabularies(data, None, ids, ids, special.eos)


def read_pieces(path: Path) -> PieceModel:
    """Read a SentencePiece model."""
    if not path.exists():
        raise ModelError(f"{path}: no such file")
    data = read_file(path, LARGEST_VOCABULARY)
    with naming(path):
        return PieceModel(data)


def read_ids(path: Path) -> dict[str, int]:
    """Read a file with the id of each token."""
    ids = read_json(path)
    if not ids or not all(isinstance(token_id, int) for token_id in ids.values()):
        raise ModelError(f"{path}: a table of tokens and their ids is expected")
    return ids


def special_tokens(folder: Path) -> Special:
    """Return the tokens that are no text, by the names that the checkpoint gives them."""
    files = ("tokenizer_config.json", "special_tokens_map.json")
    origins: dict[str, str] = {}
    settings: dict[str, Any] = {}
    for name in files:
        values = read_json_if_there(folder / name)
        settings |= values
        origins |= dict.fromkeys(values, name)
    roles = ("bos_token", "pad_token", "cls_token", "sep_token", "mask_token")
    control = {_content(settings[role]) for role in roles if settings.get(role)}
    eos = _content(settings.get("eos_token") or "</s>")
    unknown = _content(settings.get("unk_token") or "<unk>")
    named_in = origins.get("eos_token", ""), origins.get("unk_token", "")
    return Special(eos, unknown, frozenset(control) | {"<pad>"}, named_in)


def _content(token: Any) -> str:
    return str(token.get("content", "")) if isinstance(token, dict) else str(token)


def added_tokens(folder: Path, ids: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens that the tokenizer has besides its pieces, language codes above all.

    Older and newer checkpoints keep them in different files. Where only their names are kept,
    their ids follow those of the pieces in that order.
    """
    config = read_json_if_there(folder / "tokenizer_config.json")
    special = read_json_if_there(folder / "special_tokens_map.json")
    listed = [
        token
        for names in (special, config)
        for key in ("additional_special_tokens", "extra_special_tokens")
        for token in _texts(names.get(key))
        if token not in ids
    ]
    following = range(max(ids.values()) + 1, max(ids.values()) + 1 + len(listed))
    added = dict(zip(dict.fromkeys(listed), following, strict=False))
    for token_id, token in (config.get("added_tokens_decoder") or {}).items():
        added[_content(token)] = int(token_id)
    added |= read_json_if_there(folder / "added_tokens.json")
    for token in read_json_if_there(folder / "tokenizer.json").get("added_tokens") or []:
        added[_content(token)] = int(token["id"])
    return added


def _texts(tokens: Any) -> list[str]:
    return [_content(token) for token in tokens] if isinstance(tokens, list) else []

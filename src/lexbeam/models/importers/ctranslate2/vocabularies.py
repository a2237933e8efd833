"""The vocabularies of a CTranslate2 model as SentencePiece models with the network's ids.

The model has a list of tokens for each side, or one for both. How text is cut into them is not
its business: the SentencePiece models have to be beside it, or given.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import LARGEST_VOCABULARY, naming, read_file
from lexbeam.models.importers.ctranslate2.settings import Settings
from lexbeam.models.importers.huggingface.framing import is_language
from lexbeam.models.importers.huggingface.pieces import Kind, PieceModel, Special
from lexbeam.models.importers.huggingface.tokenizer_json import read_tokenizer_json
from lexbeam.models.importers.huggingface.vocabularies import Vocabularies
from lexbeam.models.sentencepiece_files import load_vocabulary

_PAIRS = (("source.spm", "target.spm"), ("source.model", "target.model"), ("src.spm", "tgt.spm"))
_SINGLE = (
    *("sentencepiece.model", "sentencepiece.bpe.model", "spiece.model", "spm.model"),
    *("tokenizer.model", "shared.spm", "shared.model"),
)
_CONTROL = frozenset({"<s>", "</s>", "<pad>", "<blank>", "<mask>"})
_FEW_FOREIGN = 0.05  # the share of tokens that may be no pieces: fillers, codes
_BPE_CODES = b"#version"  # how a file of subword-nmt begins


class TokenList(NamedTuple):
    """The tokens of a side by id, and the file that they are from."""

    path: Path
    tokens: list[str]


def read_vocabularies(
    folder: Path, settings: Settings, sizes: tuple[int, int], given: Sequence[Path]
) -> Vocabularies:
    """Return the vocabularies of both sides, with the network's ids.

    ``given`` are the SentencePiece models, of both sides or of each; without any they are
    looked for in the folder.
    """
    lists = read_tokens(folder)
    files = list(given) or _find_sentencepiece(folder)
    models = [_read_pieces(path) for path in files]
    if not models:
        models = [_from_tokenizer_json(folder)]
    ids = [_ids(*each, settings.unknown) for each in zip(lists, sizes, strict=True)]
    texts = {piece.text for model in models for piece in model.pieces}
    languages = {token for each in ids for token in each.keys() - texts if is_language(token)}
    control = (_CONTROL | languages) - {settings.unknown}
    special = Special(settings.eos, settings.unknown, control, (settings.file, settings.file))
    # Where the only SentencePiece model is that of the source, text of the target has to be cut
    # into pieces that it does not know.
    foreign = ids[1].keys() - texts - control
    is_of_source = len(models) == 1 and len(foreign) > _FEW_FOREIGN * len(ids[1])
    kind = Kind.NORMAL if is_of_source and models[0].is_unigram else Kind.UNUSED
    with naming(lists[0].path):
        source = models[0].renumbered(ids[0], sizes[0], special=special, foreign=Kind.UNUSED)
    with naming(lists[1].path):
        target = models[-1].renumbered(ids[1], sizes[1], special=special, foreign=kind)
    paths = files or [folder / "tokenizer.json"]
    load_vocabulary(source, paths[0], sizes[0])  # or say what is wrong with it
    load_vocabulary(target, paths[-1], sizes[1])
    own = None if source == target else target
    return Vocabularies(source, own, ids[0], ids[1], settings.eos)


def is_vocabulary(name: str) -> bool:
    """Return whether a file has the name of a list of tokens."""
    stem, _, ending = name.rpartition(".")
    return stem.endswith("_vocabulary") and ending in ("txt", "json")


def read_tokens(folder: Path) -> tuple[TokenList, TokenList]:
    """Return the tokens of source and target."""
    shared = _token_list(folder, "shared_vocabulary")
    if shared is not None:
        return shared, shared
    target = _token_list(folder, "target_vocabulary")
    source = _token_list(folder, "source_vocabulary") or _token_list(folder, "source_1_vocabulary")
    if source is None or target is None:
        raise ModelError(
            f"{folder}: a vocabulary is missing: shared_vocabulary.json (or .txt), or "
            "source_vocabulary.json and target_vocabulary.json"
        )
    return source, target


def _token_list(folder: Path, stem: str) -> TokenList | None:
    """Read a list of tokens, one per line or in JSON; None if there is none."""
    for ending in ("json", "txt"):
        path = folder / f"{stem}.{ending}"
        if not path.exists():
            continue
        data = read_file(path, LARGEST_VOCABULARY)
        try:
            tokens = json.loads(data) if ending == "json" else _lines(data.decode())
        except (ValueError, RecursionError) as error:
            raise ModelError(f"{path}: can't be read: {error}") from None
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise ModelError(f"{path}: a list of tokens is expected")
        return TokenList(path, tokens)
    return None


def _lines(text: str) -> list[str]:
    """Return lines; carriage returns are part of them unless all have one."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    return lines


def _ids(given: TokenList, size: int, unknown: str) -> dict[str, int]:
    """Return the id of each token; of tokens that are there twice, the first counts."""
    ids: dict[str, int] = {}
    path, tokens = given
    for index, token in enumerate(tokens):
        ids.setdefault(token, index)
    if unknown not in ids:
        ids[unknown] = len(tokens)
    if max(ids.values()) >= size:
        raise ModelError(f"{path}: {len(tokens)} tokens, but the network has {size}")
    return ids


def _find_sentencepiece(folder: Path) -> list[Path]:
    """Return the SentencePiece models in a folder: one, or one for each side."""
    for pair in _PAIRS:
        if all((folder / name).is_file() for name in pair):
            return [folder / name for name in pair]
    named = [folder / name for name in _SINGLE if (folder / name).is_file()]
    if named:
        return named[:1]
    others = sorted(path for end in ("model", "spm") for path in folder.glob(f"*.{end}"))
    if len(others) > 1:
        names = ", ".join(path.name for path in others)
        raise ModelError(f"{folder}: which is the SentencePiece model? There are {names}")
    return others


def _read_pieces(path: Path) -> PieceModel:
    data = read_file(path, LARGEST_VOCABULARY)
    if data.startswith(_BPE_CODES):
        raise ModelError(f"{path}: BPE codes of subword-nmt are not supported, only SentencePiece")
    with naming(path):
        return PieceModel(data)


def _from_tokenizer_json(folder: Path) -> PieceModel:
    if not (folder / "tokenizer.json").exists():
        raise ModelError(
            f"{folder}: no SentencePiece model in this folder: put it there as "
            "sentencepiece.model, or name it (--sentencepiece)"
        )
    model, _ = read_tokenizer_json(folder, "CTranslate2")
    return model

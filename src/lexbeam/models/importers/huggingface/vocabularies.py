"""The tokenizers of checkpoints as SentencePiece models that count as the networks do.

All families but BART cut text with SentencePiece. What differs is where the ids come from: a
table of their own beside it (Marian, M2M100), an order that fairseq gave them (NLLB, mBART), or
SentencePiece itself (T5). Language codes and other tokens that are no text come on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lexbeam.errors import ModelError
from lexbeam.models.importers.huggingface.files import read_json, read_json_if_there
from lexbeam.models.importers.huggingface.pieces import Kind, PieceModel, Special
from lexbeam.models.importers.huggingface.tokenizer_json import read_tokenizer_json
from lexbeam.models.model import naming

_SPM_NAMES = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model", "spm.model")
_FAIRSEQ_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
_M2M_LANGUAGES = {  # in the order of their ids, which no file of these checkpoints tells
    "m2m100": (
        "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl "
        "gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml "
        "mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th "
        "tl tn tr uk ur uz vi wo xh yi yo zh zu"
    ),
    "wmt21": "en ha is ja cs ru zh de",
}
_FAIRSEQ_PIECES = 3  # pieces of SentencePiece that fairseq has replaced by its own four


class Vocabularies(NamedTuple):
    """The two sides of a model's text; ``target`` is None where they are one."""

    source: bytes
    target: bytes | None
    source_ids: Mapping[str, int]
    target_ids: Mapping[str, int]
    eos: str


def read_vocabularies(folder: Path, kind: str, source_size: int, target_size: int) -> Vocabularies:
    """Read what a checkpoint of this type cuts its texts with."""
    names = _special_names(folder)
    if kind == "marian":
        return _marian(folder, names, source_size, target_size)
    model, ids = _pieces_and_ids(folder, kind)
    added = _added_tokens(folder, ids)
    if kind == "m2m_100" and (folder / "vocab.json").exists():
        added = {**_m2m_languages(folder, len(ids)), **added}
    ids = {**ids, **added}
    control = frozenset(added) | frozenset(_FAIRSEQ_FIRST) | names.control
    special = names._replace(control=control - {names.unknown})
    with naming(folder):
        data = model.renumbered(ids, source_size, special=special)
    return Vocabularies(data, None, ids, ids, special.eos)


def _marian(folder: Path, names: Special, source_size: int, target_size: int) -> Vocabularies:
    """Two SentencePiece models and the ids of their pieces, together or each with its own."""
    ids = _ids(folder / "vocab.json")
    separate = read_json_if_there(folder / "tokenizer_config.json").get("separate_vocabs")
    target_ids = _ids(folder / "target_vocab.json") if separate else ids
    control = {token for token in {**ids, **target_ids} if _is_language(token)}
    special = names._replace(control=names.control | control)
    source, target = (_read_pieces(folder / name) for name in ("source.spm", "target.spm"))
    with naming(folder / "vocab.json"):
        return Vocabularies(
            source.renumbered(ids, source_size, special=special),
            target.renumbered(target_ids, target_size, special=special, foreign=Kind.UNUSED),
            ids,
            target_ids,
            special.eos,
        )


def _is_language(token: str) -> bool:
    return token.startswith(">>") and token.endswith("<<")


def _pieces_and_ids(folder: Path, kind: str) -> tuple[PieceModel, dict[str, int]]:
    """Find the SentencePiece model, or what says the same, and where its pieces stand."""
    spm = next((folder / name for name in _SPM_NAMES if (folder / name).exists()), None)
    if spm is None:
        return read_tokenizer_json(folder, kind)
    model = _read_pieces(spm)
    if kind == "m2m_100" and (folder / "vocab.json").exists():
        return model, _ids(folder / "vocab.json")
    texts = [piece.text for piece in model.pieces]
    if kind in {"m2m_100", "mbart", "bart"}:
        texts = [*_FAIRSEQ_FIRST, *texts[_FAIRSEQ_PIECES:]]
    return model, {text: place for place, text in enumerate(texts)}


def _read_pieces(path: Path) -> PieceModel:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ModelError(f"{path}: no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    with naming(path):
        return PieceModel(data)


def _ids(path: Path) -> dict[str, int]:
    ids = read_json(path)
    if not ids or not all(isinstance(place, int) for place in ids.values()):
        raise ModelError(f"{path}: a table of tokens and their ids is expected")
    return ids


def _special_names(folder: Path) -> Special:
    """Return the tokens that are not text, as the checkpoint names them."""
    settings = {
        **read_json_if_there(folder / "tokenizer_config.json"),
        **read_json_if_there(folder / "special_tokens_map.json"),
    }
    roles = ("bos_token", "pad_token", "cls_token", "sep_token", "mask_token")
    control = {_content(settings[role]) for role in roles if settings.get(role)}
    eos = _content(settings.get("eos_token") or "</s>")
    unknown = _content(settings.get("unk_token") or "<unk>")
    return Special(eos, unknown, frozenset(control) | {"<pad>"})


def _content(token: Any) -> str:
    return str(token.get("content", "")) if isinstance(token, dict) else str(token)


def _added_tokens(folder: Path, ids: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens that the tokenizer knows beyond its pieces, language codes above all.

    Files of different ages keep them in different places; where only their names are kept,
    they follow the pieces in that order.
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
    for place, token in (config.get("added_tokens_decoder") or {}).items():
        added[_content(token)] = int(place)
    added |= read_json_if_there(folder / "added_tokens.json")
    for token in read_json_if_there(folder / "tokenizer.json").get("added_tokens") or []:
        added[_content(token)] = int(token["id"])
    return added


def _m2m_languages(folder: Path, first: int) -> dict[str, int]:
    name = read_json_if_there(folder / "tokenizer_config.json").get("language_codes", "m2m100")
    if name not in _M2M_LANGUAGES:
        raise ModelError(f'{folder / "tokenizer_config.json"}: language codes "{name}" are unknown')
    codes = _M2M_LANGUAGES[name].split()
    return {f"__{code}__": place for place, code in enumerate(codes, first)}


def _texts(tokens: Any) -> list[str]:
    return [_content(token) for token in tokens] if isinstance(tokens, list) else []

"""What stands around a text for a network of each family: languages, starts, ends.

The tokenizers and generation settings of transformers put these tokens there at run time; a
bundle has them written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece

from lexbeam.errors import InputError, ModelError
from lexbeam.models.importers.huggingface.files import read_json_if_there
from lexbeam.models.importers.huggingface.vocabularies import Vocabularies
from lexbeam.models.model import Framing

_CODE = re.compile(r"__(\w+)__|>>([\w-]+)<<|([a-z]{2,3}_[A-Z][A-Za-z]+)")
_PAIR_IN_NAME = re.compile(r"opus-mt-(?:tc-[a-z]+-)?([A-Za-z_]+)-([A-Za-z_]+)$")


class Wishes(NamedTuple):
    """What only the user knows of how a network is to be used."""

    source_language: str | None = None
    target_language: str | None = None
    source_prefix: str = ""


def frame(
    folder: Path, kind: str, config: Mapping[str, Any], text: Vocabularies, wishes: Wishes
) -> Framing:
    """Return the tokens around source and output, as generation in transformers has them."""
    generation = _generation(folder, config)
    eos, start = _eos(generation, text), generation.get("decoder_start_token_id")
    forced = generation.get("forced_bos_token_id")
    prefix, suffix = [], [text.source_ids[text.eos]]
    if kind == "marian":
        prefix = _marian_prefix(text, wishes)
    elif kind == "bart":
        prefix = [_id(text, "<s>")]
    elif kind in {"mbart", "m2m_100"}:
        source = _language(text.source_ids, "source", wishes.source_language)
        target = _language(text.target_ids, "target", wishes.target_language)
        if _languages_come_last(folder, kind, start, eos):
            suffix.append(source)
        else:
            prefix.append(source)
        if kind == "mbart" and not prefix:
            start, forced = target, None
        else:
            start, forced = start if start is not None else eos, target
    if start is None:
        raise ModelError(f'{folder / "config.json"}: "decoder_start_token_id" is missing')
    prefix += _cut(text, wishes.source_prefix)
    output_start = (start,) if forced is None else (start, forced)
    return Framing(tuple(prefix), tuple(suffix), output_start, _never(folder, generation))


def languages(folder: Path, config: Mapping[str, Any], wishes: Wishes) -> tuple[str | None, ...]:
    """Return the codes of both languages, as far as they are known."""
    settings = read_json_if_there(folder / "tokenizer_config.json")
    name = str(config.get("_name_or_path") or folder.resolve().name)
    pair = _PAIR_IN_NAME.search(name)
    found = []
    for place, side in enumerate(("source", "target")):
        wished = getattr(wishes, f"{side}_language")
        code = wished or settings.get(f"{side}_lang") or (pair[place + 1] if pair else None)
        found.append(str(code) if code else None)
    return tuple(found)


def _generation(folder: Path, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of generation: older checkpoints keep them among the model's."""
    chosen = read_json_if_there(folder / "generation_config.json")
    return {**config, **{name: value for name, value in chosen.items() if value is not None}}


def _eos(generation: Mapping[str, Any], text: Vocabularies) -> int:
    eos = generation.get("eos_token_id")
    ends = eos if isinstance(eos, list) else [eos]
    known = _id(text, text.eos)
    if len(ends) != 1:
        raise ModelError(f"several ends of sentence ({ends}) are not supported")
    if ends[0] not in {None, known}:
        raise ModelError(f"the end of sentence is {ends[0]} to generation, but {known} to text")
    return known


def _id(text: Vocabularies, token: str) -> int:
    if token not in text.target_ids:
        raise ModelError(f"the token {token!r} is missing from the vocabulary")
    return text.target_ids[token]


def _marian_prefix(text: Vocabularies, wishes: Wishes) -> list[int]:
    """Return the target language, where the network has to be told."""
    codes = [token for token in text.source_ids if token.startswith(">>")]
    if not codes:
        return []
    wished = f">>{wishes.target_language}<<"
    if wished not in text.source_ids:
        raise _unknown_language("target", wishes.target_language, codes)
    return [text.source_ids[wished]]


def _language(ids: Mapping[str, int], side: str, wished: str | None) -> int:
    for token in (str(wished), f"__{wished}__"):
        if token in ids and _CODE.fullmatch(token):
            return ids[token]
    raise _unknown_language(side, wished, ids)


def _unknown_language(side: str, wished: str | None, tokens: Iterable[str]) -> Exception:
    matches = (_CODE.fullmatch(token) for token in tokens)
    codes = sorted({next(filter(None, match.groups())) for match in matches if match})
    listed = ", ".join(codes[:12]) + (", …" if len(codes) > 12 else "")
    if not codes:
        return ModelError("no language codes are in the tokenizer's files")
    if not wished:
        return InputError(f"name the {side} language; this model knows {listed}")
    return InputError(f'{side} language "{wished}" is unknown; this model knows {listed}')


def _languages_come_last(folder: Path, kind: str, start: int | None, eos: int) -> bool:
    """Tell whether the source's language stands after it, as in the first mBART."""
    settings = read_json_if_there(folder / "tokenizer_config.json")
    if kind == "m2m_100":
        return bool(settings.get("legacy_behaviour"))
    name = str(settings.get("tokenizer_class") or "")
    return not name.startswith("MBart50") if name else start != eos


def _cut(text: Vocabularies, prefix: str) -> list[int]:
    if not prefix.strip():
        return []
    processor = sentencepiece.SentencePieceProcessor(model_proto=text.source)
    pieces: list[int] = processor.encode(prefix)
    return pieces


def _never(folder: Path, generation: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the ids that generation never takes."""
    words = generation.get("bad_words_ids") or []
    if any(len(word) != 1 for word in words):
        raise ModelError(f"{folder}: bad_words_ids of several tokens are not supported: {words}")
    single = [word[0] for word in words] + list(generation.get("suppress_tokens") or [])
    return tuple(dict.fromkeys(single))

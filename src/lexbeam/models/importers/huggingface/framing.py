"""The tokens around source and output: languages, starts, ends.

In transformers, tokenizer and generation settings add them at run time; a bundle lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece

from lexbeam.errors import InputError, ModelError
from lexbeam.models.importers.huggingface.files import read_json_if_there
from lexbeam.models.importers.huggingface.settings import Settings
from lexbeam.models.importers.huggingface.vocabularies import Vocabularies

_CODE = re.compile(r"__(\w+)__|>>([\w-]+)<<|([a-z]{2,3}_[A-Z][A-Za-z]+)")
_PAIR_IN_NAME = re.compile(r"opus-mt-(?:tc-[a-z]+-)?([A-Za-z_]+)-([A-Za-z_]+)$")


class ImportOptions(NamedTuple):
    """What only the user knows of how a network is used."""

    source_language: str | None = None
    target_language: str | None = None
    source_prefix: str = ""


class Surroundings(NamedTuple):
    """The tokens around source and output, as far as a checkpoint's files tell."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    start: int | None
    """The token that the output follows."""
    forced: int | None
    """The token that every output begins with."""


def read_generation(folder: Path, settings: Settings) -> Mapping[str, Any]:
    """Return the settings of generation; older checkpoints have them in ``config.json``."""
    chosen = read_json_if_there(folder / "generation_config.json")
    return {**settings.values, **{name: v for name, v in chosen.items() if v is not None}}


def generation_file(folder: Path, name: str) -> Path:
    """Return the file that a setting of generation is from."""
    path = folder / "generation_config.json"
    return path if read_json_if_there(path).get(name) is not None else folder / "config.json"


def find_eos(generation: Mapping[str, Any], text: Vocabularies) -> int:
    """Return the end of sentence, on which generation and vocabulary have to agree."""
    eos = generation.get("eos_token_id")
    ends = eos if isinstance(eos, list) else [eos]
    known = find_token(text, text.eos)
    if len(ends) != 1:
        raise ModelError(f"several ends of sentence ({ends}) are not supported")
    if ends[0] not in {None, known}:
        raise ModelError(f"the end of sentence is {ends[0]} to generation, but {known} to text")
    return known


def find_token(text: Vocabularies, token: str) -> int:
    """Return the id of a token that has to be in the target vocabulary."""
    if token not in text.target_ids:
        raise ModelError(f"the token {token!r} is missing from the vocabulary")
    return text.target_ids[token]


def find_language(ids: Mapping[str, int], side: str, language: str | None) -> int:
    """Return the token of a language, as the checkpoint's tokenizer writes it."""
    for token in (str(language), f"__{language}__"):
        if token in ids and _CODE.fullmatch(token):
            return ids[token]
    raise unknown_language(side, language, ids)


def is_language(token: str) -> bool:
    """Return whether a token is the code of a language."""
    return _CODE.fullmatch(token) is not None


def unknown_language(side: str, language: str | None, tokens: Iterable[str]) -> Exception:
    """Return the error for a language that is missing or unknown; it lists those that are known."""
    matches = (_CODE.fullmatch(token) for token in tokens)
    codes = sorted({next(filter(None, match.groups())) for match in matches if match})
    listed = ", ".join(codes[:12]) + (", …" if len(codes) > 12 else "")
    if not codes:
        return ModelError("no language codes are in the tokenizer's files")
    if not language:
        return InputError(f"name the {side} language; this model knows {listed}")
    return InputError(f'{side} language "{language}" is unknown; this model knows {listed}')


def cut_prefix(text: Vocabularies, prefix: str) -> tuple[int, ...]:
    """Return the tokens of a text that goes before every source."""
    if not prefix.strip():
        return ()
    processor = sentencepiece.SentencePieceProcessor(model_proto=text.source)
    return tuple(processor.encode(prefix))


def excluded_tokens(folder: Path, generation: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tokens that generation never takes."""
    words = generation.get("bad_words_ids") or []
    if any(len(word) != 1 for word in words):
        path = generation_file(folder, "bad_words_ids")
        raise ModelError(f"{path}: bad_words_ids of several tokens are not supported: {words}")
    single = [word[0] for word in words] + list(generation.get("suppress_tokens") or [])
    return tuple(dict.fromkeys(single))


def language_codes(
    folder: Path, settings: Settings, options: ImportOptions
) -> tuple[str | None, str | None]:
    """Return the codes of both languages, as far as they are known."""
    tokenizer = read_json_if_there(folder / "tokenizer_config.json")
    pair = _PAIR_IN_NAME.search(settings.text("_name_or_path", folder.resolve().name))
    source = options.source_language or tokenizer.get("source_lang") or (pair and pair[1])
    target = options.target_language or tokenizer.get("target_lang") or (pair and pair[2])
    return (str(source) if source else None), (str(target) if target else None)

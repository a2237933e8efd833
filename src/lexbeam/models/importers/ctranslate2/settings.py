"""What a CTranslate2 model says of the tokens around texts: ``config.json``, or variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import read_json_object
from lexbeam.models.importers.ctranslate2.binary import BinaryModel

CONFIG = "config.json"
_IN_CONFIG = 6  # the version since which these settings are in a file of their own
_TOKENS = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


@dataclass(frozen=True)
class Settings:
    """Special tokens, what is around a source, what an output follows."""

    unknown: str
    bos: str
    eos: str
    decoder_start: str | None
    """None: the target language."""
    add_source_bos: bool
    add_source_eos: bool
    epsilon: float | None
    """Of normalisation; None: the usual one."""
    file: str
    """The name of the file that they are from, for errors."""


def read_settings(folder: Path, model: BinaryModel) -> Settings:
    """Return the settings of a model; older ones keep them among the variables."""
    path = folder / CONFIG
    given = read_json_object(path) if path.exists() else {}
    values = {**_TOKENS, "decoder_start_token": "<s>", **given}
    if model.version < _IN_CONFIG:
        values |= _from_variables(model.variables)
    for name in (*_TOKENS, "decoder_start_token"):
        optional = name in ("bos_token", "decoder_start_token")
        if not isinstance(values[name], str) and not (optional and values[name] is None):
            raise ModelError(f'{path}: "{name}" must be a text, not {values[name]!r:.60}')
    epsilon = values.get("layer_norm_epsilon")
    if epsilon is not None and (type(epsilon) not in (int, float) or not 0 <= epsilon < 1):
        raise ModelError(f'{path}: "layer_norm_epsilon" is {epsilon!r:.60}')
    if values.get("quantization_type", 0):
        raise ModelError(
            f'{path}: "quantization_type" {values["quantization_type"]!r:.60} is not supported'
        )
    return Settings(
        unknown=values["unk_token"],
        bos=values["bos_token"] or _TOKENS["bos_token"],
        eos=values["eos_token"],
        decoder_start=values["decoder_start_token"],
        add_source_bos=values.get("add_source_bos") is True,
        add_source_eos=values.get("add_source_eos") is True,
        epsilon=None if epsilon is None else float(epsilon),
        file="model.bin" if model.version < _IN_CONFIG else CONFIG,
    )


def _from_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    def flag(name: str, default: bool) -> bool:
        return bool(variables[name].any()) if name in variables else default

    values: dict[str, Any] = {
        name: bytes(variables[name]).decode("utf-8", "replace") if name in variables else default
        for name, default in _TOKENS.items()
    }
    start = "bos_token" if flag("with_target_bos", True) else "eos_token"
    user = flag("user_decoder_start_tokens", False)
    return {
        **values,
        "decoder_start_token": None if user else values[start],
        "add_source_bos": flag("with_source_bos", False),
        "add_source_eos": flag("with_source_eos", False),
    }

"""The manifest of a bundle: what the network is and what the files must be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.model import Framing
from lexbeam.text.moses_vocabulary import CODES, PIECES

FORMAT, FORMAT_OF_MOSES = 2, 3
MANIFEST = "manifest.json"
WEIGHTS, SOURCE, TARGET, SHORTLIST = "weights.npz", "source.spm", "target.spm", "shortlist.bin"
ALIGNMENT = ("layer", "head")
_READABLE = (1, 2, 3)  # format 1 had no framing, no precision and no origin
_FIELDS = {
    "format": int,
    "network": dict,
    "files": dict,
    "max_source_length": int,
    "source_language": str | None,
    "target_language": str | None,
}


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest; a field that is missing or of the wrong type is an error."""
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    if not isinstance(manifest, dict):
        raise ModelError(f"{path}: not a manifest")
    for name, kind in _FIELDS.items():
        if not isinstance(manifest.get(name), kind):
            raise ModelError(f'{path}: "{name}" is missing or of the wrong type')
    if manifest["format"] not in _READABLE:
        readable = f"{_READABLE[0]} to {_READABLE[-1]}"
        raise ModelError(f"{path}: format {manifest['format']}; this lexbeam reads {readable}")
    moses = manifest["format"] == FORMAT_OF_MOSES
    for name in (WEIGHTS, *((CODES, PIECES) if moses else (SOURCE,))):
        if name not in manifest["files"]:
            raise ModelError(f"{path}: {name} is not among the files")
    return manifest


def read_framing(values: Mapping[str, Any], architecture: Architecture) -> Framing:
    """Read the tokens around texts, each of which must be in its vocabulary."""
    known = {field.name for field in fields(Framing)}
    if not isinstance(values, dict) or not values.keys() <= known:
        raise ModelError(f'"framing" must have the fields {", ".join(sorted(known))} and no others')
    framing: dict[str, Any] = {}
    for name, tokens in values.items():
        of_source = "source" in name
        size = architecture.source_vocabulary if of_source else architecture.target_vocabulary
        if tokens is None and name == "source_suffix":
            continue
        if not isinstance(tokens, list) or not all(
            isinstance(token, int) and 0 <= token < size for token in tokens
        ):
            raise ModelError(f'"{name}" must be a list of ids below {size}, not {tokens}')
        framing[name] = tuple(tokens)
    return Framing(**framing)


def read_alignment(values: Any, architecture: Architecture) -> dict[str, int] | None:
    """Read which decoder layer and head align; None if it is not known."""
    if values is None:
        return None
    known = dict(zip(ALIGNMENT, architecture.aligned_layers_and_heads, strict=True))
    if not isinstance(values, dict) or values.keys() != known.keys():
        raise ModelError(f'"alignment" must have the fields {" and ".join(known)}')
    for name, value in values.items():
        if type(value) is not int or not 0 <= value < known[name]:
            raise ModelError(f'"alignment": {name} must be below {known[name]}, not {value}')
    return values


def read_files(folder: Path, digests: Mapping[str, str]) -> dict[str, bytes]:
    """Read the files of a bundle; one that is not as the manifest describes it is an error."""
    files = {}
    for name, expected in digests.items():
        path = folder / name
        try:
            files[name] = path.read_bytes()
        except OSError as error:
            raise ModelError(f"{path}: can't be read: {error}") from None
        if digest(files[name]) != expected:
            raise ModelError(f"{path}: damaged: not the file that the manifest describes")
    return files


def digest(content: bytes) -> str:
    """Return the digest of a file as the manifest has it."""
    return hashlib.sha256(content).hexdigest()

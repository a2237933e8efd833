"""The manifest of a bundle: what the network is and what the files must be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import (
    LARGEST_VOCABULARY,
    file_digest,
    read_file,
    read_json_object,
)
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.model import Framing
from lexbeam.text.moses_vocabulary import CODES, PIECES

FORMAT, FORMAT_OF_MOSES, FORMAT_OF_SAMPLE = 2, 3, 4
MANIFEST = "manifest.json"
WEIGHTS, SOURCE, TARGET, SHORTLIST = "weights.npz", "source.spm", "target.spm", "shortlist.bin"
ALIGNMENT = ("layer", "head")
SHORTLIST_OPTIONS = ("sample", "longest")
"""Numbers that say how a shortlist is used; see `lexbeam.models.shortlist.Shortlist`."""
ASIDE = "aside"
"""What has finished leaves its slot of the beam; see `lexbeam.models.model.Model`."""

READS_TERMS = "reads_terms"
"""Whether the network was trained to read terms in the source."""

_READABLE = (1, 2, 3, 4)  # format 1 had no framing, no precision and no origin
_LARGEST_SAMPLE = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST_FRAMING = 1000  # tokens before or after a text
_PRECISIONS = ("int8", "float32")


def _is_number(value: Any, largest: int) -> bool:
    return type(value) is int and 1 <= value <= largest


def _is_text_or_none(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.isprintable())


def _is_table_of_files(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _NAME.fullmatch(name) and isinstance(digest, str) and _DIGEST.fullmatch(digest)
        for name, digest in value.items()
    )


_ALWAYS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "format": ("a number", lambda value: _is_number(value, 1 << 31)),
    "network": ("an object", lambda value: isinstance(value, dict)),
    "files": ("names of files with their SHA-256", _is_table_of_files),
    "max_source_length": ("a number from 1 on", lambda value: _is_number(value, 1 << 20)),
    "source_language": ("text or null", _is_text_or_none),
    "target_language": ("text or null", _is_text_or_none),
}
_OPTIONAL: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "precision": (" or ".join(_PRECISIONS), lambda value: value in _PRECISIONS),
    "origin": ("text or null", _is_text_or_none),
    "framing": ("an object", lambda value: isinstance(value, dict)),
    "finishing": (ASIDE, lambda value: value == ASIDE),
    READS_TERMS: ("true or false", lambda value: type(value) is bool),
    "sample": ("a number from 1 on", lambda value: _is_number(value, _LARGEST_SAMPLE)),
    "longest": ("a number from 1 on", lambda value: _is_number(value, _LARGEST_SAMPLE)),
}
"""The fields of a manifest: what each must be, in words and as a check."""


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest; a field that is missing, of the wrong type or out of range is an error."""
    manifest = read_json_object(path, otherwise="not a manifest")
    present = {name: field for name, field in _OPTIONAL.items() if name in manifest}
    for name, (expected, is_right) in {**_ALWAYS, **present}.items():
        if name not in manifest or not is_right(manifest[name]):
            raise ModelError(f'{path}: "{name}" is missing or of the wrong type: not {expected}')
    if manifest["format"] not in _READABLE:
        readable = f"{_READABLE[0]} to {_READABLE[-1]}"
        raise ModelError(f"{path}: format {manifest['format']}; this lexbeam reads {readable}")
    moses = manifest["format"] >= FORMAT_OF_MOSES and SOURCE not in manifest["files"]
    for name in (WEIGHTS, *((CODES, PIECES) if moses else (SOURCE,))):
        if name not in manifest["files"]:
            raise ModelError(f"{path}: {name} is not among the files")
    return manifest


def read_framing(values: Mapping[str, Any], architecture: Architecture) -> Framing:
    """Read the tokens around texts, each of which must be in its vocabulary."""
    known = {field.name for field in fields(Framing)}
    if not values.keys() <= known:
        raise ModelError(f'"framing" must have the fields {", ".join(sorted(known))} and no others')
    framing: dict[str, Any] = {}
    for name, tokens in values.items():
        of_source = "source" in name
        size = architecture.source_vocabulary if of_source else architecture.target_vocabulary
        if tokens is None and name == "source_suffix":
            continue
        most = size if name == "never" else _MOST_FRAMING
        ids = size + 1 if name == "output_start" else size  # the one past the end is no token
        if not _is_list_of_ids(tokens, ids, most):
            raise ModelError(f'"{name}" must be a list of ids below {ids}, at most {most} of them')
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


def _is_list_of_ids(tokens: Any, size: int, most: int) -> bool:
    return (
        isinstance(tokens, list)
        and len(tokens) <= most
        and all(type(token) is int and 0 <= token < size for token in tokens)
    )


def read_files(folder: Path, digests: Mapping[str, str]) -> dict[str, bytes]:
    """Read the vocabularies and the shortlist of a bundle; the weights are left on the disk.

    A file that is not as the manifest describes it is an error.
    """
    files = {}
    for name, expected in digests.items():
        path = folder / name
        if name == WEIGHTS:
            found = file_digest(path)
        else:
            files[name] = read_file(path, LARGEST_VOCABULARY)
            found = digest(files[name])
        if found != expected:
            raise ModelError(f"{path}: damaged: not the file that the manifest describes")
    return files


def digest(content: bytes) -> str:
    """Return the digest of a file as the manifest has it."""
    return hashlib.sha256(content).hexdigest()

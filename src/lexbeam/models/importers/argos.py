"""Argos Translate packages (LibreTranslate's models), packed or installed.

A package is a zip file, ``*.argosmodel``, or the folder that it unpacks to: ``metadata.json``, a
CTranslate2 model in ``model/``, the SentencePiece model beside it. The rest (Stanza's models for
splitting sentences) is not used. Of a zip file only what is needed is unpacked, each file after
its size was compared with that of the package.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models import formats
from lexbeam.models.file_reading import (
    LARGEST_VOCABULARY,
    MOST_UNPACKED,
    SPARE_BYTES,
    check_file,
    naming,
    read_file,
    refusing_unreadable,
)
from lexbeam.models.model import Model

_SUFFIX, _METADATA, _MODEL, _PIECES = ".argosmodel", "metadata.json", "model", "sentencepiece.model"
_BPE = "bpe.model"
_MOST_MEMBERS = 10_000
_ENCRYPTED = 1  # a flag of members
_ZIP_ERRORS = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


def is_argos_package(path: str | Path) -> bool:
    """Return whether a path is an Argos package, packed or installed."""
    package = Path(path)
    if package.is_file():
        return package.suffix == _SUFFIX
    return (package / _METADATA).is_file() and (package / _MODEL / "model.bin").is_file()


@refusing_unreadable()
def import_package(path: str | Path, out: str | Path, precision: str | None = None) -> Path:
    """Write an Argos package as a bundle that `lexbeam.load` takes; return the bundle's folder.

    Args:
        path: the ``.argosmodel`` file, or the folder of an installed package.
        out: the folder of the bundle; made if it does not exist.
        precision: "int8" or "float32"; None keeps that of the model.
    """
    from lexbeam.models.importers.ctranslate2 import import_model  # noqa: PLC0415  (slow to import)

    package = Path(path)
    with _unpacked(package) as folder, naming(package):
        metadata = _read_metadata(folder / _METADATA)
        if (folder / _BPE).exists() and not (folder / _PIECES).exists():
            raise ModelError(f"{_BPE}: BPE with Moses tokens is not supported, only SentencePiece")
        prefix = metadata.get("target_prefix") or ""
        return import_model(
            folder / _MODEL,
            out,
            precision,
            source_language=metadata.get("from_code"),
            target_language=metadata.get("to_code"),
            output_prefix=[prefix] if prefix else [],
            sentencepiece=[folder / _PIECES],
            origin=f"Argos Translate: {package.resolve().stem}",
        )


def load(path: str | Path, threads: int = 1) -> Model:
    """Load a package; it is imported into the cache when it is first loaded."""
    from lexbeam.models.import_cache import load_imported  # noqa: PLC0415  (slow to import)

    package = Path(path)
    files = [package]
    if package.is_dir():
        files = sorted(file for part in ("", _MODEL) for file in (package / part).iterdir())
        files = [file for file in files if file.is_file()]
    return load_imported(files, "argos", lambda out: import_package(package, out), threads)


def _read_metadata(path: Path) -> Mapping[str, Any]:
    """Read what a package says of itself; only packages that translate can be imported."""
    try:
        metadata = json.loads(read_file(path, LARGEST_VOCABULARY))
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{_METADATA} can't be read: {error}") from None
    texts = ("from_code", "to_code", "type", "target_prefix")
    if not isinstance(metadata, dict) or any(
        not isinstance(metadata.get(name) or "", str) for name in texts
    ):
        raise ModelError(f"{_METADATA} does not describe a package")
    kind = metadata.get("type") or "translate"
    if kind != "translate":
        raise ModelError(f'a package of the type "{kind:.60}" does not translate')
    return metadata


@contextmanager
def _unpacked(package: Path) -> Iterator[Path]:
    """Give the folder of a package; one that is packed is unpacked until it is left."""
    if package.is_dir():
        yield package
        return
    size = check_file(package)
    with tempfile.TemporaryDirectory(prefix="lexbeam-") as scratch:
        try:
            with zipfile.ZipFile(package) as archive:
                _unpack(archive, Path(scratch), MOST_UNPACKED * size + SPARE_BYTES)
        except ModelError as error:
            raise ModelError(f"{package}: {error}") from None
        except _ZIP_ERRORS as error:
            raise ModelError(f"{package}: can't be read: {error}") from None
        yield Path(scratch)


def _unpack(archive: zipfile.ZipFile, folder: Path, bytes_left: int) -> None:
    """Unpack metadata, model and vocabulary; the folder they are in may have any name."""
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS:
        raise ModelError(f"{len(members)} files are packed in it, {_MOST_MEMBERS} is the limit")
    (folder / _MODEL).mkdir()
    root = _root([member.filename for member in members])
    for member in members:
        steps = PurePosixPath(member.filename).parts[len(root) :]
        inside = steps[:-1] == (_MODEL,) or (steps and steps in ((_METADATA,), (_PIECES,), (_BPE,)))
        if not inside or member.is_dir() or tuple(member.filename.split("/"))[: len(root)] != root:
            continue
        bytes_left -= member.file_size
        if bytes_left < 0:
            raise ModelError(f"{member.filename!r:.80} is too large for a file of this size")
        if member.flag_bits & _ENCRYPTED:
            raise ModelError(f"{member.filename!r:.80} is encrypted")
        target = folder / (_MODEL if len(steps) == 2 else "") / steps[-1]
        with archive.open(member) as packed, target.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)


def _root(names: list[str]) -> tuple[str, ...]:
    """Return the steps to the folder that the metadata is in."""
    found = sorted((name for name in names if name.split("/")[-1] == _METADATA), key=len)
    if not found:
        raise ModelError(f"not an Argos package: {_METADATA} is missing")
    return tuple(found[0].split("/")[:-1])


formats.register("an Argos package", f"*{_SUFFIX}", is_argos_package, load)

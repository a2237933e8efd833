"""Mozilla's public registry of models, and the language pairs that were pulled from it.

The registry is one JSON file: for each language pair a list of models, each with its files,
gzipped, below a base address. Each pair that was pulled has a folder in the user's data folder. Its
files are fetched to another folder, which is moved when it is complete, so that an interrupted
download never looks like a model.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from lexbeam.errors import ModelError
from lexbeam.models.download import fetch_bytes, fetch_file, unpack
from lexbeam.models.paths import models_home

REGISTRY_URL = (
    "https://storage.googleapis.com/"
    "moz-fx-translations-data--303e-prod-translations-data/db/models.json"
)

METADATA = "lexbeam.json"
"""Describes an installed pair; a folder without it is not an installed model."""

_PAIR = re.compile(r"[A-Za-z0-9_]{2,16}(-[A-Za-z0-9_]{2,16})+")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_KINDS = ("model", "lexicalShortlist", "vocab", "srcVocab", "trgVocab")

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes fetched so far and, if known, its size."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a model as the registry describes it."""

    path: str
    size: int | None = None  # bytes once unpacked
    sha256: str | None = None  # of the unpacked file

    @property
    def name(self) -> str:
        """Its name on disk."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".gz")


@dataclass(frozen=True)
class RemoteModel:
    """A model that can be pulled."""

    pair: str
    architecture: str
    release: str
    languages: tuple[str, str]
    files: tuple[RemoteFile, ...]

    @property
    def version(self) -> str:
        """A name for exactly these files: twelve digits of a digest of theirs."""
        files = sorted((file.name, file.sha256 or file.path, file.size) for file in self.files)
        return hashlib.sha256(repr(files).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Registry:
    """What a registry offers, by language pair."""

    url: str
    base_url: str
    models: Mapping[str, list[RemoteModel]]

    @classmethod
    def fetch(cls, url: str = REGISTRY_URL) -> Registry:
        """Download a registry and read it."""
        data = fetch_bytes(url)
        try:
            return cls.read(url, json.loads(data))
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ModelError(f"{url} is not a registry of models: {error!r}") from error

    @classmethod
    def read(cls, url: str, content: Mapping[str, Any]) -> Registry:
        """Read the content of a registry; entries that make no sense are left out."""
        models: dict[str, list[RemoteModel]] = {}
        for pair, entries in content["models"].items():
            if is_pair(pair):
                models[pair] = [_read_model(pair, entry) for entry in entries]
        base = urljoin(url, str(content.get("baseUrl") or "."))
        return cls(url, base.rstrip("/"), models)

    def choose(
        self, pair: str, architecture: str | None = None, version: str | None = None
    ) -> RemoteModel:
        """Return the best model of a pair, a released one before any other, or one version."""
        if pair not in self.models:
            near = sorted(
                known for known in self.models if set(known.split("-")) & set(pair.split("-"))
            )
            hint = f"; it has {', '.join(near[:12])}" if near else ""
            raise ModelError(f"the registry has no pair {pair!r}{hint}")
        candidates = [
            model for model in self.models[pair] if architecture in (None, model.architecture)
        ]
        if not candidates:
            known = ", ".join(sorted({model.architecture for model in self.models[pair]}))
            raise ModelError(f"{pair} has no architecture {architecture!r}: there is {known}")
        if version is not None:
            known = ", ".join(f"{model.version} ({model.architecture})" for model in candidates)
            candidates = [model for model in candidates if model.version == version]
            if not candidates:
                raise ModelError(
                    f"the registry has no version {version!r} of {pair} any more: it has {known}"
                )
        return min(candidates, key=lambda model: _release_rank(model.release))


@dataclass(frozen=True)
class Installed:
    """A pair in the user's data folder."""

    pair: str
    path: Path
    info: Mapping[str, Any]


def is_pair(name: str) -> bool:
    """Return whether a name could be that of a language pair, such as ``en-de``."""
    return _PAIR.fullmatch(name) is not None


def installed() -> list[Installed]:
    """Return the pairs that were pulled, by name."""
    found = []
    for metadata in sorted(models_home().glob(f"*/{METADATA}")):
        try:
            info = json.loads(metadata.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            info = {}
        if is_pair(metadata.parent.name):
            found.append(Installed(metadata.parent.name, metadata.parent, info))
    return found


def find_installed(pair: str) -> Path | None:
    """Return the folder of a pair that was pulled, or None."""
    folder = models_home() / pair
    return folder if (folder / METADATA).is_file() else None


def only_installed() -> Path:
    """Return the folder of the only pair that was pulled; none or several are an error."""
    models = installed()
    if not models:
        raise ModelError("no model is named and none was pulled yet: run, say, lexbeam pull en-de")
    if len(models) > 1:
        names = ", ".join(model.pair for model in models)
        raise ModelError(f"no model is named and several were pulled: choose one of {names}")
    return models[0].path


def pull(
    pair: str,
    url: str = REGISTRY_URL,
    architecture: str | None = None,
    progress: Progress | None = None,
    force: bool = False,
    version: str | None = None,
) -> Path:
    """Fetch the model of a pair into the user's data folder; return its folder.

    A pair that is there already is left alone unless ``force`` is set, or another ``version`` of
    it is wanted. What was fetched before an interruption is used again.
    """
    if not is_pair(pair):
        raise ModelError(f"{pair!r} is not a language pair: write it like en-de")
    present = next((each for each in installed() if each.pair == pair), None)
    if present and not force and version in (None, present.info.get("version")):
        return present.path
    registry = Registry.fetch(url)
    model = registry.choose(pair, architecture, version)
    _check_files(model)
    staging = models_home() / ".partial" / f"{pair}.{_fingerprint(registry, model)}"
    try:
        staging.mkdir(parents=True, exist_ok=True)
        for file in model.files:
            _fetch_model_file(registry, file, staging, progress)
        return _install(registry, model, staging)
    except OSError as error:
        raise ModelError(f"can't store the model {pair}: {error}") from error


def _read_model(pair: str, entry: Mapping[str, Any]) -> RemoteModel:
    files = entry.get("files") or {}
    return RemoteModel(
        pair=pair,
        architecture=str(entry.get("architecture", "")),
        release=str(entry.get("releaseStatus", "")),
        languages=(str(entry.get("sourceLanguage", "")), str(entry.get("targetLanguage", ""))),
        files=tuple(_read_file(files[kind]) for kind in _KINDS if files.get(kind)),
    )


def _read_file(entry: Mapping[str, Any]) -> RemoteFile:
    size, sha256 = entry.get("uncompressedSize"), entry.get("uncompressedHash")
    return RemoteFile(
        path=str(entry["path"]),
        size=None if size is None else int(size),
        sha256=str(sha256).lower() if sha256 else None,
    )


def _release_rank(release: str) -> int:
    """Order release states: Release, then those of some platform only, then all others."""
    return 0 if release == "Release" else 1 if release.startswith("Release") else 2


def _check_files(model: RemoteModel) -> None:
    """Refuse an entry whose files could land anywhere but in the model's own folder."""
    if not model.files:
        raise ModelError(f"the registry lists no files for {model.pair}")
    for file in model.files:
        steps = file.path.split("/")
        if ".." in steps or file.path.startswith("/") or not _FILE_NAME.fullmatch(file.name):
            raise ModelError(f"the registry gives {model.pair} an unsafe path: {file.path!r}")
    names = [file.name for file in model.files]
    if len(set(names)) < len(names) or METADATA in names:
        raise ModelError(f"the registry gives {model.pair} two files of one name: {names}")


def _fetch_model_file(
    registry: Registry, file: RemoteFile, staging: Path, progress: Progress | None
) -> None:
    """Fetch, unpack and check one file; a damaged one is thrown away to be fetched anew."""
    packed, unpacked = staging / f"{file.name}.part", staging / file.name
    if unpacked.exists():  # it was checked before it got this name
        return
    report = None if progress is None else lambda done, total: progress(file.name, done, total)
    fetch_file(f"{registry.base_url}/{quote(file.path)}", packed, report)
    unchecked = staging / f"{file.name}.unchecked"
    try:
        sha256 = unpack(packed, unchecked, file.size)
        if file.sha256 and sha256 != file.sha256:
            raise ModelError(f"{file.name} is damaged: its SHA-256 is not the registry's")
    except ModelError as error:
        packed.unlink()
        unchecked.unlink(missing_ok=True)
        raise ModelError(f"{error}; it was thrown away, run the same command again") from error
    unchecked.replace(unpacked)
    packed.unlink()


def _install(registry: Registry, model: RemoteModel, staging: Path) -> Path:
    """Move a complete model to its folder, in one step."""
    wanted = {file.name for file in model.files}
    for left_over in staging.iterdir():
        if left_over.name not in wanted:
            left_over.unlink()
    info = {
        "pair": model.pair,
        "source_language": model.languages[0],
        "target_language": model.languages[1],
        "architecture": model.architecture,
        "release": model.release,
        "version": model.version,
        "registry": registry.url,
        "files": {file.name: file.path for file in model.files},
    }
    text = json.dumps(info, indent=2, ensure_ascii=False)
    (staging / METADATA).write_text(text + "\n", encoding="utf-8")
    destination = models_home() / model.pair
    replaced = staging.with_name(staging.name + ".replaced")
    if destination.exists():
        shutil.rmtree(replaced, ignore_errors=True)
        destination.replace(replaced)
    staging.replace(destination)
    for left_over in staging.parent.glob(f"{model.pair}.*"):
        shutil.rmtree(left_over, ignore_errors=True)
    return destination


def _fingerprint(registry: Registry, model: RemoteModel) -> str:
    """Return a name for the unfinished download of this model, and no other of the pair."""
    return hashlib.sha256(repr((registry.base_url, model)).encode()).hexdigest()[:12]

"""What made a translation: version, model and settings, as sacreBLEU's signatures say it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lexbeam.translation.settings import TextSettings
from lexbeam.version import __version__

_DIGEST_LENGTH = 12
_NO_MATTER = ("batch_size", "prices", "alignments")  # settings that don't change a translation


@dataclass(frozen=True)
class Signature:
    """The version, the model and the settings that made a translation.

    What was asked of the text itself is not in it: the translation reports on that.
    """

    model: str
    settings: TextSettings
    files: tuple[str, ...] = ()
    """The files of the model, of which the digest is taken."""

    @classmethod
    def of(cls, info: Mapping[str, Any], settings: TextSettings) -> Signature:
        """Return the signature of what a model, described by ``info``, makes with settings."""
        pair = "-".join(filter(None, (info.get("source_language"), info.get("target_language"))))
        name = str(info.get("name") or pair or info.get("type") or "unnamed")
        return cls(name, settings, tuple(map(str, info.get("files", ()))))

    def to_dict(self) -> dict[str, Any]:
        """Return version, model, the digest of its files if it has any, and all settings."""
        digest = _digest(self.files) if self.files else None
        named = {"lexbeam": __version__, "model": self.model}
        settings = asdict(self.settings)
        for name in _NO_MATTER:
            del settings[name]
        return {**named, **({"digest": digest} if digest else {}), **settings}

    def __str__(self) -> str:
        return "|".join(f"{name}:{_shown(value)}" for name, value in self.to_dict().items())


def _shown(value: Any) -> str:
    named = {None: "none", True: "yes", False: "no"}
    if value is None or isinstance(value, bool):
        return named[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


@lru_cache(maxsize=8)
def _digest(files: tuple[str, ...]) -> str | None:
    """Return a digest of the contents of files; None where one can't be read any more."""
    digest = hashlib.sha256()
    try:
        for file in files:
            digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    except OSError:
        return None
    return digest.hexdigest()[:_DIGEST_LENGTH]

"""Remember what is costly to make from a model's files, outside of the model's folder.

One file a model and purpose, in the user's cache folder (``LEXBEAM_CACHE`` names another). It
is overwritten when the model changes, rebuilt when it is damaged, and a folder that can't be
written to only means that nothing is remembered.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from lexbeam.version import __version__

_MAGIC = b"lexbeam-cache-1\n"


def folder() -> Path:
    """Return the folder that things are remembered in; it need not exist."""
    if chosen := os.environ.get("LEXBEAM_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "lexbeam" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "lexbeam"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "lexbeam"


def remember(
    sources: Sequence[Path],
    purpose: str,
    build: Callable[[], Sequence[bytes]],
    code: Sequence[ModuleType] = (),
) -> Sequence[bytes]:
    """Return what ``build`` makes of some files, from the cache if they have not changed.

    ``code`` are the modules that the result depends on: it is made anew when they change, too.
    """
    try:
        sources = [path.resolve(strict=True) for path in sources]
        stamp = _stamp(sources, purpose, code)
        name = hashlib.sha256(json.dumps([purpose, *map(str, sources)]).encode()).hexdigest()
        file = folder() / f"{name[:32]}.bin"
    except (OSError, RuntimeError):  # no home, or a source that is about to fail by itself
        return build()
    if (remembered := _read(file, stamp)) is not None:
        return remembered
    parts = build()
    with contextlib.suppress(OSError):
        _write(file, stamp, parts)
    return parts


def _stamp(sources: Sequence[Path], purpose: str, code: Sequence[ModuleType]) -> str:
    files = [(path, path.stat()) for path in sources]
    states = [(str(path), state.st_size, state.st_mtime_ns) for path, state in files]
    checks = [zlib.crc32(Path(module.__file__ or "").read_bytes()) for module in code]
    return json.dumps([__version__, purpose, states, checks])


def _read(file: Path, stamp: str) -> list[bytes] | None:
    """Return the remembered parts, or None if there are none that can be trusted."""
    try:
        data = file.read_bytes()
        if not data.startswith(_MAGIC):
            return None
        end = data.index(b"\n", len(_MAGIC))
        header = json.loads(data[len(_MAGIC) : end])
        body = memoryview(data)[end + 1 :]
        if header["stamp"] != stamp or header["check"] != zlib.crc32(body):
            return None
        parts, at = [], 0
        for size in header["sizes"]:
            parts.append(bytes(body[at : at + size]))
            at += size
        return parts
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, stamp: str, parts: Sequence[bytes]) -> None:
    body = b"".join(parts)
    sizes = [len(part) for part in parts]
    header = json.dumps({"stamp": stamp, "sizes": sizes, "check": zlib.crc32(body)})
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(_MAGIC + header.encode() + b"\n" + body)
        Path(name).replace(file)  # in one move: no reader ever sees half a file
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise

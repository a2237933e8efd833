"""Keep what is slow to build from a model's files in the user's cache folder.

There is one file per model and purpose. It is built anew when the model's files or the code of
this package change, and when it is damaged. If the folder can't be written to, nothing is kept
and everything else works.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models.file_reading import check_file
from lexbeam.models.paths import cache_home
from lexbeam.text.atomic_write import replacing
from lexbeam.version import __version__

_MAGIC = b"lexbeam-cache-2\n"
_PACKAGE = Path(__file__).parent
_LONGEST_HEADER = 1 << 20
"""Bytes of the longest header that is read: keys and sizes of some parts."""


def build_once(
    sources: Sequence[Path], purpose: str, build: Callable[[], Sequence[bytes]]
) -> Sequence[bytes]:
    """Return what ``build`` makes of some files, from the cache if nothing has changed."""
    try:
        sources = [path.resolve(strict=True) for path in sources]
        key = _key(sources, purpose)
        name = hashlib.sha256(json.dumps([purpose, *map(str, sources)]).encode()).hexdigest()
        file = cache_home() / f"{name[:32]}.bin"
    except (OSError, RuntimeError, ModelError):  # no home, or a source that build will report
        return build()
    if (kept := _read(file, key)) is not None:
        return kept
    parts = build()
    with contextlib.suppress(OSError):
        _write(file, key, parts)
    return parts


@lru_cache(maxsize=4)
def code_digest(package: Path = _PACKAGE) -> str:
    """Return a digest of every module of a package.

    The graphs depend on most modules of `lexbeam.models`. All of them count, so that none that
    matters can be left out of a list.
    """
    total = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        total.update(f"{path.relative_to(package).as_posix()} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def _key(sources: Sequence[Path], purpose: str) -> str:
    """Return a text that changes when the files or the code change."""
    files = [(path, path.stat()) for path in sources]
    states = [(str(path), state.st_size, state.st_mtime_ns) for path, state in files]
    return json.dumps([__version__, purpose, states, code_digest()])


def _check(key: str, sizes: Any, parts: Sequence[bytes]) -> int:
    """Return a checksum of the parts and of what is said of them."""
    check = zlib.crc32(json.dumps([key, sizes]).encode())
    for part in parts:
        check = zlib.crc32(part, check)
    return check


def _read(file: Path, key: str) -> list[bytes] | None:
    """Return the parts that were kept, or None if there are none that can be trusted."""
    try:
        length = check_file(file)
        with file.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                return None
            header = json.loads(stream.readline(_LONGEST_HEADER))
            sizes, left = header["sizes"], length - stream.tell()
            if header["key"] != key or min(sizes, default=0) < 0 or sum(sizes) != left:
                return None
            parts = [stream.read(size) for size in sizes]
        return parts if header["check"] == _check(key, sizes, parts) else None
    except (OSError, ModelError, MemoryError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(file: Path, key: str, parts: Sequence[bytes]) -> None:
    sizes = [len(part) for part in parts]
    header = json.dumps({"key": key, "sizes": sizes, "check": _check(key, sizes, parts)})
    with replacing(file) as stream:
        stream.write(b"".join((_MAGIC, header.encode(), b"\n", *parts)))

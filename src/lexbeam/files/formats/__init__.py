"""The file formats: one module each, which registers itself; nothing else has to know of it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lexbeam.errors import InputError
from lexbeam.files.units import Options, Scan
from lexbeam.plugins import FILE_FORMATS, load_plugins

Opener = Callable[[bytes, Options], Scan]
Recognise = Callable[[str, bytes], bool]


@dataclass(frozen=True)
class Format:
    """A file format: what its files are called, and what opens them.

    ``recognise`` looks at the name and the first bytes of a file where several formats share
    an ending; the format with the higher ``rank`` is asked first.
    """

    name: str
    extensions: tuple[str, ...]
    open: Opener
    recognise: Recognise | None = None
    rank: int = 0


_formats: dict[str, Format] = {}


def register(
    name: str, *extensions: str, recognise: Recognise | None = None, rank: int = 0
) -> Callable[[Opener], Opener]:
    """Register what opens the files of a format, a function or a class."""

    def add(opener: Opener) -> Opener:
        _formats[name] = Format(name, extensions, opener, recognise, rank)
        return opener

    return add


def formats() -> dict[str, Format]:
    """Return all formats by their names."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    load_plugins(FILE_FORMATS)
    return dict(sorted(_formats.items()))


def find_format(path: Path, head: bytes, name: str | None = None) -> Format:
    """Return the format of a file, by the name of the format or of the file.

    Raises:
        InputError: it is unknown; the message lists the known ones.
    """
    known = formats()
    if name is not None:
        if name.lower() not in known:
            raise InputError(f"unknown format {name!r}: there are {', '.join(known)}")
        return known[name.lower()]
    file_name = path.name.lower()
    fitting = [each for each in known.values() if file_name.endswith(each.extensions)]
    for candidate in sorted(fitting, key=lambda each: -each.rank):
        if candidate.recognise is None or candidate.recognise(file_name, head):
            return candidate
    raise InputError(
        f"{path}: the format is not known by the name of the file; give --format with one of "
        + ", ".join(known)
    )

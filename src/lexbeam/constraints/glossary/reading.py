"""Reads the file of a glossary, whatever its format."""

from __future__ import annotations

import os
from pathlib import Path

from lexbeam.constraints.glossary.csv_files import read_table
from lexbeam.constraints.glossary.entries import Contents
from lexbeam.constraints.glossary.tbx_files import read_tbx
from lexbeam.errors import InputError, represented

_TABLES = (".csv", ".tsv", ".tab", ".txt")
_XML = (".tbx", ".xml", ".martif")


def read_file(path: str | Path, encoding: str | None = None) -> Contents:
    """Read one file in the format that its name or its first character shows."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a glossary has the path of a file, not {represented(path)}")
    path = Path(path)
    kind = path.suffix.lower()
    if kind in _XML or (kind not in _TABLES and _looks_like_xml(path)):
        return read_tbx(path)
    return read_table(path, encoding)


def _looks_like_xml(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return (
                file.read(64).replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xfe\xff \r\n\t")[:1] == b"<"
            )
    except (OSError, ValueError):
        return False  # reading it will say why

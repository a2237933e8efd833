"""Results on disk: a cell is measured once, and a study that was killed goes on.

Every cell is a JSON file of its own, written atomically. The name of the file ends in a digest
of everything that the result depends on: the model's files, the text, the seed, the code and
the settings of the cell. If one of these changes, the cell has another name and is measured
again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import lexbeam
from lexbeam.text.atomic_write import write_file

Result = dict[str, Any]

_NOT_MEASURED = (
    "__main__.py",
    "cli",
    "files",
    "hf",
    "scale",
    "server",
    "study/report",
    "study/parts",
    "testing.py",
    "train",
)
"""Code that no measurement runs: a change there leaves measurements valid."""


class Keyed(Protocol):
    """Something whose result can be stored."""

    @property
    def name(self) -> str:
        """A short description that can be part of a file name."""
        ...

    def key(self) -> Mapping[str, Any]:
        """The settings that the result depends on, apart from model, text, seed and code."""
        ...


class Store:
    """The folder with the results of a study.

    ``basis`` is what all results depend on.
    """

    def __init__(self, folder: Path, basis: Mapping[str, Any]) -> None:
        self._folder = folder
        self._basis = dict(basis)
        self._known: dict[Path, Result] = {}

    def get(self, cell: Keyed) -> Result | None:
        """Return the result of a cell, or None if it has not been measured."""
        path = self._path(cell)
        if path not in self._known:
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                result: Result = content["result"]
            except (OSError, ValueError, KeyError, TypeError):  # there is no file, or it is damaged
                return None
            self._known[path] = result
        return self._known[path]

    def put(self, cell: Keyed, result: Result) -> Result:
        """Keep the result of a cell."""
        path = self._path(cell)
        content = {"cell": self._key(cell), "result": result}
        write_file(path, json.dumps(content, ensure_ascii=False, sort_keys=True) + "\n")
        self._known[path] = result
        return result

    def _key(self, cell: Keyed) -> dict[str, Any]:
        return {"kind": type(cell).__name__, **cell.key(), "basis": self._basis}

    def _path(self, cell: Keyed) -> Path:
        key = json.dumps(self._key(cell), sort_keys=True)
        return self._folder / f"{cell.name}-{digest([key.encode()])[:12]}.json"


def digest(parts: Iterable[bytes]) -> str:
    """Return a hash of a list of byte strings: ``ab, c`` and ``a, bc`` differ."""
    total = hashlib.sha256()
    for part in parts:
        total.update(hashlib.sha256(part).digest())
    return total.hexdigest()


def digest_of_lines(lines: Sequence[str]) -> str:
    """Return a hash of a text."""
    return digest(line.encode("utf-8", "surrogateescape") for line in lines)


def digest_of_folder(folder: Path) -> str:
    """Return a hash of a model: the names and contents of its files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest(
        part
        for path in files
        for part in (path.relative_to(folder).as_posix().encode(), path.read_bytes())
    )


def digest_of_code(root: Path = Path(lexbeam.__file__).parent) -> str:
    """Return a hash of the code that a measurement runs: another version may measure otherwise.

    A new package counts as such code unless it is named above. So a forgotten name costs time,
    never the truth of a report.
    """
    return digest(
        part
        for path in measured_code(root)
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes())
    )


def measured_code(root: Path) -> list[Path]:
    """Return the modules of a package that a measurement may run."""
    left_out = [root / name for name in _NOT_MEASURED]
    return [
        path
        for path in sorted([*root.rglob("*.py"), *root.rglob("_*.so"), *root.rglob("*.pyd")])
        if not any(path.is_relative_to(each) for each in left_out)
    ]

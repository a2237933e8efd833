"""A run on files of a test's own, and what it was told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexbeam.corpus.run import Corpus, translate_corpus

TEXTS = ["The cat sat.", "the house", "A porta da casa.", "", "the old house", "The cat sat."]


@dataclass
class Heard:
    """An observer that remembers."""

    total: int = 0
    done: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)

    def begin(self, total: int, done: int) -> None:
        self.total, self.done = total, done

    def rows(self, count: int) -> None:
        self.done += count

    def failed(self, where: str, error: str) -> None:
        self.failures.append((where, error))


def write_lines(path: Path, lines: Sequence[str]) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def translate(
    inputs: Sequence[str], output: Path, processes: int | None = None, **more: Any
) -> tuple[dict[str, int], Heard]:
    heard = Heard()
    corpus = Corpus(tuple(inputs), output, **{"shard_rows": 2, **more})
    return translate_corpus(corpus, heard, processes=processes), heard


def parts(folder: Path) -> dict[str, bytes]:
    """Return the finished parts; a run that goes on may be writing others, under other names."""
    finished = [path for path in sorted(folder.glob("part-*")) if path.suffix != ".part"]
    return {path.name: path.read_bytes() for path in finished}


def everything(folder: Path) -> dict[str, bytes]:
    """Return all that a run leaves, and fail if it is more than that."""
    found = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert found.keys() - parts(folder).keys() == {"manifest.json", ".lock"}
    return found


def manifest(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return loaded

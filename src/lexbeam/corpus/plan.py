"""What is to be done: inputs, and the shards that they are cut into."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexbeam.corpus.formats import Slice, find_format
from lexbeam.errors import InputError

_DIGITS = 5  # of the number of a part, at least


@dataclass(frozen=True)
class Input:
    """A file of a corpus, as it was when the run began."""

    path: str
    format: str
    rows: int
    bytes: int
    modified: int
    """When it was written last, in nanoseconds."""
    sha256: str


@dataclass(frozen=True)
class Shard:
    """Some rows of an input, which become one part of the output."""

    part: str
    """The name of its file in the output folder."""
    input: int
    """The index of its input."""
    slice: Slice


@dataclass(frozen=True)
class Plan:
    """All inputs, and all shards in the order of their rows."""

    inputs: Sequence[Input]
    shards: Sequence[Shard]


def make_plan(paths: Iterable[str], rows: int, format_: str | None, text: str) -> Plan:
    """Cut files into shards of so many rows; a shard never has rows of two files.

    ``format_`` is the format of lines, if it is not to be told by the names of the files;
    ``text`` is the column of a table that has the texts.

    Raises:
        InputError: a file can't be read, or is damaged.
    """
    inputs: list[Input] = []
    shards: list[Shard] = []
    for index, path in enumerate(paths):
        name, kind = find_format(path, format_)
        before = _status(path)
        sha256, slices = kind.plan(Path(path), rows, text)
        if _status(path) != before:
            raise InputError(f"{path}: has changed while it was read")
        inputs.append(Input(path, name, sum(each.rows for each in slices), *before, sha256))
        shards += (Shard(kind.suffix, index, each) for each in slices)
    digits = max(_DIGITS, len(str(len(shards) - 1)))
    named = [
        replace(shard, part=f"part-{number:0{digits}}{shard.part}")
        for number, shard in enumerate(shards)
    ]
    return Plan(tuple(inputs), tuple(named))


def check_inputs(planned: Sequence[Input], paths: Sequence[str], format_: str | None) -> None:
    """Compare inputs with those that a run began with; raise InputError if they are others.

    Of a file of the same name, size and time the content is not read again here; whoever
    translates a shard compares it with its hash.
    """
    if len(paths) != len(planned):
        raise InputError(f"the run in it has {len(planned)} inputs, not {len(paths)}")
    for path, old in zip(paths, planned, strict=True):
        size, modified = _status(path)
        if find_format(path, format_)[0] != old.format:
            raise InputError(f"the run in it took {old.path} for {old.format}")
        if (path, size, modified) == (old.path, old.bytes, old.modified):
            continue
        if size != old.bytes or _sha256(path) != old.sha256:
            raise InputError(f"the run in it began with another {path}: its content has changed")


def _status(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read: {reason}") from error
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: can't be read: it is not a file")
    return status.st_size, status.st_mtime_ns


def _sha256(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error

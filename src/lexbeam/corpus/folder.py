"""The output folder of a run: its parts, and ``manifest.json``, which says what they are.

A part that is there is done. Parts that were finished are written down in a journal beside them,
one per line, so that a run that was killed goes on; when all are there, the manifest has the counts
and hashes of all, and the journal goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from lexbeam.corpus.formats import Slice
from lexbeam.corpus.plan import Input, Plan, Shard
from lexbeam.corpus.worker import FailedRow, Part
from lexbeam.errors import InputError
from lexbeam.text.atomic_write import remove_unfinished, write_file

FORMAT = 1
"""The version of the manifest's shape."""


class OutputFolder:
    """Knows which shards are done. `opened` makes one."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self.plan = Plan((), ())
        self.done: dict[str, Part] = {}
        """The parts that are there, by their names."""
        self._header = header
        self._journal: IO[bytes] | None = None

    @property
    def manifest_path(self) -> Path:
        """Where the manifest is."""
        return self.path / "manifest.json"

    @property
    def _journal_path(self) -> Path:
        return self.path / ".journal.jsonl"

    @property
    def waiting(self) -> list[Shard]:
        """The shards that are not done."""
        return [shard for shard in self.plan.shards if shard.part not in self.done]

    def begin(
        self, make_plan: Callable[[], Plan], check_inputs: Callable[[Sequence[Input]], object]
    ) -> None:
        """Begin a run, or go on with the one that is in the folder.

        Raises:
            InputError: that one is another.
        """
        remove_unfinished(self.path)
        has_parts = next(self.path.glob("part-*"), None) is not None
        manifest = self._read() if self.manifest_path.exists() else None
        if manifest is not None and has_parts:
            self._compare(manifest)
            try:
                self.plan = _read_plan(manifest)
                parts = [_read_part(entry) for entry in manifest["parts"] if "sha256" in entry]
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(f"{self.manifest_path} can't be read: {error!r}") from error
            try:
                check_inputs(self.plan.inputs)
            except InputError as error:
                raise InputError(f"{self.path}: {error}") from error
            self.done = {each.part: each for each in (*parts, *self._read_journal())}
            self._forget_lost_parts()
        else:
            if has_parts:
                raise InputError(f"{self.path} has parts but no manifest.json: use another folder")
            self._journal_path.unlink(missing_ok=True)
            self.plan = make_plan()
            self._write()

    def add(self, part: Part) -> None:
        """Take down that a part is there."""
        target = self.path / part.part
        try:
            there = target.stat().st_size
        except OSError as error:
            raise InputError(
                f"{target}: was written by a worker and is not seen here: the output folder "
                "must be one that all machines share"
            ) from error
        if there != part.bytes:
            raise InputError(f"{target}: has {there} bytes, not the {part.bytes} that were written")
        line = json.dumps(asdict(part)) + "\n"
        try:
            if self._journal is None:
                self._journal = self._journal_path.open("ab", buffering=0)
                if self._journal.tell():
                    line = "\n" + line  # whatever was cut short ends here
            self._journal.write(line.encode())
        except OSError as error:
            raise _unwritable(self._journal_path, error) from error
        self.done[part.part] = part

    def finish(self) -> None:
        """Write the manifest of a run that is complete."""
        self._write()
        self.close()
        self._journal_path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def counts(self) -> dict[str, int]:
        """Return what there is to count in the parts that are done."""
        shards = [shard for shard in self.plan.shards if shard.part in self.done]
        return {
            "rows": sum(shard.slice.rows for shard in shards),
            "failed": sum(len(part.failed) for part in self.done.values()),
            "duplicates": sum(part.duplicates for part in self.done.values()),
        }

    def _forget_lost_parts(self) -> None:
        """Forget parts that somebody has removed or cut short: they are made again."""
        sizes = {}
        for path in self.path.glob("part-*"):
            with suppress(OSError):
                sizes[path.name] = path.stat().st_size
        known = {shard.part for shard in self.plan.shards}
        self.done = {
            name: part
            for name, part in self.done.items()
            if name in known and sizes.get(name) == part.bytes
        }

    def _write(self) -> None:
        entries = []
        for shard in self.plan.shards:
            entry = {"part": shard.part, "input": shard.input, "source": asdict(shard.slice)}
            if shard.part in self.done:
                entry |= asdict(self.done[shard.part])
            entries.append(entry)
        is_done = not self.waiting
        manifest = {
            "format": FORMAT,
            **self._header,
            "inputs": [asdict(each) for each in self.plan.inputs],
            "counts": self.counts() if is_done else None,
            "parts": entries,
        }
        try:
            write_file(self.manifest_path, json.dumps(manifest, ensure_ascii=False, indent=1))
        except OSError as error:
            raise _unwritable(self.manifest_path, error) from error

    def _read(self) -> dict[str, Any]:
        try:
            manifest = json.loads(self.manifest_path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{self.manifest_path} can't be read: {error}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise InputError(f"{self.manifest_path} is not a manifest of format {FORMAT}")
        return manifest

    def _compare(self, manifest: Mapping[str, Any]) -> None:
        """Refuse to go on with other settings than the run began with."""
        for name, old, new in _differences(manifest, json.loads(json.dumps(self._header))):
            raise InputError(
                f"{self.path}: the run in it has {name} {json.dumps(old, ensure_ascii=False)}, not "
                f"{json.dumps(new, ensure_ascii=False)}: go on as it began, or use another folder"
            )

    def _read_journal(self) -> Iterator[Part]:
        try:
            lines = self._journal_path.read_bytes().split(b"\n")
        except OSError:
            return
        for line in lines:
            with suppress(KeyError, TypeError, ValueError, RecursionError):
                yield _read_part(json.loads(line))


@contextmanager
def opened(path: Path, header: dict[str, Any]) -> Iterator[OutputFolder]:
    """Open an output folder for one run at a time.

    Raises:
        InputError: it can't be written, or another run is writing to it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("ab")
    except OSError as error:
        raise _unwritable(path, error) from error
    with lock:
        _lock(lock, path)
        folder = OutputFolder(path, header)
        try:
            yield folder
        finally:
            folder.close()
            remove_unfinished(path)


def _lock(file: IO[bytes], path: Path) -> None:
    """Take a lock, which ends with the process however that ends."""
    try:
        import fcntl  # noqa: PLC0415  (not everywhere)
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(f"{path}: another run is writing to it") from error
    except OSError:
        pass  # a file system without locks


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: can't be written: {error.strerror or error}")


def _differences(
    old: Mapping[str, Any], new: Mapping[str, Any], within: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs: its name, and both values."""
    for name, value in new.items():
        before = old.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            yield from _differences(before, value, f"{within}{name}.")
        elif value != before:
            yield f"{within}{name}", before, value


def _read_plan(manifest: Mapping[str, Any]) -> Plan:
    return Plan(
        tuple(Input(**each) for each in manifest["inputs"]),
        tuple(
            Shard(each["part"], each["input"], Slice(**each["source"]))
            for each in manifest["parts"]
        ),
    )


def _read_part(entry: Mapping[str, Any]) -> Part:
    failed = tuple(FailedRow(each["row"], each["error"]) for each in entry["failed"])
    size, sha256, duplicates = entry["bytes"], entry["sha256"], entry["duplicates"]
    return Part(entry["part"], int(size), str(sha256), int(duplicates), failed)

"""What every process of a run does: load the model, then turn one shard after the other to a part.

What comes out of a shard depends on the shard, the model and the task alone, whoever works on it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lexbeam.corpus.formats import Rows, Writing, get_format
from lexbeam.corpus.plan import Shard
from lexbeam.corpus.reporting import report_path, write_part_report
from lexbeam.corpus.requests import translate_requests
from lexbeam.errors import InputError, ModelError
from lexbeam.text.atomic_write import write_file
from lexbeam.translation.asked import Asked
from lexbeam.translation.signature import Signature
from lexbeam.translation.translator import Translator, load
from lexbeam.version import __version__

OnRows = Callable[[int], object]
"""Is told how many more rows are done."""


@dataclass(frozen=True)
class Task:
    """What is asked of all shards; it can be pickled."""

    output: str
    inputs: tuple[tuple[str, str], ...]
    """The path and the format of each input."""
    model: str | None
    threads: int
    asked: Asked
    writing: Writing
    names: tuple[str, str] = ("constraints", "avoid")
    report: bool = False
    """Whether each part has a report on its constraints beside it."""
    digest: str | None = None
    """The digest of the model that the run began with."""
    version: str = __version__


@dataclass(frozen=True)
class FailedRow:
    """A row that could not be translated, or not as it was asked."""

    row: int
    error: str


@dataclass(frozen=True)
class Part:
    """A part that is written."""

    part: str
    bytes: int
    sha256: str
    duplicates: int
    """Rows that repeat another row of the shard."""
    failed: tuple[FailedRow, ...] = field(default=())


class Worker:
    """Works on shards with a model of its own."""

    def __init__(self, task: Task, translator: Translator | None = None) -> None:
        if task.version != __version__:
            raise InputError(
                f"the run is of lexbeam {task.version}, and here is {__version__}: install the "
                "same on all machines"
            )
        self._task = task
        self._translator = translator or load(task.model, task.threads)
        digest = model_digest(self._translator, task.asked)
        if task.digest is not None and digest != task.digest:
            raise ModelError(
                f"the model {task.model or 'that is bundled'} differs from the one that the run "
                "began with: put the same files on all machines"
            )
        self._common = task.asked.request(self._translator.info, task.names)

    def run(self, shard: Shard, on_rows: OnRows = lambda _: None) -> Part:
        """Translate a shard and write its part, which appears at once."""
        path, format_ = self._task.inputs[shard.input]
        rows = get_format(format_).read(Path(path), shard.slice, self._common, self._task.writing)
        duplicates = self._translate(rows, on_rows)
        content = rows.content()
        output = Path(self._task.output)
        target = output / shard.part
        try:
            if self._task.report:
                beside = report_path(output, shard.part)
                write_part_report(beside, self._translator, rows.lines, Path(path).name)
            write_file(target, content)
        except OSError as error:
            raise InputError(f"{target}: can't be written: {error.strerror or error}") from error
        faulty = [line for line in rows.lines if line.faults]
        failed = [FailedRow(line.number, "; ".join(line.faults)) for line in faulty]
        sha256 = hashlib.sha256(content).hexdigest()
        return Part(shard.part, len(content), sha256, duplicates, tuple(failed))

    def _translate(self, rows: Rows, on_rows: OnRows) -> int:
        """Fill in the translations; return how many rows repeat another one."""
        longest = self._task.writing.max_chars
        waiting, requests = [], []
        for line in rows.lines:
            if line.error is not None or line.request is None:
                continue
            if longest is not None and len(line.request.text) > longest:
                line.error = f"the text has {len(line.request.text)} characters, over {longest}"
                continue
            waiting.append(line)
            requests.append(line.request)
        on_rows(len(rows.lines) - len(waiting))
        answers, duplicates = translate_requests(
            self._translator, requests, self._common, self._task.asked.settings.batch_size, on_rows
        )
        for line, answer in zip(waiting, answers, strict=True):
            if isinstance(answer, str):
                line.error = answer
            else:
                line.translation = answer
        return duplicates


def model_digest(translator: Translator, asked: Asked) -> str | None:
    """Return the digest of a model's files, if it has any."""
    digest: str | None = Signature.of(translator.info, asked.settings).to_dict().get("digest")
    return digest

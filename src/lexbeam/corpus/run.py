"""Translate a corpus: make a plan, have workers go through its shards, write down what is done.

The shard is the unit of truth. Its part is written aside and renamed, so that it is there whole or
not at all; one that is there is not made again. So a run can be killed at any time, by any number
of processes on any number of machines, and the next one goes on with the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lexbeam.corpus.folder import OutputFolder, opened
from lexbeam.corpus.formats import Writing, get_format
from lexbeam.corpus.plan import Shard, check_inputs, make_plan
from lexbeam.corpus.processes import in_processes
from lexbeam.corpus.ray_pool import on_ray
from lexbeam.corpus.retries import Lost, Outcome
from lexbeam.corpus.worker import OnRows, Part, Task, Worker, model_digest
from lexbeam.errors import InputError
from lexbeam.translation.asked import Asked
from lexbeam.translation.signature import Signature
from lexbeam.translation.translator import Translator, load

SHARD_ROWS = 10_000


class Observer(Protocol):
    """Somebody who wants to see how a run goes on."""

    def begin(self, total: int, done: int) -> object:
        """Hear how many rows there are, and how many earlier runs have done."""
        ...

    def rows(self, count: int) -> object:
        """Hear that so many rows more are done; fewer than none if a worker has died."""
        ...

    def failed(self, where: str, error: str) -> object:
        """Hear of a row that could not be translated."""
        ...


@dataclass(frozen=True)
class Corpus:
    """What to translate and how; ``lines`` is the format of lines if names don't tell."""

    inputs: Sequence[str]
    output: Path
    model: str | None = None
    threads: int = 1
    asked: Asked = field(default_factory=Asked)
    writing: Writing = field(default_factory=Writing)
    lines: str | None = None
    shard_rows: int = SHARD_ROWS
    names: tuple[str, str] = ("constraints", "avoid")
    report: bool = False
    """Whether to keep what became of each constraint; see `read_report`."""


def translate_corpus(
    corpus: Corpus, observer: Observer, *, processes: int | None = None, ray: str | None = None
) -> dict[str, int]:
    """Translate a corpus into a folder, or go on with it; return the manifest's counts.

    Works in this process unless ``processes`` says in how many others, or ``ray`` is the address
    of a cluster.

    Raises:
        LexbeamError: the run can't be begun, or can't go on; what is done stays.
    """
    translator = load(corpus.model, corpus.threads)
    corpus.asked.request(translator.info, corpus.names)  # or say what is wrong
    with opened(corpus.output, _header(corpus, translator)) as folder:
        folder.begin(
            lambda: make_plan(corpus.inputs, corpus.shard_rows, corpus.lines, corpus.writing.text),
            lambda planned: check_inputs(planned, corpus.inputs, corpus.lines),
        )
        task = _task(corpus, folder, translator)
        total = sum(each.rows for each in folder.plan.inputs)
        observer.begin(total, folder.counts()["rows"])
        shards = folder.waiting
        if processes is None and ray is None:
            outcomes = _here(task, translator, shards, observer.rows)
        else:
            del translator  # its memory is for the workers
            outcomes = _elsewhere(task, shards, processes, ray, observer.rows)
        with closing(outcomes):  # whatever happens, workers end
            _take_down(outcomes, folder, observer)
        folder.finish()
        return folder.counts()


def _header(corpus: Corpus, translator: Translator) -> dict[str, Any]:
    """Return what must be the same for a run to go on."""
    asked = corpus.asked
    signature = Signature.of(translator.info, asked.settings).to_dict()
    terms = asked.glossary.signature.encode() if asked.glossary else None
    return {
        "lexbeam": signature["lexbeam"],
        "model": {"name": signature["model"], "digest": signature.get("digest")},
        "settings": {
            **asdict(asked.settings),
            "constraints": list(asked.constraints),
            "avoid": list(asked.avoid),
            "prefix": asked.prefix,
            "keep": list(asked.keep or ()),
            "glossary": terms and hashlib.sha256(terms).hexdigest()[:12],
            **asdict(corpus.writing),
        },
        "shard": corpus.shard_rows,
        **({"report": True} if corpus.report else {}),
    }


def _task(corpus: Corpus, folder: OutputFolder, translator: Translator) -> Task:
    """Return what workers are told; paths are whole, they may work in another folder."""
    model = corpus.model
    if model is not None and Path(model).exists():
        model = str(Path(model).absolute())
    inputs = zip(corpus.inputs, folder.plan.inputs, strict=True)
    return Task(
        output=str(corpus.output.absolute()),
        inputs=tuple((str(Path(path).absolute()), each.format) for path, each in inputs),
        model=model,
        threads=corpus.threads,
        asked=corpus.asked,
        writing=corpus.writing,
        names=corpus.names,
        report=corpus.report,
        digest=model_digest(translator, corpus.asked),
    )


def _here(
    task: Task, translator: Translator, shards: Sequence[Shard], on_rows: OnRows
) -> Generator[Outcome, None, None]:
    """Work on shards in this process."""
    worker = Worker(task, translator)
    for shard in shards:
        yield worker.run(shard, on_rows)


def _elsewhere(
    task: Task, shards: Sequence[Shard], processes: int | None, ray: str | None, on_rows: OnRows
) -> Generator[Outcome, None, None]:
    """Work on shards in other processes, or on a cluster."""
    if ray is not None and shards:
        yield from on_ray(task, shards, ray, processes, on_rows)
    elif shards:
        yield from in_processes(task, shards, processes or 1, on_rows)


def _take_down(outcomes: Iterator[Outcome], folder: OutputFolder, observer: Observer) -> None:
    """Write down what is done, say what has failed; raise if something was given up."""
    shards = {shard.part: shard for shard in folder.plan.shards}
    lost: list[Lost] = []
    for outcome in outcomes:
        if isinstance(outcome, Lost):
            lost.append(outcome)
            continue
        folder.add(outcome)
        _complain(outcome, shards[outcome.part], folder, observer)
    if lost:
        shard, reason = lost[0].shard, lost[0].reason
        last = shard.slice.first + shard.slice.rows - 1
        more = f"; and {len(lost) - 1} parts more" if len(lost) > 1 else ""
        raise InputError(
            f"{folder.plan.inputs[shard.input].path}: rows {shard.slice.first} to {last} "
            f"({shard.part}) were given up, their worker died each time, {reason}{more}"
        )


def _complain(part: Part, shard: Shard, folder: OutputFolder, observer: Observer) -> None:
    source = folder.plan.inputs[shard.input]
    row = get_format(source.format).row
    for each in part.failed:
        observer.failed(f"{source.path}, {row} {each.row}", each.error)

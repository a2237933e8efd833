"""What constraints cost with Hugging Face models: ``python benchmarks/hf.py``.

Random Marian models of two sizes, base (d 512, 6 + 6 layers, 58k tokens) and small (d 256,
3 + 3, 8k), decode a fixed number of steps with

- ``generate`` as it is, without constraints,
- lexbeam in place (``custom_generate``),
- lexbeam imported, float32 and int8,
- transformers 4.56.2 with ``force_words_ids``, the last version to have it, where
  ``--old PYTHON`` names an interpreter that has it,
- CTranslate2, float32 and int8, without constraints, where it is installed,
- lexbeam with the same CTranslate2 models.

They take turns, several rounds of them, so that a busy machine disturbs all alike; the median
of the rounds is reported, in milliseconds per step of the whole batch, and next to it the median
of the ratios to ``generate`` in the same turn. One thread each, and what is counted is
processor time, which others' work adds little to.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shutil import copy
from typing import Any, NamedTuple

import numpy as np

from phrases import split_into_phrases

SIZES = {
    "base": {"d_model": 512, "layers": 6, "heads": 8, "ffn": 2048, "vocab": 58_101},
    "small": {"d_model": 256, "layers": 3, "heads": 4, "ffn": 1024, "vocab": 8_001},
}
BATCHES, BEAMS, CONSTRAINTS = (1, 8), (5, 10), (0, 1, 5, 10, 20)
SOURCE_LENGTH = 20

OLD_WORKER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import torch
from transformers import MarianMTModel, logging
logging.set_verbosity_error()
torch.set_num_threads(1)
model = MarianMTModel.from_pretrained(sys.argv[1]).eval()
for line in sys.stdin:
    case = json.loads(line)
    ids = torch.tensor(case["sources"])
    forced = {"force_words_ids": case["phrases"][0]} if case["phrases"][0] else {}
    start = time.process_time()
    model.generate(
        ids, attention_mask=torch.ones_like(ids), num_beams=case["beam"], do_sample=False,
        min_new_tokens=case["steps"], max_new_tokens=case["steps"], **forced,
    )
    print(json.dumps(time.process_time() - start), flush=True)
"""


class Case(NamedTuple):
    """A batch to decode."""

    sources: list[list[int]]
    phrases: list[list[list[int]]]
    beam: int
    steps: int


Run = Callable[[Case], float]
"""Decodes a case and returns the seconds it took of the processor."""


def make_case(vocab: int, batch: int, beam: int, constraints: int, steps: int, seed: int) -> Case:
    """Return random sources, and phrases of 1, 2 and 3 tokens, the same for all sentences."""
    random = np.random.default_rng(seed)
    sources = random.integers(3, vocab - 2, (batch, SOURCE_LENGTH)).tolist()
    tokens = (3 + random.permutation(vocab - 10)[:constraints]).tolist()
    return Case(sources, [split_into_phrases(tokens)] * batch, beam, steps)


# --- the models ----------------------------------------------------------------------------


def make_checkpoint(folder: Path, size: str, seed: int = 0) -> None:
    """Write a random Marian model with a vocabulary of made-up words."""
    import torch  # noqa: PLC0415
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer  # noqa: PLC0415

    shape = SIZES[size]
    vocab = shape["vocab"]
    config = MarianConfig(
        vocab_size=vocab,
        d_model=shape["d_model"],
        encoder_layers=shape["layers"],
        decoder_layers=shape["layers"],
        encoder_attention_heads=shape["heads"],
        decoder_attention_heads=shape["heads"],
        encoder_ffn_dim=shape["ffn"],
        decoder_ffn_dim=shape["ffn"],
        activation_function="swish",
        scale_embedding=True,
        static_position_embeddings=True,
        max_position_embeddings=512,
        pad_token_id=vocab - 1,
        eos_token_id=0,
        decoder_start_token_id=vocab - 1,
        forced_eos_token_id=0,
    )
    torch.manual_seed(seed)
    MarianMTModel(config).save_pretrained(folder)
    pieces = _write_vocabulary(folder, vocab)
    (folder / "vocab.json").write_text(json.dumps(pieces), "utf-8")
    MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="de",
    ).save_pretrained(folder)


def _write_vocabulary(folder: Path, vocab: int) -> dict[str, int]:
    """Write a vocabulary of whole words; return the id of each piece."""
    import sentencepiece  # noqa: PLC0415

    words = [f"w{number:05d}" for number in range(vocab - 3)]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(words[i : i + 50]) for i in range(0, len(words), 50)]),
        model_writer=model,
        model_type="word",
        vocab_size=vocab - 1,
        hard_vocab_limit=False,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=2,
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = {processor.id_to_piece(i): i for i in range(len(processor))}
    for number in range(len(pieces), vocab - 1):
        pieces[f"▁unused{number}"] = number
    return {**pieces, "<pad>": vocab - 1}


# --- the contestants -----------------------------------------------------------------------


def generate_runs(folder: Path) -> Iterator[tuple[str, Run]]:
    """Yield ``generate`` as it is, and with the search in place."""
    import torch  # noqa: PLC0415
    from transformers import MarianMTModel  # noqa: PLC0415

    from lexbeam.hf import generate  # noqa: PLC0415

    model = MarianMTModel.from_pretrained(folder).eval()

    def run(case: Case, **more: Any) -> float:
        ids = torch.tensor(case.sources)
        start = time.process_time()
        model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            num_beams=case.beam,
            do_sample=False,
            min_new_tokens=case.steps,
            max_new_tokens=case.steps,
            **more,
        )
        return time.process_time() - start

    yield "generate", run
    yield (
        "in place",
        lambda case: run(case, custom_generate=generate, constraints=case.phrases),
    )


class _Endless:
    """A scorer that never ends by itself, so that every run has the same number of steps."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.vocabulary_size, self.bos, self.eos = engine.vocabulary_size, engine.bos, engine.eos

    def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
        return self._engine.start(sources, wanted)

    def step(self, *asked: Any) -> Any:
        scores = self._engine.step(*asked)
        ask_scores = scores.ask_scores.copy()
        ask_scores[:, 0] = -np.inf
        return scores._replace(ask_scores=ask_scores)


def imported_runs(folder: Path) -> Iterator[tuple[str, Run]]:
    """Yield the model on lexbeam's own engine, in both precisions."""
    from lexbeam.models.importers.huggingface import import_checkpoint  # noqa: PLC0415

    for precision in ("float32", "int8"):
        out = folder.parent / f"{folder.name}-{precision}"
        import_checkpoint(folder, out, precision=precision)
        yield f"imported {precision}", _bundle_run(out)


def _bundle_run(bundle: Path) -> Run:
    """Return what decodes with a bundle."""
    from lexbeam.models.bundle import load  # noqa: PLC0415
    from lexbeam.search.beam_search import decode  # noqa: PLC0415

    engine = load(bundle, 1).engine

    def run(case: Case) -> float:
        start = time.process_time()
        decode(
            _Endless(engine),
            case.sources,
            case.phrases,
            beam_size=case.beam,
            max_length=case.steps - 1,
            prune=None,
        )
        return time.process_time() - start

    return run


def old_run(folder: Path, python: str) -> Iterator[tuple[str, Run]]:
    """Yield transformers 4.56.2's own constrained search, in an interpreter of its own."""
    worker = subprocess.Popen(
        [python, "-c", OLD_WORKER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )

    def run(case: Case) -> float:
        assert worker.stdin is not None
        assert worker.stdout is not None
        print(json.dumps(case._asdict()), file=worker.stdin, flush=True)
        return float(json.loads(worker.stdout.readline()))

    yield "force_words_ids", run


def ctranslate2_runs(
    folder: Path, wanted: Callable[..., bool] = lambda *_: True
) -> Iterator[tuple[str, Run]]:
    """Yield CTranslate2, which has no constraints, and lexbeam with the same models."""
    if find_spec("ctranslate2") is None:
        print("CTranslate2: not installed")
        return
    from lexbeam.models.importers.ctranslate2 import import_model  # noqa: PLC0415

    ctranslate2 = import_module("ctranslate2")
    converters = import_module("ctranslate2.converters")
    words = {i: w for w, i in json.loads((folder / "vocab.json").read_text("utf-8")).items()}

    def make(model: Path, precision: str) -> Run:
        translator = ctranslate2.Translator(
            str(model), compute_type=precision, inter_threads=1, intra_threads=1
        )

        def run(case: Case) -> float:
            sources = [[words[token] for token in source] for source in case.sources]
            start = time.process_time()
            translator.translate_batch(
                sources,
                beam_size=case.beam,
                min_decoding_length=case.steps,
                max_decoding_length=case.steps,
            )
            return time.process_time() - start

        return run

    for precision in ("float32", "int8"):
        theirs, ours = f"CTranslate2 {precision}", f"ct2 on lexbeam {precision}"
        if not wanted(theirs, ours):
            continue
        model, out = (
            folder.parent / f"{folder.name}-{kind}-{precision}" for kind in ("ct2", "own")
        )
        try:
            converter = converters.TransformersConverter(str(folder))
            converter.convert(str(model), force=True, quantization=precision)
        except Exception as error:  # it may not know this version of transformers
            print(f"CTranslate2: can't convert: {error}")
            return
        yield theirs, make(model, precision)
        pieces = [Path(copy(folder / name, model)) for name in ("source.spm", "target.spm")]
        yield (
            ours,
            _bundle_run(import_model(model, out, sentencepiece=pieces)),
        )


UNCONSTRAINED = ("CTranslate2 float32", "CTranslate2 int8")

Medians = dict[tuple[str, int], tuple[float, float]]
"""Milliseconds per step and the ratio to ``generate``, by contestant and constraint tokens."""


# --- the table -----------------------------------------------------------------------------


def measure(
    runs: dict[str, Run], vocab: int, batch: int, beam: int, options: argparse.Namespace
) -> Medians:
    """Return the time per step of each contestant, at each number of constraints."""
    times: dict[tuple[str, int], list[float]] = defaultdict(list)
    for seed in range(options.rounds):
        for constraints in options.constraints:
            case = make_case(vocab, batch, beam, constraints, options.steps, seed)
            for name, run in runs.items():
                if constraints == options.constraints[0] or name not in UNCONSTRAINED:
                    times[name, constraints].append(1000 * run(case) / case.steps)
    medians: Medians = {}
    first = next(iter(runs))
    for (name, count), values in times.items():
        plain = times.get((first, count), times[first, options.constraints[0]])
        ratios = [value / usual for value, usual in zip(values, plain, strict=True)]
        medians[name, count] = statistics.median(values), statistics.median(ratios)
    return medians


def show(medians: Medians, names: Sequence[str], counts: Sequence[int]) -> None:
    """Print one table: a row for each contestant, ms and ratio for each C."""
    print(f"{'':24}" + "".join(f"{f'C = {c}':>17}" for c in counts))
    for name in names:
        cells = ""
        for count in counts:
            found = medians.get((name, count))
            cells += f"{'':17}" if found is None else f"{found[0]:>10.2f} ({found[1]:4.2f})"
        print(f"{name:24}{cells}")


def main() -> None:
    """Measure what there is and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--beams", type=int, nargs="+", default=BEAMS)
    parser.add_argument("--constraints", type=int, nargs="+", default=CONSTRAINTS)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--old", metavar="PYTHON", help="interpreter with transformers 4.56.2")
    parser.add_argument("--keep", metavar="FOLDER", help="where models are made, and left")
    parser.add_argument("--without-generate", action="store_true", help="ratios are to the first")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="contestants besides generate")
    options = parser.parse_args()
    import torch  # noqa: PLC0415
    from transformers import logging  # noqa: PLC0415

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    load = f"{os.getloadavg()[0]:.2f} on {os.cpu_count()} cores"
    print(f"{platform.processor() or platform.machine()}; load at the start: {load}")
    print("processor time in ms per step of the whole batch (ratio to generate)")
    for size in options.sizes:
        kept = nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory()
        with kept as scratch, suppress(KeyboardInterrupt):
            folder = Path(scratch) / size
            folder.mkdir(parents=True)
            make_checkpoint(folder, size)
            runs = dict(_contestants(folder, options))
            for batch in options.batches:
                for beam in options.beams:
                    print(f"\n{size}, batch {batch}, k = {beam}")
                    medians = measure(runs, SIZES[size]["vocab"], batch, beam, options)
                    show(medians, list(runs), options.constraints)
                    sys.stdout.flush()
    print(f"\nload at the end: {os.getloadavg()[0]:.2f}")


def _contestants(folder: Path, options: argparse.Namespace) -> Iterator[tuple[str, Run]]:
    only = options.only

    def wanted(*names: str) -> bool:
        return only is None or any(part in name for part in only for name in names)

    for name, run in generate_runs(folder):
        if wanted(name) or (name == "generate" and not options.without_generate):
            yield name, run
    if wanted("imported"):
        yield from imported_runs(folder)
    if options.old and wanted("force_words_ids"):
        yield from old_run(folder, options.old)
    yield from ctranslate2_runs(folder, wanted)


if __name__ == "__main__":
    main()

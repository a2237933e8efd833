"""A damaged model gives a translation, or one error that names the file; memory is limited."""

from __future__ import annotations

import atexit
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path
from typing import Any

import numpy as np

import lexbeam
from fuzz.campaign import Failure, Kind
from fuzz.model_problems import CHECKPOINTS, ModelProblem, draw, folder_of, show

MOST_SECONDS = 20.0
MOST_MEGABYTES = 300


@once
def worker() -> subprocess.Popen[str]:
    """Return the process that tries models, started once."""
    tests = Path(__file__).parents[1]
    paths = os.pathsep.join([str(tests), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-m", "fuzz.model_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
    )
    atexit.register(process.communicate)  # It ends when nothing more comes in.
    return process


def attempt(problem: ModelProblem) -> dict[str, Any]:
    """Return what comes of a model after its damage."""
    with tempfile.TemporaryDirectory() as home:
        folder, cache = Path(home, "model"), Path(home, "cache")
        cache.mkdir()
        shutil.copytree(folder_of(problem.model), folder)
        known = {"folder": folder, "cache": cache, "np": np, "json": json, "io": io, "os": os}
        known |= {"gzip": gzip, "hashlib": hashlib, "zipfile": zipfile, "lexbeam": lexbeam}
        before = os.environ.get("LEXBEAM_CACHE")
        os.environ["LEXBEAM_CACHE"] = str(cache)
        try:
            exec(problem.damage, known)
        finally:
            os.environ.pop("LEXBEAM_CACHE")
            if before is not None:
                os.environ["LEXBEAM_CACHE"] = before
        one = worker()
        assert one.stdin is not None
        assert one.stdout is not None
        one.stdin.write(json.dumps([str(folder), str(cache), problem.model in CHECKPOINTS]) + "\n")
        one.stdin.flush()
        result: dict[str, Any] = json.loads(one.stdout.readline())
        return result


def check(problem: ModelProblem) -> Iterator[Failure]:
    """Yield the promises that are broken."""
    found = attempt(problem)
    said = f"{found}"
    kinds = found.get("kinds", [])
    if "signal" in found:
        yield Failure("a damaged model does not crash", said)
    elif kinds and "ModelError" not in kinds:
        yield Failure(f"a damaged model is a ModelError, not {kinds[0]}", said)
    elif kinds and not _names_a_file(problem, found["message"]):
        yield Failure("the error names the file", said)
    elif problem.harmless and "text" not in found:
        yield Failure("a damaged cache does no harm", said)
    if found["seconds"] > MOST_SECONDS:
        yield Failure("a damaged model is found out quickly", said)
    if found["megabytes"] > MOST_MEGABYTES:
        yield Failure("sizes are checked before anything is unpacked", said)


def _names_a_file(problem: ModelProblem, message: str) -> bool:
    return any(path.name in message for path in folder_of(problem.model).iterdir()) or (
        "model.*.bin" in message or "a vocabulary is missing" in message
    )


MODELS = Kind("models", draw, check, show)

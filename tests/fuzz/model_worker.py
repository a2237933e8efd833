"""Load models and translate with them, each in a process of its own with a limit of memory.

A line on standard input is a JSON list: the folder of a model, one for its cache, and whether it
is a checkpoint to be imported. A line on standard output says what became of it. The process
itself never loads a model, so that it can be copied for each.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import lexbeam
from lexbeam.models.importers.huggingface import import_checkpoint

LANGUAGES = {"source_language": "en_XX", "target_language": "de_DE"}
MODULES = (
    "onnxruntime", "sentencepiece", "gzip", "numpy.ma", "lexbeam.models.loading",
    "lexbeam.models.formats", "lexbeam.translation.translator",
)  # fmt: skip
"""What is imported once for all copies: it takes longer than to load a damaged model."""
MOST_SECONDS = 60
MOST_MEMORY = 1 << 30
"""How many bytes a damaged model may ask for; a whole one needs a fifth of them."""


def try_model(folder: str, cache: str, is_checkpoint: bool) -> dict[str, Any]:
    """Return the translation of a short text, or the error."""
    os.environ["LEXBEAM_CACHE"] = cache
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY, used + MOST_MEMORY))
    signal.alarm(MOST_SECONDS)
    try:
        if is_checkpoint:
            folder = str(import_checkpoint(folder, Path(cache, "bundle"), "float32", **LANGUAGES))
        found = lexbeam.load(folder).translate("Hello world.", ["Haus"], beam_size=2)
    except BaseException as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"kinds": kinds, "message": str(error)}
    return {"text": found.text, "met": found.constraints[0].met}


def in_a_copy(folder: str, cache: str, is_checkpoint: bool) -> dict[str, Any]:
    """Try a model in a copy of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)
        with os.fdopen(writing, "w") as pipe:
            json.dump(try_model(folder, cache, is_checkpoint), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status, usage = os.wait4(child, 0)
    result: dict[str, Any] = json.loads(said) if said else {"signal": status & 0x7F}
    return {
        **result,
        "seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "megabytes": usage.ru_maxrss // 1024,
    }


if __name__ == "__main__":
    for module in MODULES:
        import_module(module)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(in_a_copy(*json.loads(line))) + "\n")
        sys.stdout.flush()

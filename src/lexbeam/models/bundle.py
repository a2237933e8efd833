"""The folder that a model of our own is kept in, trained or imported (docs/bundle.md).

::

    manifest.json    format version, configuration of the network, languages, hashes of the files
    weights.npz      the matrices in eight bits with their scales, everything else in float
    source.spm       SentencePiece vocabulary, of both languages where there is no target.spm
    target.spm       of the target language, where it has its own
    bpe.codes, bpe.json    instead of these, Moses tokens with BPE, of both languages
    shortlist.bin    optional, Marian's binary shortlist

The manifest is written last: a folder without one is not a bundle, so a cut copy never looks
like a model.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError, SettingError
from lexbeam.models import calibration, shortlist
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.graphs import Graphs, rnn, transformer
from lexbeam.models.graphs.rnn import RnnConfig
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Observed, Weights, quantise
from lexbeam.models.manifest import ALIGNED, read_alignment, read_framing
from lexbeam.models.model import Framing, Model, load_vocabulary, naming, word_starts
from lexbeam.text.moses_vocabulary import CODES, PIECES, MosesBpe
from lexbeam.text.spelling import SourceText
from lexbeam.text.vocabulary import Processor

FORMAT, FORMAT_OF_MOSES = 2, 3
PRECISIONS = ("int8", "float32")
_READABLE = (1, 2, 3)  # format 1 knew no framing, no precision and no origin
MANIFEST = "manifest.json"
_WEIGHTS, _SOURCE, _TARGET, _SHORTLIST = (
    "weights.npz",
    "source.spm",
    "target.spm",
    "shortlist.bin",
)
_NETWORKS: dict[str, type[TransformerConfig | RnnConfig]] = {
    "transformer": TransformerConfig,
    "rnn": RnnConfig,
}
_SCALE, _ACTIVATION = ".scale", ".activation"
_POSITIONS = ("encoder_Wpos", "decoder_Wpos")
_NEVER_ROUNDED = (*_POSITIONS, "encoder_Wdist", "decoder_Wdist")


def is_bundle(path: str | Path) -> bool:
    """Tell whether a folder holds a bundle."""
    return (Path(path) / MANIFEST).is_file()


def check_precision(precision: str) -> None:
    """Refuse a precision that weights can't be kept in."""
    if precision not in PRECISIONS:
        raise SettingError(f"precision must be one of {', '.join(PRECISIONS)}, not {precision!r}")


def write(
    config: TransformerConfig | RnnConfig,
    weights: Mapping[str, Float32],
    source_spm: str | Path | bytes | MosesBpe,
    folder: str | Path,
    *,
    target_spm: str | Path | bytes | None = None,
    shortlist_file: str | Path | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    max_source_length: int = 256,
    calibration_text: Sequence[str] = (),
    framing: Framing | None = None,
    precision: str = "int8",
    origin: str | None = None,
    alignment: tuple[int, int] | None = None,
) -> None:
    """Write a network as a bundle.

    Args:
        config: the network's shape.
        weights: float weights by Marian's names, matrices with the input dimension first.
        source_spm: the SentencePiece model, of both languages if there is no other; a file, or
            its content. Or a Moses vocabulary, which always is of both.
        folder: where to; made if it does not exist.
        target_spm: the SentencePiece model of the target language, if it has its own.
        shortlist_file: Marian's binary shortlist, if there is one.
        source_language: its code, for people to read.
        target_language: its code; also decides how output text is joined.
        max_source_length: pieces of the longest sentence seen in training.
        calibration_text: some dozens of source sentences, on which the ranges of activations are
            measured once and for all. Without them a range is found anew in each product,
            which is slower and lets the sentences of a batch change each other's last digits.
        framing: tokens around source and output, where the end of sentence alone won't do.
        precision: of the matrices, "int8" or "float32".
        origin: where the network comes from, for people to read.
        alignment: decoder layer and head whose attention to the source was trained to align.
    """
    check_precision(precision)
    framing = framing or Framing()
    named = dict(zip(ALIGNED, alignment, strict=True)) if alignment else None
    aligned = read_alignment(named, config)
    kept = _in_int8(_finite(weights)) if precision == "int8" else _finite(weights)
    _build(config, kept, shortlist=False)  # whatever is missing is named now
    moses = source_spm if isinstance(source_spm, MosesBpe) else None
    spm = None if isinstance(source_spm, MosesBpe) else source_spm
    given = _contents({_SOURCE: spm, _TARGET: target_spm, _SHORTLIST: shortlist_file})
    given |= {} if moses is None else moses.files
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    for name in (_SOURCE, _TARGET, _SHORTLIST, CODES, PIECES):
        (folder / name).unlink(missing_ok=True)  # left of a bundle that was here before
    for name, content in given.items():
        (folder / name).write_bytes(content)
    if precision == "int8" and calibration_text:
        known = _calibrate(config, weights, folder, given, calibration_text, framing)
        kept = _with_ranges(kept, known)
    np.savez(folder / _WEIGHTS, allow_pickle=False, **_to_arrays(kept))
    manifest = {
        "format": FORMAT if moses is None else FORMAT_OF_MOSES,
        "network": {"type": _kind(config), **asdict(config)},
        "source_language": source_language,
        "target_language": target_language,
        "max_source_length": max_source_length,
        "precision": precision,
        "origin": origin,
        "framing": asdict(framing),
        **({"alignment": aligned} if aligned else {}),
        "files": {name: _hash((folder / name).read_bytes()) for name in (_WEIGHTS, *given)},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _contents(given: Mapping[str, str | Path | bytes | None]) -> dict[str, bytes]:
    return {
        name: file if isinstance(file, bytes) else Path(file).read_bytes()
        for name, file in given.items()
        if file is not None
    }


def load(path: str | Path, threads: int = 1) -> Model:
    """Load a bundle; whatever is wrong with it is a ModelError that names the file."""
    folder = Path(path)
    manifest = _read_manifest(folder / MANIFEST)
    files = {name: _read_file(folder / name, digest) for name, digest in manifest["files"].items()}
    with naming(folder / MANIFEST):
        config = _read_config(dict(manifest["network"]))
        framing = read_framing(manifest.get("framing", {}), config)
        alignment = read_alignment(manifest.get("alignment"), config)
    sizes = config.source_vocabulary, config.target_vocabulary
    source, target = _read_vocabularies(folder, files, sizes)
    lexicon = shortlist.read(folder / _SHORTLIST, *sizes) if _SHORTLIST in files else None
    with naming(folder / _WEIGHTS):
        weights = _read_weights(folder)
        engine = OnnxEngine(
            _build(config, weights, shortlist=lexicon is not None),
            vocabulary_size=config.target_vocabulary,
            eos=target.eos_id(),
            source_vocabulary_size=config.source_vocabulary,
            shortlist=lexicon,
            word_starts=word_starts(target, config.target_vocabulary),
            output_start=framing.output_start,
            never=framing.never,
            positions=_positions(config, weights),
            threads=threads,
        )
    info = {
        "type": "bundle",
        "source_language": manifest["source_language"],
        "target_language": manifest["target_language"],
        "network": config.describe(),
        "vocabulary": "moses-bpe" if isinstance(target, MosesBpe) else "sentencepiece",
        "vocabulary_size": config.target_vocabulary,
        "precision": manifest.get("precision", "int8"),
        "shortlist": lexicon is not None,
        **({"origin": manifest["origin"]} if manifest.get("origin") else {}),
        **({"alignment": alignment} if alignment else {}),
        "files": [str(folder / name) for name in files],
    }
    return Model(engine, source, target, manifest["max_source_length"], info, framing)


def read_network(path: str | Path) -> tuple[TransformerConfig | RnnConfig, dict[str, Float32]]:
    """Read the shape and the weights of a bundle, in single precision."""
    folder = Path(path)
    manifest = _read_manifest(folder / MANIFEST)
    _read_file(folder / _WEIGHTS, manifest["files"][_WEIGHTS])
    with naming(folder / MANIFEST):
        config = _read_config(dict(manifest["network"]))
    weights = {
        name: weight.to_float() if isinstance(weight, Int8Matrix) else weight
        for name, weight in _read_weights(folder).items()
    }
    return config, weights


def _read_vocabularies(
    folder: Path, files: Mapping[str, bytes], sizes: tuple[int, int]
) -> tuple[Processor, Processor]:
    """Read the vocabularies of both sides, and check that they suit the network."""
    if CODES in files and PIECES in files:
        with naming(folder):
            moses = MosesBpe(files[CODES], files[PIECES])
            if sizes != (len(moses), len(moses)):
                raise ModelError(f"{PIECES}: {len(moses)} pieces, but the network has {sizes[1]}")
        return moses, moses
    target = _TARGET if _TARGET in files else _SOURCE
    return (
        load_vocabulary(files[_SOURCE], folder / _SOURCE, sizes[0]),
        load_vocabulary(files[target], folder / target, sizes[1]),
    )


def _positions(
    config: TransformerConfig | RnnConfig, weights: Weights
) -> tuple[Float32, Float32] | None:
    """Return the codes of places that a network brings itself."""
    if not isinstance(config, TransformerConfig) or config.positions != "table":
        return None
    tables = []
    for name in _POSITIONS:
        table = weights.get(name)
        if not isinstance(table, np.ndarray) or table.ndim != 2 or not len(table):
            raise ModelError(f"the weight {name} is missing from the model or is no table")
        tables.append(table)
    return tables[0], tables[1]


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
    if manifest["format"] not in _READABLE:
        readable = f"{_READABLE[0]} to {_READABLE[-1]}"
        raise ModelError(f"{path}: format {manifest['format']}; this lexbeam reads {readable}")
    moses = manifest["format"] == FORMAT_OF_MOSES
    for name in (_WEIGHTS, *((CODES, PIECES) if moses else (_SOURCE,))):
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
    folder: Path,
    files: Mapping[str, bytes],
    sentences: Sequence[str],
    framing: Framing,
) -> Mapping[str, float]:
    sizes = config.source_vocabulary, config.target_vocabulary
    source, target = _read_vocabularies(folder, files, sizes)
    text = SourceText(source, framing.source_prefix, framing.source_suffix)
    return calibration.measure(
        _build(config, Observed(weights), shortlist=False),
        [text.encode(sentence) for sentence in sentences],
        config.target_vocabulary,
        target.eos_id(),
        source_vocabulary_size=config.source_vocabulary,
        output_start=framing.output_start,
        never=framing.never,
        positions=_positions(config, weights),
    )


def _finite(weights: Mapping[str, Any]) -> dict[str, Float32]:
    """Return weights as arrays in single precision, each of them a number throughout."""
    arrays = {name: np.asarray(weight, np.float32) for name, weight in weights.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ModelError(f"the weight {name} has values that are not numbers")
    return arrays


def _in_int8(weights: Mapping[str, Float32]) -> Weights:
    """Round matrices to eight bits; vectors and small tables stay as they are."""
    rounded: dict[str, Float32 | Int8Matrix] = {}
    for name, value in weights.items():
        if value.ndim != 2 or 1 in value.shape or name in _NEVER_ROUNDED:
            rounded[name] = value
        elif name.endswith("Wemb"):
            rounded[name] = quantise(value.T).T
        else:
            rounded[name] = quantise(value)
    return rounded


def _with_ranges(weights: Weights, known: Mapping[str, float]) -> Weights:
    return {
        name: replace(weight, activation=known.get(name))
        if isinstance(weight, Int8Matrix)
        else weight
        for name, weight in weights.items()
    }


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

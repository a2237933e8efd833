"""Bundles: the folders that trained and imported models are kept in (docs/bundle.md).

::

    manifest.json    format version, configuration of the network, languages, hashes of the files
    weights.npz      the matrices in eight bits with their scales, everything else in float
    source.spm       SentencePiece vocabulary, of both languages where there is no target.spm
    target.spm       of the target language, where it has its own
    bpe.codes, bpe.json    instead of these, Moses tokens with BPE, of both languages
    shortlist.bin    optional, Marian's binary shortlist

The manifest is written last: a folder without one is not a bundle, so an interrupted copy never
looks like a model.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError, SettingError
from lexbeam.models import calibration, formats, shortlist
from lexbeam.models.bundle_manifest import (
    ALIGNMENT,
    ASIDE,
    FORMAT,
    FORMAT_OF_MOSES,
    FORMAT_OF_SAMPLE,
    MANIFEST,
    READS_TERMS,
    SHORTLIST,
    SHORTLIST_OPTIONS,
    SOURCE,
    TARGET,
    WEIGHTS,
    digest,
    read_alignment,
    read_files,
    read_framing,
    read_manifest,
)
from lexbeam.models.bundle_weights import (
    check_finite,
    read_weights,
    round_weights,
    to_floats,
    with_multipliers,
    write_weights,
)
from lexbeam.models.engines.compiled_network import LEVEL
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.file_reading import naming
from lexbeam.models.graphs.architecture import Architecture, read_architecture
from lexbeam.models.graphs.weights import Float32, Observed, Weights
from lexbeam.models.model import Framing, Model, token_rules
from lexbeam.models.sentencepiece_files import load_vocabulary
from lexbeam.text.moses_vocabulary import CODES, PIECES, MosesBpe
from lexbeam.text.spelling import SourceText
from lexbeam.text.vocabulary import Processor

PRECISIONS = ("int8", "float32")

__all__ = [
    "MANIFEST",
    "PRECISIONS",
    "add_shortlist",
    "check_precision",
    "is_bundle",
    "load",
    "read_network",
    "read_sizes",
    "write",
]


def is_bundle(path: str | Path) -> bool:
    """Return whether a folder holds a bundle."""
    return (Path(path) / MANIFEST).is_file()


def check_precision(precision: str) -> None:
    """Raise SettingError for a precision that weights can't be kept in."""
    if precision not in PRECISIONS:
        raise SettingError(f"precision must be one of {', '.join(PRECISIONS)}, not {precision!r}")


def write(
    config: Architecture,
    weights: Weights,
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
    sets_aside: bool = False,
    reads_terms: bool = False,
) -> None:
    """Write a network as a bundle.

    Args:
        config: the network's kind, sizes and options.
        weights: weights by Marian's names, matrices with the input dimension first. In float;
            matrices that are in eight bits already are kept as they are.
        source_spm: the SentencePiece model, or a Moses vocabulary; of both languages if
            there is no ``target_spm``.
        folder: the folder to write to; made if it does not exist.
        target_spm: the SentencePiece model of the target language, if it has its own.
        shortlist_file: Marian's binary shortlist, if there is one.
        source_language: its code, for people to read.
        target_language: the same; also decides how output text is joined.
        max_source_length: pieces of the longest sentence seen in training.
        calibration_text: some dozens of sources to measure the ranges of activations on.
        framing: tokens around source and output, if the end of sentence alone is not enough.
        precision: of the matrices, "int8" or "float32".
        origin: where the network comes from, for people to read.
        alignment: decoder layer and head whose attention to the source was trained to align.
        sets_aside: how a search without constraints ends; see `lexbeam.models.model.Model`.
        reads_terms: whether the network reads terms in the source; see there.
    """
    check_precision(precision)
    network = _describe_network(config, framing := framing or Framing(), alignment)
    finite = check_finite(weights)
    kept = _stored(config, finite, precision)
    files = _vocabulary_files(source_spm, target_spm) | _contents({SHORTLIST: shortlist_file})
    folder = _write_files(Path(folder), files)
    if precision == "int8" and calibration_text:
        found = _calibrate(config, to_floats(finite), folder, files, calibration_text, framing)
        kept = with_multipliers(kept, found)
    write_weights(folder / WEIGHTS, kept)
    facts = {
        "source_language": source_language,
        "target_language": target_language,
        "max_source_length": max_source_length,
        "precision": precision,
        "origin": origin,
        **_abilities(sets_aside, reads_terms),
    }
    _write_manifest(folder, files, {**network, **facts})


def _stored(config: Architecture, weights: Weights, precision: str) -> Weights:
    """Return weights as they are kept; whatever is missing is reported."""
    kept = round_weights(config, weights) if precision == "int8" else to_floats(weights)
    config.build(kept)
    return kept


def _abilities(sets_aside: bool, reads_terms: bool) -> dict[str, Any]:
    """Return what the manifest says of a network that is not said of most."""
    abilities = {"finishing": sets_aside and ASIDE, READS_TERMS: reads_terms}
    return {name: value for name, value in abilities.items() if value}


def _write_manifest(folder: Path, files: Collection[str], facts: Mapping[str, Any]) -> None:
    manifest = {
        "format": _format(files, facts),
        **facts,
        "files": {name: digest((folder / name).read_bytes()) for name in (WEIGHTS, *files)},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _format(files: Collection[str], facts: Mapping[str, Any]) -> int:
    """Return the first version that can say all of a bundle."""
    if any(name in facts for name in SHORTLIST_OPTIONS):
        return FORMAT_OF_SAMPLE
    return FORMAT_OF_MOSES if CODES in files else FORMAT


def add_shortlist(path: str | Path, content: bytes, *, sample: int = 0, longest: int = 0) -> None:
    """Give a bundle another shortlist, or its first.

    So many tokens, the ``sample``, stand for all that is not on it; 0: none do, scores are shares
    of the list. At most so many tokens, the ``longest``, are listed by the words of a sentence;
    0: all that their lists have.
    """
    folder = Path(path)
    manifest = read_manifest(folder / MANIFEST)
    shortlist.parse(content, folder / SHORTLIST, *read_sizes(folder))
    (folder / MANIFEST).unlink()
    (folder / SHORTLIST).write_bytes(content)
    others = ("format", "files", *SHORTLIST_OPTIONS)
    facts = {name: value for name, value in manifest.items() if name not in others}
    options = zip(SHORTLIST_OPTIONS, (sample, longest), strict=True)
    facts |= {name: value for name, value in options if value}
    files = [name for name in manifest["files"] if name not in (WEIGHTS, SHORTLIST)]
    _write_manifest(folder, [*files, SHORTLIST], facts)


def _describe_network(
    config: Architecture, framing: Framing, alignment: tuple[int, int] | None
) -> dict[str, Any]:
    """Return what the manifest says of a network and of the tokens around its texts."""
    named = dict(zip(ALIGNMENT, alignment, strict=True)) if alignment else None
    aligned = read_alignment(named, config)
    return {
        "network": config.to_dict(),
        "framing": asdict(framing),
        **({"alignment": aligned} if aligned else {}),
    }


def _vocabulary_files(
    source: str | Path | bytes | MosesBpe, target: str | Path | bytes | None
) -> dict[str, bytes]:
    if isinstance(source, MosesBpe):
        return {**_contents({TARGET: target}), **source.files}
    return _contents({SOURCE: source, TARGET: target})


def _write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write vocabularies and shortlist, without what is left of an earlier bundle."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST, SOURCE, TARGET, SHORTLIST, CODES, PIECES):
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def _contents(given: Mapping[str, str | Path | bytes | None]) -> dict[str, bytes]:
    return {
        name: file if isinstance(file, bytes) else Path(file).read_bytes()
        for name, file in given.items()
        if file is not None
    }


def load(path: str | Path, threads: int = 1) -> Model:
    """Load a bundle; whatever is wrong with it is a ModelError that names the file."""
    folder = Path(path)
    manifest = read_manifest(folder / MANIFEST)
    files = read_files(folder, manifest["files"])
    with naming(folder / MANIFEST):
        config = read_architecture(manifest["network"])
        framing = read_framing(manifest.get("framing", {}), config)
        alignment = read_alignment(manifest.get("alignment"), config)
    sizes = config.source_vocabulary, config.target_vocabulary
    source, target = _read_vocabularies(folder, files, sizes)
    listed = None
    if SHORTLIST in files:
        options = {name: manifest.get(name, 0) for name in SHORTLIST_OPTIONS}
        listed = shortlist.read(folder / SHORTLIST, *sizes, **options)
    sample = [] if listed is None else listed.sample.tolist()
    further = _FurtherGraphs(folder, manifest, config, alignment, sample)
    with naming(folder / WEIGHTS), read_weights(folder / WEIGHTS) as weights:
        engine = OnnxEngine(
            config.build(weights, shortlist=listed is not None, sample=sample, bare=LEVEL > 0),
            token_rules(sizes, target, framing),
            shortlist=listed,
            positions=config.position_tables(weights),
            threads=threads,
            make_attending=further.attending,
            make_draft=further.draft,
            alignment=(alignment["layer"], alignment["head"]) if alignment else None,
        )
    info = {
        "type": "bundle",
        "source_language": manifest["source_language"],
        "target_language": manifest["target_language"],
        "network": config.describe(),
        "vocabulary": "moses-bpe" if isinstance(target, MosesBpe) else "sentencepiece",
        "vocabulary_size": config.target_vocabulary,
        "precision": manifest.get("precision", "int8"),
        "shortlist": listed is not None,
        **({"origin": manifest["origin"]} if manifest.get("origin") else {}),
        **({"alignment": alignment} if alignment else {}),
        **({READS_TERMS: True} if manifest.get(READS_TERMS) else {}),
        "files": [str(folder / name) for name in manifest["files"]],
    }
    sets_aside = manifest.get("finishing") == ASIDE
    longest = manifest["max_source_length"]
    reads_terms = bool(manifest.get(READS_TERMS))
    return Model(engine, source, target, longest, info, framing, sets_aside, reads_terms)


class _FurtherGraphs:
    """Writes graphs that few searches need.

    They are made once, if at all: the weights are read again then, instead of kept until then.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        config: Architecture,
        alignment: Mapping[str, int] | None,
        sample: Sequence[int],
    ) -> None:
        self._folder = folder
        self._config = config
        self._weights = {WEIGHTS: manifest["files"][WEIGHTS]}
        self._options: dict[str, Any] = {
            "shortlist": SHORTLIST in manifest["files"],
            "sample": sample,
            "alignment": (alignment["layer"], alignment["head"]) if alignment else None,
        }

    def attending(self, single: bool) -> bytes:
        """Write a decoder that says where it looks."""
        with self._read() as weights:
            further = {"bare": LEVEL > 0, **self._options}
            return self._config.build_attending(weights, single=single, **further)

    def draft(self, attends: bool) -> bytes | None:
        """Write a graph for drafts, if the network has one."""
        with self._read() as weights:
            return self._config.build_draft(weights, attends=attends, **self._options)

    @contextmanager
    def _read(self) -> Iterator[Weights]:
        read_files(self._folder, self._weights)
        path = self._folder / WEIGHTS
        with naming(path), read_weights(path) as weights:
            yield weights


def read_sizes(path: str | Path) -> tuple[int, int]:
    """Read how many source and target tokens the network of a bundle has."""
    manifest = Path(path) / MANIFEST
    with naming(manifest):
        config = read_architecture(read_manifest(manifest)["network"])
    return config.source_vocabulary, config.target_vocabulary


def read_network(path: str | Path) -> tuple[Architecture, dict[str, Float32]]:
    """Read the sizes and the weights of a bundle, in single precision."""
    folder = Path(path)
    manifest = read_manifest(folder / MANIFEST)
    read_files(folder, {WEIGHTS: manifest["files"][WEIGHTS]})
    with naming(folder / MANIFEST):
        config = read_architecture(manifest["network"])
    with naming(folder / WEIGHTS), read_weights(folder / WEIGHTS) as stored:
        weights = to_floats(stored)
    return config, weights


def _read_vocabularies(
    folder: Path, files: Mapping[str, bytes], sizes: tuple[int, int]
) -> tuple[Processor, Processor]:
    """Read the vocabularies of both sides, and check that they suit the network."""
    if CODES in files and PIECES in files:
        with naming(folder):  # the message has the name of the file
            moses = MosesBpe(files[CODES], files[PIECES])
            if sizes != (len(moses), len(moses)):
                raise ModelError(f"{PIECES}: {len(moses)} pieces, but the network has {sizes[1]}")
        return moses, moses
    target = TARGET if TARGET in files else SOURCE
    return (
        load_vocabulary(files[SOURCE], folder / SOURCE, sizes[0]),
        load_vocabulary(files[target], folder / target, sizes[1]),
    )


def _calibrate(
    config: Architecture,
    weights: Mapping[str, Float32],
    folder: Path,
    files: Mapping[str, bytes],
    sentences: Sequence[str],
    framing: Framing,
) -> Mapping[str, float]:
    """Return the multiplier of each matrix's activations, measured on some sentences."""
    sizes = config.source_vocabulary, config.target_vocabulary
    source, target = _read_vocabularies(folder, files, sizes)
    text = SourceText(source, framing.source_prefix, framing.source_suffix)
    return calibration.measure(
        config.build(Observed(weights)),
        [text.encode(sentence) for sentence in sentences],
        token_rules(sizes, target, framing),
        config.position_tables(weights),
    )


formats.register("a bundle", MANIFEST, is_bundle, load)

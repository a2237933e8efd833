"""Firefox Translations (Bergamot) models, as Mozilla ships them.

A folder holds the network (``model.*.bin``, Marian's binary format, eight-bit weights), one
SentencePiece vocabulary for both languages or one for each, and usually a lexical shortlist.
Any of the files may be gzipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models import formats, shortlist
from lexbeam.models.engines.compiled_network import LEVEL
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.file_reading import LARGEST_VOCABULARY, naming, read_unpacked
from lexbeam.models.graph_cache import build_once
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.output_layer import OutputLayer
from lexbeam.models.graphs.ssru_decoder import SsruDecoder
from lexbeam.models.graphs.stored_arrays import from_bytes, to_bytes
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Int8Matrix, Weights, check_multiplier
from lexbeam.models.importers import marian_binary, marian_config
from lexbeam.models.model import Model, token_rules
from lexbeam.models.sentencepiece_files import load_vocabulary

_OUTPUT = "none"  # the name under which Marian keeps the multiplier of the output layer
_ALIGNED_HEAD = 0  # of the last decoder layer: the one that Marian's guided alignment trains
_MAX_SOURCE_LENGTH = 128  # where the native engine breaks sentences
_LANGUAGES = re.compile(r"\.(?:([a-z]{2})([a-z]{2})|([a-z]{3})([a-z]{3}))\.")


@dataclass(frozen=True)
class _Files:
    model: Path
    source: Path
    target: Path
    shortlist: Path | None


def is_firefox_model(path: str | Path) -> bool:
    """Return whether a folder, or that of a file, holds a Firefox model.

    CTranslate2's models have a ``model.bin``, too, but with vocabularies of other names.
    """
    folder = _folder(Path(path))
    others = any(folder.glob("*_vocabulary.*"))
    return not others and bool(_candidates(folder, "model", "bin"))


def load(path: str | Path, threads: int = 1) -> Model:
    """Load a model from its folder; whatever is wrong with it is a ModelError."""
    files = _find(_folder(Path(path)))
    purpose = "bergamot" if files.shortlist is None else "bergamot, shortlist"
    purpose += ", bare" if LEVEL else ""
    with naming(files.model):
        options, *parts = build_once([files.model], purpose, lambda: _build(files))
        config = TransformerConfig.from_dict(json.loads(options))
    sizes = config.source_vocabulary, config.target_vocabulary
    target = _vocabulary(files.target, config.target_vocabulary)
    same = files.source == files.target
    source = target if same else _vocabulary(files.source, config.source_vocabulary)
    listed = shortlist.read(files.shortlist, *sizes) if files.shortlist else None
    with naming(files.model):
        engine = OnnxEngine(
            _read_graphs(parts),
            token_rules(sizes, target),
            shortlist=listed,
            threads=threads,
            make_attending=lambda single: _attending(files, purpose, single),
            make_draft=lambda attends: _draft(files, purpose, attends),
            alignment=(config.decoder_layers - 1, _ALIGNED_HEAD),
        )
    return Model(engine, source, target, _MAX_SOURCE_LENGTH, _info(files, config))


def _folder(path: Path) -> Path:
    return path.parent if path.is_file() else path


def _vocabulary(path: Path, size: int) -> Any:
    return load_vocabulary(read_unpacked(path, LARGEST_VOCABULARY), path, size)


def _build(files: _Files) -> list[bytes]:
    model = marian_binary.read(files.model)
    config = marian_config.interpret(model.config)
    weights = _with_output_multiplier(config, model)
    graphs = config.build(weights, shortlist=files.shortlist is not None, bare=LEVEL > 0)
    *written, output, ssru = graphs
    parts = [part or b"" for part in written]
    parts += [to_bytes(part._asdict()) if part else b"" for part in (output, ssru)]
    return [json.dumps(asdict(config)).encode(), *parts]


def _read_graphs(parts: Sequence[bytes]) -> Graphs:
    """Read what `_build` has made of a network."""
    encoder, decoder, single, output, ssru = parts
    return Graphs(
        encoder,
        decoder or None,
        single or None,
        OutputLayer(**from_bytes(output)) if output else None,
        SsruDecoder(**from_bytes(ssru)) if ssru else None,
    )


def _attending(files: _Files, purpose: str, single: bool) -> bytes:
    """Return a decoder that says where it looks, from the cache if nothing has changed."""
    purpose = f"{purpose}, attention, {'single' if single else 'batch'}"
    return _further(
        files, purpose, TransformerConfig.build_attending, single=single, bare=LEVEL > 0
    )


def _draft(files: _Files, purpose: str, attends: bool) -> bytes:
    """Return a graph for drafts, from the cache if nothing has changed."""
    purpose = f"{purpose}, draft{', attention' if attends else ''}"
    return _further(files, purpose, TransformerConfig.build_draft, attends=attends)


def _further(files: _Files, purpose: str, write: Callable[..., bytes], **options: bool) -> bytes:
    """Return a graph that few searches need, from the cache if nothing has changed."""

    def build() -> list[bytes]:
        model = marian_binary.read(files.model)
        config = marian_config.interpret(model.config)
        return [
            write(
                config,
                _with_output_multiplier(config, model),
                shortlist=files.shortlist is not None,
                alignment=(config.decoder_layers - 1, _ALIGNED_HEAD),
                **options,
            )
        ]

    with naming(files.model):
        (graph,) = build_once([files.model], purpose, build)
    return graph


def _with_output_multiplier(config: TransformerConfig, model: marian_binary.MarianModel) -> Weights:
    """Give the output layer the multiplier of its activations, which has another name."""
    weights = dict(model.weights)
    output = weights.get(config.output)
    if isinstance(output, Int8Matrix):
        multiplier = model.activations.get(config.output, model.activations.get(_OUTPUT))
        if multiplier is not None:
            check_multiplier("the activation of the output layer", multiplier)
        weights[config.output] = replace(output, activation=multiplier)
    return weights


def _find(path: Path) -> _Files:
    """Find the files of a model by their names."""
    if not path.is_dir():
        raise ModelError(f"{path}: no such folder")
    model = _one(path, "model", "bin")
    if model is None:
        raise ModelError(f"{path}: no model.*.bin in this folder")
    source, target = _one(path, "srcvocab", "spm"), _one(path, "trgvocab", "spm")
    both = _one(path, "vocab", "spm")
    if source is None or target is None:
        if both is None:
            raise ModelError(
                f"{path}: a vocabulary is missing: vocab.*.spm, or srcvocab.*.spm and "
                "trgvocab.*.spm"
            )
        source = target = both
    return _Files(model, source, target, _one(path, "lex", "bin"))


def _candidates(folder: Path, start: str, end: str) -> list[Path]:
    return sorted(
        path
        for path in folder.glob(f"{start}.*")
        if path.name.endswith((f".{end}", f".{end}.gz")) and path.is_file()
    )


def _one(folder: Path, start: str, end: str) -> Path | None:
    found = _candidates(folder, start, end)
    plain = [path for path in found if path.suffix != ".gz"]
    if len(plain) > 1 or (not plain and len(found) > 1):
        names = ", ".join(path.name for path in found)
        raise ModelError(f"{folder}: more than one {start} file, keep one: {names}")
    return next(iter(plain or found), None)


def _info(files: _Files, config: TransformerConfig) -> Mapping[str, Any]:
    names = [path.name for path in (files.model, files.shortlist, files.target) if path]
    pair = next((match for name in names if (match := _LANGUAGES.search(name))), None)
    languages = [code for code in pair.groups() if code] if pair else [None, None]
    return {
        "type": "bergamot",
        "source_language": languages[0],
        "target_language": languages[1],
        "network": config.describe(),
        "vocabulary_size": config.target_vocabulary,
        "shortlist": files.shortlist is not None,
        "files": [str(path) for path in dict.fromkeys(vars(files).values()) if path],
    }


formats.register("a Firefox model", "model.*.bin", is_firefox_model, load)

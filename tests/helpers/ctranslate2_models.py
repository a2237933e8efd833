"""Small random CTranslate2 models, written by its own specifications and converters."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.converters import transformers as loaders
from ctranslate2.specs import model_spec, transformer_spec

from helpers.checkpoints import SOURCE_TEXT, TARGET_TEXT, pieces_of, sentence_pieces

DIM, HEADS, LAYERS, FFN = 16, 2, 2, 24
SPECIAL = ("<unk>", "<blank>", "<s>", "</s>")


def from_checkpoint(
    model: Any,
    tokens: Sequence[str],
    folder: Path,
    quantization: str | None = None,
    **settings: Any,
) -> Path:
    """Convert a network of transformers, as CTranslate2's converter does once it has the tokens."""
    loader = loaders._MODEL_LOADERS[type(model.config).__name__]
    if not hasattr(model.config, "normalize_before"):
        model.config.normalize_before = "MBart" in type(model).__name__
    spec = loader.get_model_spec(model)
    loader.set_vocabulary(spec, list(tokens))
    return save(spec, folder, quantization, **settings)


def save(
    spec: model_spec.ModelSpec, folder: Path, quantization: str | None = None, **settings: Any
) -> Path:
    """Write a specification with its weights as a model."""
    for name, value in settings.items():
        setattr(spec.config, name, value)
    spec.validate()
    spec.optimize(quantization)
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))
    return folder


def opennmt(
    folder: Path,
    quantization: str | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    encodings: bool = True,
    tied: bool = True,
    separate: bool = False,
    seed: int = 0,
    eagerness: float = 0.0,
    **options: Any,
) -> Path:
    """Write a random network of the kind that OpenNMT trains, and its SentencePiece model.

    The order of the tokens is not SentencePiece's. ``eagerness`` is added to the score of the end
    of sentence; ``options`` are those of the specification.
    """
    spec = random_spec(*_vocabularies(folder, separate, seed), tied, encodings, seed, **options)
    spec.decoder.projection.bias[SPECIAL.index("</s>")] += eagerness
    return save(spec, folder, quantization, **(settings or {}))


def random_spec(
    source: Sequence[str],
    target: Sequence[str],
    tied: bool = True,
    encodings: bool = True,
    seed: int = 0,
    **options: Any,
) -> transformer_spec.TransformerSpec:
    """Return a specification with random weights for lists of tokens."""
    spec = transformer_spec.TransformerSpec.from_config((LAYERS, LAYERS), HEADS, **options)
    random = _Random(seed)
    spec.register_source_vocabulary(list(source))
    spec.register_target_vocabulary(list(target))
    spec.encoder.embeddings[0].weight = random.array(len(source), DIM, size=0.4)
    shared = tied and list(source) == list(target)
    table = (
        spec.encoder.embeddings[0].weight if shared else random.array(len(target), DIM, size=0.4)
    )
    spec.decoder.embeddings.weight = table
    spec.decoder.projection.weight = table if tied else random.array(len(target), DIM, size=0.7)
    spec.decoder.projection.bias = random.array(len(target))
    for side in (spec.encoder, spec.decoder):
        if encodings and hasattr(side, "position_encodings"):
            side.position_encodings.encodings = random.array(40, DIM, size=0.5)
        for name in ("layer_norm", "layernorm_embedding"):
            if hasattr(side, name):
                random.norm(getattr(side, name))
        for layer in side.layer:
            _fill_layer(layer, random)
    return spec


def _fill_layer(layer: Any, random: _Random) -> None:
    _fill_attention(layer.self_attention, random, 3)
    if hasattr(layer, "attention"):
        _fill_attention(layer.attention, random, 2)
    random.norm(layer.ffn.layer_norm)
    random.linear(layer.ffn.linear_0, FFN, DIM)
    random.linear(layer.ffn.linear_1, DIM, FFN)
    if hasattr(layer.ffn, "linear_0_noact"):
        random.linear(layer.ffn.linear_0_noact, FFN, DIM)


def _fill_attention(attention: Any, random: _Random, fused: int) -> None:
    random.norm(attention.layer_norm)
    shared = getattr(attention, "num_heads_kv", HEADS)
    of_keys = DIM * int(shared) // HEADS
    if fused == 3:
        random.linear(attention.linear[0], DIM + 2 * of_keys, DIM)
    else:
        random.linear(attention.linear[0], DIM, DIM)
        random.linear(attention.linear[1], 2 * of_keys, DIM)
    random.linear(attention.linear[-1], DIM, DIM)
    if hasattr(attention, "relative_position_keys"):
        attention.relative_position_keys = random.array(7, DIM // HEADS, size=0.7)
        attention.relative_position_values = random.array(7, DIM // HEADS, size=0.7)


class _Random:
    """Random weights that all matter."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def array(self, *shape: int, size: float = 0.3) -> Any:
        return (size * self._random.standard_normal(shape)).astype(np.float32)

    def linear(self, spec: Any, outputs: int, inputs: int) -> None:
        spec.weight = self.array(outputs, inputs, size=1.5 / inputs**0.5)
        spec.bias = self.array(outputs)

    def norm(self, spec: Any) -> None:
        spec.gamma = 1 + self.array(DIM)
        if hasattr(spec, "beta"):
            spec.beta = self.array(DIM)


def _vocabularies(folder: Path, separate: bool, seed: int) -> tuple[list[str], list[str]]:
    """Write a SentencePiece model; return the tokens of both sides, in an order of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    model = sentence_pieces([*SOURCE_TEXT, *TARGET_TEXT], 120)
    (folder / "sentencepiece.model").write_bytes(model)
    pieces = [piece for piece in pieces_of(model) if piece not in SPECIAL]
    random = np.random.default_rng(seed + 1)
    orders = [[*SPECIAL, *(pieces[i] for i in random.permutation(len(pieces)))] for _ in range(2)]
    return orders[0], orders[1] if separate else orders[0]


def argos_package(model: Path, path: Path, **changes: Any) -> Path:
    """Write an Argos package with a model that `opennmt` has written."""
    metadata = {"from_code": "en", "to_code": "de", "package_version": "1.0", **changes}
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(model.iterdir()):
            place = "" if file.name.endswith(".model") else "model/"
            archive.write(file, f"en_de/{place}{file.name}")
        archive.writestr("en_de/metadata.json", json.dumps(metadata))
        archive.writestr("en_de/README.md", "a model")
        archive.writestr("en_de/stanza/en/tokenize.pt", b"\0" * 100)
    return path

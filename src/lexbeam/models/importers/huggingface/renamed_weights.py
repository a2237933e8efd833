"""The weights of a checkpoint under Marian's names, as our graphs take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32

OUTPUT = "decoder_ff_logit_out_W"
OUTPUT_BIAS = "decoder_ff_logit_out_b"
NORM_FIRST = {"preprocess": "n", "postprocess": "da", "postprocess_top": "n"}
"""Options of a Transformer that normalises before each sublayer and after the last layer."""


class Network(NamedTuple):
    """A network as our graphs take it."""

    config: TransformerConfig
    weights: dict[str, Float32]
    max_positions: int


class RenamedWeights:
    """Weights of a checkpoint, and those of them that were given Marian's names."""

    def __init__(self, checkpoint: Mapping[str, Float32]) -> None:
        self._checkpoint = {
            name.removeprefix("model."): weight for name, weight in checkpoint.items()
        }
        self.weights: dict[str, Float32] = {}

    def find(self, *names: str) -> Float32:
        """Return the first weight of these names that the checkpoint has."""
        for name in names:
            if name in self._checkpoint:
                return self._checkpoint[name]
        raise ModelError(f"the weight {names[0]} is missing from the checkpoint")

    def has(self, name: str) -> bool:
        """Return whether the checkpoint has a weight."""
        return name in self._checkpoint

    def dense(self, name: str, suffix: str, given: str, bias: bool = True) -> None:
        """Rename a linear layer; its matrix has the output dimension first in checkpoints."""
        self.weights[f"{name}_W{suffix}"] = self.find(f"{given}.weight").T
        if bias:
            self.weights[f"{name}_b{suffix}"] = self.find(f"{given}.bias")

    def norm(self, name: str, given: str, suffix: str = "", bias: bool = True) -> None:
        """Rename a layer normalisation."""
        self.weights[f"{name}_ln_scale{suffix}"] = self.find(f"{given}.weight")
        if bias:
            self.weights[f"{name}_ln_bias{suffix}"] = self.find(f"{given}.bias")

    def embeddings(self) -> dict[str, Any]:
        """Rename embeddings and output layer; return the options that say how they are tied."""
        shared = "shared.weight"
        source = self.find("encoder.embed_tokens.weight", shared, "lm_head.weight")
        target = self.find("decoder.embed_tokens.weight", shared, "lm_head.weight")
        output = self.find("lm_head.weight", "decoder.embed_tokens.weight", shared)
        names = {"source_embedding": "encoder_Wemb", "target_embedding": "decoder_Wemb"}
        if _same(source, target):
            names = dict.fromkeys(names, "Wemb")
        tied = _same(target, output)
        names["output"] = names["target_embedding"] if tied else OUTPUT
        self.weights[names["source_embedding"]] = source
        self.weights[names["target_embedding"]] = target
        if not tied:
            self.weights[OUTPUT] = output.T
        return {**names, "source_vocabulary": len(source), "target_vocabulary": len(output)}


def _same(one: Float32, other: Float32) -> bool:
    return one is other or np.array_equal(one, other)

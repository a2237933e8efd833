"""Networks of BART's design: BART itself, Marian, mBART, M2M100 and NLLB."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.graphs.positions import sines_and_cosines
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.importers.huggingface.renamed_weights import (
    OUTPUT_BIAS,
    Network,
    RenamedWeights,
)
from lexbeam.models.importers.huggingface.settings import Settings, activation

_MOST_NUMBERS = 1 << 26  # of a table of positions
_RESERVED_ROWS = 2  # rows of a table of positions before that of the first position


def bart_network(settings: Settings, renamed: RenamedWeights, **processes: str) -> Network:
    """Return a network of BART's design; ``processes`` say where it normalises.

    The embeddings of positions have been renamed before.
    """
    heads = settings.number("encoder_attention_heads")
    if settings.number("decoder_attention_heads") != heads:
        raise ModelError("config.json: encoder and decoder have different numbers of heads")
    dim = settings.number("d_model")
    config = TransformerConfig(
        **renamed.embeddings(),
        dim=dim,
        heads=heads,
        encoder_layers=settings.number("encoder_layers"),
        decoder_layers=settings.number("decoder_layers"),
        decoder="self-attention",
        activation=activation(settings.text("activation_function", "gelu")),
        embedding_factor=float(np.sqrt(dim)) if settings.get("scale_embedding") else 1.0,
        positions="table",
        epsilon=1e-5,
        **processes,  # type: ignore[arg-type]
    )
    config.check()
    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        if "n" in config.postprocess_embedding:
            renamed.norm(f"{side}_emb", f"{side}.layernorm_embedding")
        if "n" in config.postprocess_top:
            renamed.norm(f"{side}_top", f"{side}.layer_norm")
        for layer in range(layers):
            _bart_layer(renamed, side, layer, "_pre" if config.preprocess else "")
    if renamed.has("final_logits_bias"):
        renamed.weights[OUTPUT_BIAS] = renamed.find("final_logits_bias").reshape(-1)
    positions = min(len(renamed.weights["encoder_Wpos"]), len(renamed.weights["decoder_Wpos"]))
    return Network(config, renamed.weights, positions)


def _bart_layer(renamed: RenamedWeights, side: str, layer: int, suffix: str) -> None:
    ours, theirs = f"{side}_l{layer + 1}", f"{side}.layers.{layer}"
    attentions = {"self": "self_attn"}
    if side == "decoder":
        attentions["context"] = "encoder_attn"
    for name, given in attentions.items():
        for kind, part in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj"), strict=True):
            renamed.dense(f"{ours}_{name}", kind, f"{theirs}.{given}.{part}")
        renamed.norm(f"{ours}_{name}_Wo", f"{theirs}.{given}_layer_norm", suffix)
    renamed.dense(f"{ours}_ffn", "1", f"{theirs}.fc1")
    renamed.dense(f"{ours}_ffn", "2", f"{theirs}.fc2")
    renamed.norm(f"{ours}_ffn_ffn", f"{theirs}.final_layer_norm", suffix)


def take_learned_positions(renamed: RenamedWeights) -> None:
    """Rename the embeddings of positions."""
    for side in ("encoder", "decoder"):
        table = renamed.find(f"{side}.embed_positions.weight")
        renamed.weights[f"{side}_Wpos"] = table[_RESERVED_ROWS:]


def take_sinusoids(
    renamed: RenamedWeights, positions: NDArray[Any], frequencies: NDArray[Any]
) -> None:
    """Set sinusoidal embeddings of positions, unless the checkpoint has its own."""
    if len(positions) * len(frequencies) > _MOST_NUMBERS:
        size = f"{len(positions)} positions of {2 * len(frequencies)} numbers"
        raise ModelError(f"config.json: {size} are too many")
    table = sines_and_cosines(positions, frequencies)
    for side in ("encoder", "decoder"):
        learned = f"{side}.embed_positions.weight"
        renamed.weights[f"{side}_Wpos"] = renamed.find(learned) if renamed.has(learned) else table

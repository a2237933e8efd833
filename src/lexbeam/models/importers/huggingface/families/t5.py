"""T5 and mT5."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.importers.huggingface.family import Family
from lexbeam.models.importers.huggingface.renamed_weights import (
    NORM_FIRST,
    Network,
    RenamedWeights,
)
from lexbeam.models.importers.huggingface.settings import activation as activation_name
from lexbeam.models.importers.relative_buckets import by_distance


class T5(Family, model_types=("t5", "mt5")):
    """A checkpoint of ``T5ForConditionalGeneration`` or ``MT5ForConditionalGeneration``."""

    def network(self, weights: Mapping[str, Float32]) -> Network:
        """Return the network."""
        renamed = RenamedWeights(weights)
        gate, _, activation = self.settings.text("feed_forward_proj", "relu").rpartition("-")
        if gate == "gated" and activation == "gelu":
            activation = "gelu_new"  # which is what transformers means by it
        layers = self.settings.number("num_layers")
        config = TransformerConfig(
            **renamed.embeddings(),
            dim=self.settings.number("d_model"),
            heads=self.settings.number("num_heads"),
            head_size=self.settings.number("d_kv"),
            encoder_layers=layers,
            decoder_layers=self.settings.get("num_decoder_layers") or layers,
            decoder="self-attention",
            activation=activation_name(activation),
            gated=gate == "gated",
            embedding_factor=1.0,
            positions="distances",
            norm="rms",
            biases=False,
            epsilon=float(self.settings.get("layer_norm_epsilon", 1e-6)),
            **NORM_FIRST,  # type: ignore[arg-type]
        )
        config.check()
        for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
            renamed.norm(f"{side}_top", f"{side}.final_layer_norm", bias=False)
            for layer in range(count):
                _rename_layer(renamed, side, layer, config)
            learned = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
            farthest = self.settings.number("relative_attention_max_distance", 128)
            renamed.weights[f"{side}_Wdist"] = by_distance(
                renamed.find(learned), farthest, both_directions=side == "encoder"
            )
        scales = self.settings.get(
            "scale_decoder_outputs", self.settings.get("tie_word_embeddings")
        )
        if self.model_type == "t5" and scales is not False:
            renamed.weights["decoder_top_ln_scale"] = renamed.weights["decoder_top_ln_scale"] * (
                np.float32(config.dim**-0.5)
            )
        return Network(config, renamed.weights, self.settings.number("n_positions", 512))


def _rename_layer(
    renamed: RenamedWeights, side: str, layer: int, config: TransformerConfig
) -> None:
    ours, theirs = f"{side}_l{layer + 1}", f"{side}.block.{layer}.layer"
    attentions = {"self": "0.SelfAttention"}
    if side == "decoder":
        attentions["context"] = "1.EncDecAttention"
    for name, given in attentions.items():
        for kind in "qkvo":
            renamed.dense(f"{ours}_{name}", kind, f"{theirs}.{given}.{kind}", bias=False)
        # T5 does not divide its scores by the root of a key's size; attention in our graphs does.
        queries = f"{ours}_{name}_Wq"
        renamed.weights[queries] = renamed.weights[queries] * np.float32(config.head_size**0.5)
        renamed.norm(f"{ours}_{name}_Wo", f"{theirs}.{given[0]}.layer_norm", "_pre", bias=False)
    last = f"{theirs}.{len(attentions)}"
    dense = f"{last}.DenseReluDense"
    if config.gated:
        renamed.dense(f"{ours}_ffn", "1", f"{dense}.wi_0", bias=False)
        renamed.dense(f"{ours}_ffn", "g", f"{dense}.wi_1", bias=False)
    else:
        renamed.dense(f"{ours}_ffn", "1", f"{dense}.wi", bias=False)
    renamed.dense(f"{ours}_ffn", "2", f"{dense}.wo", bias=False)
    renamed.norm(f"{ours}_ffn_ffn", f"{last}.layer_norm", "_pre", bias=False)

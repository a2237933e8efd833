"""What the encoder and the decoder of a Transformer share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lexbeam.models.graphs.layers import Layers
from lexbeam.models.graphs.relative_attention import RelativeAttention
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Weights
from lexbeam.models.graphs.writer import GraphWriter

if TYPE_CHECKING:
    from lexbeam.models.graphs.transformer import TransformerConfig


def output_table(config: TransformerConfig, weights: Weights) -> Int8Matrix | Float32:
    """Return the output layer as a table, one row per token; where tied, the embeddings."""
    table = weights[config.output]
    return table if config.output.endswith("Wemb") else table.T


def tied_layer(config: TransformerConfig, layer: int) -> int:
    """Return the number of the layer whose weights a decoder layer uses."""
    return config.tied_layers[layer - 1] if config.tied_layers else layer


class TransformerGraph:
    """What encoder and decoder have in common: embeddings, sublayers and what is around them."""

    def __init__(
        self, config: TransformerConfig, weights: Weights, shortlist: bool, graph: GraphWriter
    ) -> None:
        self.config = config
        self.weights = weights
        self.shortlist = shortlist
        self.graph = graph
        self.layers = Layers(
            self.graph,
            weights,
            config.epsilon,
            rms=config.norm == "rms",
            biases=config.biases,
            rounding=config.rounding,
        )
        self.relative = RelativeAttention(self.graph, config.heads, config.size_of_head)

    def process(self, steps: str, prefix: str, x: str, residual: str = "", suffix: str = "") -> str:
        """Take Marian's steps before or after a sublayer."""
        for step in steps.replace("d", ""):
            if step == "a":
                x = self.graph.node("Add", x, residual)
            else:
                x = self.layers.norm(x, f"{prefix}_ln", suffix)
        return x

    def before(self, prefix: str, x: str) -> str:
        """Take the steps before a sublayer."""
        return self.process(self.config.preprocess, prefix, x, suffix="_pre")

    def after(self, prefix: str, x: str, residual: str) -> str:
        """Take the steps after a sublayer; ``residual`` is its input."""
        return self.process(self.config.postprocess, prefix, x, residual)

    def top(self, side: str, x: str) -> str:
        """Take the steps after the last layer of the encoder or decoder."""
        return self.process(self.config.postprocess_top, f"{side}_top", x)

    def embed(self, name: str, side: str, tokens: str) -> str:
        """Return embeddings with positions; the id after the last one has zeros as embedding."""
        dim = self.config.dim
        x = self.layers.lookup(name, tokens, self.config.embedding_factor or float(np.sqrt(dim)))
        if self.config.positions in ("sinusoids", "table"):
            x = self.graph.node("Add", x, self.positions())
        return self.process(self.config.postprocess_embedding, f"{side}_emb", x)

    def positions(self) -> str:
        """Return the embeddings of the positions of all tokens."""
        return self.graph.input("positions", "float32", ["time", self.config.dim])

    def feed_forward(self, prefix: str, x: str, depth: int) -> str:
        """Dense layers with an activation between them."""
        y = self.before(f"{prefix}_ffn", x)
        gate = self.layers.dense(y, f"{prefix}_Wg", f"{prefix}_bg") if self.config.gated else ""
        for i in range(1, depth + 1):
            activation = self.config.activation if i > 1 else ""
            y = self.layers.dense(y, f"{prefix}_W{i}", f"{prefix}_b{i}", activation, gate)
        return self.after(f"{prefix}_ffn", y, x)

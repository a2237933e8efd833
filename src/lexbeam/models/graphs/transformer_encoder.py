"""The encoder of a Transformer as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lexbeam.models.graphs.distances import biases_of_source
from lexbeam.models.graphs.relative_attention import TABLES
from lexbeam.models.graphs.transformer_sublayers import TransformerGraph, output_table, tied_layer
from lexbeam.models.graphs.weights import Weights
from lexbeam.models.graphs.writer import Dim, GraphWriter

if TYPE_CHECKING:
    from lexbeam.models.graphs.transformer import TransformerConfig


class EncoderGraph(TransformerGraph):
    """Takes sentences, returns keys and values for the decoder's attention."""

    def __init__(self, config: TransformerConfig, weights: Weights, shortlist: bool) -> None:
        super().__init__(config, weights, shortlist, GraphWriter("encoder"))

    def write(self) -> bytes:
        """Return the graph as the content of an ``.onnx`` file."""
        config, graph = self.config, self.graph
        tokens = graph.input("tokens", "int64", ["sentences", "time"])
        mask = graph.input("mask", "int32", ["sentences", "time"])
        x = self.embed(config.source_embedding, "encoder", tokens)
        masks = [mask]
        if config.positions == "distances":
            masks.append(biases_of_source(graph, self.layers.table("encoder_Wdist"), tokens))
        for layer in range(1, config.encoder_layers + 1):
            x = self.attend_to_itself(f"encoder_l{layer}_self", x, masks)
            x = self.feed_forward(f"encoder_l{layer}_ffn", x, config.encoder_ffn_depth)
        x = self.top("encoder", x)
        self.write_memory(x, mask)
        if self.shortlist:
            self.write_candidates()
        return graph.model()

    def attend_to_itself(self, prefix: str, x: str, masks: Sequence[str]) -> str:
        """Attend to the source; ``masks`` are the mask and, if any, the biases of distances."""
        y = self.before(f"{prefix}_Wo", x)
        q, k, v = (self.layers.dense(y, f"{prefix}_W{c}", f"{prefix}_b{c}") for c in "qkv")
        heads = self.config.heads
        if self.config.positions == "relative":
            tables = [self.layers.table(f"{prefix}{kind}") for kind in TABLES]
            y = self.relative.of_source((q, k, v), masks[0], *tables)
        else:
            y = self.graph.node("MultiHeadAttention", q, k, v, "", *masks, num_heads=heads)
        y = self.layers.dense(y, f"{prefix}_Wo", f"{prefix}_bo")
        return self.after(f"{prefix}_Wo", y, x)

    def write_memory(self, x: str, mask: str) -> None:
        """Return keys and values per decoder layer, split into heads once for all steps."""
        config, graph = self.config, self.graph
        size = config.size_of_head
        shape: list[Dim] = ["sentences", config.heads, "time", size]
        graph.output("memory.mask", mask, "int32", ["sentences", "time"])
        for layer in range(1, config.decoder_layers + 1):
            prefix = f"decoder_l{tied_layer(config, layer)}_context"
            for kind in "kv":
                y = self.layers.dense(x, f"{prefix}_W{kind}", f"{prefix}_b{kind}")
                y = graph.node("Reshape", y, graph.ints(0, 0, config.heads, size))
                y = graph.node("Transpose", y, perm=[0, 2, 1, 3])
                graph.output(f"memory.{kind}{layer}", y, "float32", shape)

    def write_candidates(self) -> None:
        """Return the part of the output layer that each sentence's shortlist needs."""
        graph = self.graph
        size: list[Dim] = ["sentences", 1, "listed"]
        candidates = graph.input("candidates", "int64", ["sentences", "listed"])
        table = output_table(self.config, self.weights)
        values, scale, offset, bias = self.layers.columns(self.config.output, table, candidates)
        dtype = "int8" if scale else "float32"
        graph.output("memory.output", values, dtype, ["sentences", self.config.dim, "listed"])
        if scale:
            graph.output("memory.output_scale", scale, "float32", size)
        if offset:
            graph.output("memory.output_offset", offset, "int32", size)
        graph.output("memory.output_bias", bias, "float32", size)

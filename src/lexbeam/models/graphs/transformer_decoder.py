"""The decoder of a Transformer as a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lexbeam.models.graphs.attention_weights import attention_weights, write_attention
from lexbeam.models.graphs.distances import biases_of_output
from lexbeam.models.graphs.layers import Columns
from lexbeam.models.graphs.relative_attention import TABLES
from lexbeam.models.graphs.step_outputs import write_step_outputs
from lexbeam.models.graphs.transformer_sublayers import TransformerGraph, output_table, tied_layer
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Weights
from lexbeam.models.graphs.writer import Dim, GraphWriter

if TYPE_CHECKING:
    from lexbeam.models.graphs.transformer import TransformerConfig


class DecoderGraph(TransformerGraph):
    """One step: takes the last token of each row, returns the best next tokens.

    Attention to the source runs per sentence, so rows are first arranged in the slots of their
    sentences. A ``single`` decoder serves one sentence: it needs no such arrangement, and no
    mask of the source. With ``attended``, a layer and a head (None: all of them), each counted
    from 0, the step also returns that attention to the source. ``sample`` names the tokens that
    stand for all that are not on a shortlist. A ``bare`` decoder ends before the output layer.
    """

    def __init__(
        self,
        config: TransformerConfig,
        weights: Weights,
        shortlist: bool,
        single: bool = False,
        attended: tuple[int, int | None] | None = None,
        sample: Sequence[int] = (),
        graph: GraphWriter | None = None,
        bare: bool = False,
    ) -> None:
        super().__init__(config, weights, shortlist, graph or GraphWriter("decoder"))
        self.bare = bare
        self.sample = list(sample)
        self.single = single
        self.few_rows = not single
        """Whether sentences may well have one row each (`Layers.project_listed`)."""
        self.attended = attended
        self.distances: list[str] | None = (
            None  # biases of attention; made in the first layer, for all
        )

    def write(self) -> bytes:
        """Return the graph as the content of an ``.onnx`` file."""
        graph = self.graph
        tokens = graph.input("tokens", "int64", ["rows"])
        self.parents = graph.input("parents", "int64", ["rows"])
        if not self.single:
            self.row_of_slot = graph.input("row_of_slot", "int64", ["sentences", "slots"])
            self.slot_of_row = graph.input("slot_of_row", "int64", ["rows"])
            self.mask = graph.input("memory.mask", "int32", ["sentences", "time"])
        if self.bare:
            graph.output("hidden", self.hidden(tokens), "float32", ["rows", self.config.dim])
        else:
            write_step_outputs(graph, self.logits(tokens), len(self.sample))
        return graph.model()

    def hidden(self, tokens: str) -> str:
        """Write the network up to its output layer. # shape: (rows, dim)."""
        config = self.config
        x = self.embed(config.target_embedding, "decoder", tokens)
        for layer in range(1, config.decoder_layers + 1):
            prefix = f"decoder_l{tied_layer(config, layer)}"
            if config.decoder == "ssru":
                x = self.ssru(f"{prefix}_rnn", layer, x)
            else:
                x = self.attend_to_output(f"{prefix}_self", layer, x)
            x = self.attend_to_source(f"{prefix}_context", layer, x)
            x = self.feed_forward(f"{prefix}_ffn", x, config.decoder_ffn_depth)
        return self.top("decoder", x)

    def logits(self, tokens: str) -> str:
        """Write the network; return the logits that follow these tokens, the sample's first."""
        x = self.hidden(tokens)
        if not self.shortlist:
            return self.all_logits(x)
        if not self.sample:
            return self.listed_logits(x)
        return self.graph.node("Concat", self.unlisted_logits(x), self.listed_logits(x), axis=1)

    def into_slots(self, rows: str) -> str:
        """From (rows, …) to (sentences, slots, …)."""
        if self.single:
            return self.graph.node("Unsqueeze", rows, self.graph.ints(0))
        return self.graph.node("Gather", rows, self.row_of_slot)

    def out_of_slots(self, slots: str) -> str:
        """From (sentences, slots, …) to (rows, …)."""
        if self.single:
            return self.graph.node("Squeeze", slots, self.graph.ints(0))
        return self.graph.node(
            "Gather", self.graph.node("Flatten", slots, axis=2), self.slot_of_row
        )

    def state(self, name: str, shape: Sequence[Dim]) -> str:
        """Return a state of the last step, in the order of the rows of this step."""
        past = self.graph.input(f"state.{name}", "float32", ["past", *shape])
        return self.graph.node("Gather", past, self.parents)

    def ssru(self, prefix: str, layer: int, x: str) -> str:
        """Return relu(c), where c = f·c' + (1 − f)·xW, computed as xW + f·(c' − xW)."""
        graph, dim = self.graph, self.config.dim
        past = self.state(f"cell{layer}", [dim])
        y = self.before(f"{prefix}_ffn", x)
        new = self.layers.dense(y, f"{prefix}_W")
        forget = graph.node("Sigmoid", self.layers.dense(y, f"{prefix}_Wf", f"{prefix}_bf"))
        change = graph.node("Mul", forget, graph.node("Sub", past, new))
        cell = graph.node("Add", new, change)
        graph.output(f"next.cell{layer}", cell, "float32", ["rows", dim])
        return self.after(f"{prefix}_ffn", graph.node("Relu", cell), x)

    def attend_to_output(self, prefix: str, layer: int, x: str) -> str:
        """Attend to the output so far; its keys and values are the state."""
        graph, config = self.graph, self.config
        heads, size = config.heads, config.size_of_head
        y = self.before(f"{prefix}_Wo", x)
        q = self.layers.dense(y, f"{prefix}_Wq", f"{prefix}_bq")
        kept = []
        for kind in "kv":
            new = self.layers.dense(y, f"{prefix}_W{kind}", f"{prefix}_b{kind}")
            new = graph.node("Reshape", new, graph.ints(-1, heads, 1, size))
            past = self.state(f"{kind}{layer}", [heads, "past_time", size])
            if self.distances is None:
                self.distances = self.distance_biases(past)
            both = graph.node("Concat", past, new, axis=2)
            shape: list[Dim] = ["rows", heads, "time_so_far", size]
            graph.output(f"next.{kind}{layer}", both, "float32", shape)
            kept.append(both)
        if config.positions == "relative":
            tables = [self.layers.table(f"{prefix}{kind}") for kind in TABLES]
            y = self.relative.of_output(q, kept[0], kept[1], *tables)
        else:
            q = graph.node("Unsqueeze", q, graph.ints(1))  # shape: (rows, 1, dim)
            further = self.distances or ()
            y = graph.node("MultiHeadAttention", q, *kept, *further, num_heads=heads)
            y = graph.node("Squeeze", y, graph.ints(1))
        y = self.layers.dense(y, f"{prefix}_Wo", f"{prefix}_bo")
        return self.after(f"{prefix}_Wo", y, x)

    def distance_biases(self, past: str) -> list[str]:
        """Return the further inputs of attention to the output, if distances count."""
        if self.config.positions != "distances":
            return []
        return ["", "", biases_of_output(self.graph, self.layers.table("decoder_Wdist"), past)]

    def attend_to_source(self, prefix: str, layer: int, x: str) -> str:
        """Attend to the source, which the rows of a sentence share."""
        graph, config = self.graph, self.config
        shape: list[Dim] = ["sentences", config.heads, "time", config.size_of_head]
        keys, values = (graph.input(f"memory.{c}{layer}", "float32", shape) for c in "kv")
        y = self.before(f"{prefix}_Wo", x)
        q = self.layers.dense(y, f"{prefix}_Wq", f"{prefix}_bq")
        q = self.into_slots(q)
        if self.attended is not None and layer == self.attended[0] + 1:
            self.write_attention(q, keys, self.attended[1])
        mask = [] if self.single else ["", self.mask]
        y = graph.node("MultiHeadAttention", q, keys, values, *mask, num_heads=config.heads)
        y = self.out_of_slots(y)
        y = self.layers.dense(y, f"{prefix}_Wo", f"{prefix}_bo")
        return self.after(f"{prefix}_Wo", y, x)

    def write_attention(self, queries: str, keys: str, head: int | None) -> None:
        """Write where each row looks in the source."""
        mask = None if self.single else self.mask
        weights = attention_weights(self.graph, queries, keys, mask, self.config.heads, head)
        write_attention(self.graph, self.out_of_slots(weights))

    def all_logits(self, x: str) -> str:
        """Return the logits of the whole vocabulary."""
        table = output_table(self.config, self.weights)
        return self.layers.project_all(x, table, self.config.output)

    def unlisted_logits(self, x: str) -> str:
        """Return the logits of the sample, each with the logarithm of its weight added.

        The weights are those of the row's sentence: none for a token on its list, and for each
        of the others its share of all tokens that are not.
        """
        graph = self.graph
        table = output_table(self.config, self.weights)
        bias = self.layers.output_bias(table.shape[0])[self.sample]
        logits = self.layers.project(x, _some_rows(table, self.sample).T, bias, "output_sample")
        shape: list[Dim] = ["sentences", len(self.sample)]
        weights = graph.input("memory.unlisted", "float32", shape)
        if not self.single:
            weights = graph.node("Gather", weights, graph.input("sentences", "int64", ["rows"]))
        return graph.node("Add", logits, weights)

    def listed_logits(self, x: str) -> str:
        """Return the logits of each sentence's own shortlist.

        A single sentence has no axis of sentences, which would have to be added to its rows.
        """
        graph = self.graph
        size: list[Dim] = ["listed"] if self.single else ["sentences", 1, "listed"]
        columns_size: list[Dim] = [*size[:-2], self.config.dim, "listed"]
        table = output_table(self.config, self.weights)
        dtype = "int8" if isinstance(table, Int8Matrix) else "float32"
        columns = graph.input("memory.output", dtype, columns_size)
        bias = graph.input("memory.output_bias", "float32", size)
        into_slots = None if self.single else self.into_slots
        if isinstance(table, Int8Matrix):
            scale, offset = graph.input("memory.output_scale", "float32", size), ""
            if table.activation is not None and self.few_rows:
                offset = graph.input("memory.output_offset", "int32", size)
            own = Columns(columns, scale, offset, bias)
            logits = self.layers.project_listed(x, into_slots, own, table.activation)
        else:
            rows = x if self.single else self.into_slots(x)
            logits = graph.node("Add", graph.node("MatMul", rows, columns), bias)
        return logits if self.single else self.out_of_slots(logits)


def _some_rows(table: Int8Matrix | Float32, rows: Sequence[int]) -> Int8Matrix | Float32:
    """Return some rows of an output layer."""
    if isinstance(table, Int8Matrix):
        return Int8Matrix(table.values[rows], table.scale[rows], table.activation)
    return table[rows]

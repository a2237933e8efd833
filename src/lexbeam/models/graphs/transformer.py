"""The Transformer family: Firefox's students, those we train, and the cousins of Hugging Face.

Weights go by Marian's names and shapes (input dimension first), whoever trained them. The
encoder is a Transformer; the decoder attends to the source and remembers its own output by an
SSRU, a recurrent cell whose state is one vector a layer (Kim et al., 2019), or by
self-attention.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.answer import write_answer
from lexbeam.models.graphs.distances import between_all, to_the_past
from lexbeam.models.graphs.layers import ACTIVATIONS, Layers
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Weights
from lexbeam.models.graphs.writer import Dim, GraphWriter


@dataclass(frozen=True)
class TransformerConfig:
    """What has to be known of a Transformer besides its weights.

    ``preprocess``, ``postprocess`` and their kin are Marian's little programs around each
    sublayer: ``a`` adds the sublayer's input, ``n`` is layer normalisation, ``d`` (dropout)
    does nothing here.

    Where a token stands is told by ``positions``: "sinusoids" are Marian's, a "table" is one of
    the weights (``encoder_Wpos``, ``decoder_Wpos``), and "distances" leaves it to attention,
    which then weighs two places by how far apart they are (``encoder_Wdist`` from far before to
    far behind, ``decoder_Wdist`` from here backwards; a row a distance, a column a head).
    """

    source_vocabulary: int
    target_vocabulary: int
    dim: int = 256
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 2
    decoder: str = "ssru"  # or "self-attention"
    encoder_ffn_depth: int = 2
    decoder_ffn_depth: int = 2
    activation: str = "relu"  # or another of layers.ACTIVATIONS
    gated: bool = False  # feed-forward layers with a gate beside them (its weight: _Wg)
    preprocess: str = ""
    postprocess: str = "dan"
    postprocess_embedding: str = "d"
    postprocess_top: str = ""
    tied_layers: tuple[int, ...] = ()
    source_embedding: str = "Wemb"
    target_embedding: str = "Wemb"
    output: str = "Wemb"  # a name that ends in "Wemb" is a table, tied to the output
    epsilon: float = 1e-6
    head_size: int = 0  # 0: the dimension divided among the heads
    embedding_factor: float = 0.0  # 0: the root of the dimension
    positions: str = "sinusoids"  # or "table", "distances"
    norm: str = "layer"  # or "rms"
    biases: bool = True  # whether dense layers have any

    @property
    def size_of_head(self) -> int:
        """Numbers in a key."""
        return self.head_size or self.dim // self.heads

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TransformerConfig:
        """Read a configuration back from what JSON keeps of it."""
        try:
            config = cls(**{**values, "tied_layers": tuple(values.get("tied_layers", ()))})
        except TypeError as error:
            raise ModelError(f"configuration of the network: {error}") from None
        config.check()
        return config

    def describe(self) -> str:
        """Say in a few words what kind of network this is."""
        return (
            f"Transformer, {self.encoder_layers} + {self.decoder_layers} layers, dimension "
            f"{self.dim}, {self.heads} heads, {self.decoder} decoder"
        )

    def check(self) -> None:
        """Refuse numbers and names that no graph can be built from."""
        sizes = {
            "dimension": self.dim,
            "number of heads": self.heads,
            "number of encoder layers": self.encoder_layers,
            "number of decoder layers": self.decoder_layers,
            "depth of the encoder's feed-forward layers": self.encoder_ffn_depth,
            "depth of the decoder's feed-forward layers": self.decoder_ffn_depth,
        }
        for name, size in sizes.items():
            if size < 1:
                raise ModelError(f"the {name} is {size}, it must be at least 1")
        if not self.head_size and self.dim % (2 * self.heads):
            raise ModelError(f"dimension {self.dim} can't be divided among {self.heads} heads")
        choices = {
            "decoder": (self.decoder, {"ssru", "self-attention"}),
            "activation": (self.activation, ACTIVATIONS),
            "kind of positions": (self.positions, {"sinusoids", "table", "distances"}),
            "normalisation": (self.norm, {"layer", "rms"}),
        }
        for name, (choice, known) in choices.items():
            if choice not in known:
                raise ModelError(f'{name} "{choice}" is not supported')
        if self.tied_layers and len(self.tied_layers) != self.decoder_layers:
            raise ModelError(f"tied layers {self.tied_layers} for {self.decoder_layers} layers")
        for program in (self.preprocess, self.postprocess, self.postprocess_embedding):
            self._check_program(program)
        self._check_program(self.postprocess_top)

    @staticmethod
    def _check_program(program: str) -> None:
        if unknown := set(program) - set("dan"):
            raise ModelError(f'step "{min(unknown)}" in the process "{program}" is not supported')


def build(config: TransformerConfig, weights: Weights, *, shortlist: bool) -> Graphs:
    """Write the graphs of a network; with a shortlist the output is priced only in part."""
    config.check()
    try:
        return Graphs(
            _Encoder(config, weights, shortlist).write(),
            _Decoder(config, weights, shortlist).write(),
            _Decoder(config, weights, shortlist, alone=True).write(),
        )
    except KeyError as error:
        raise ModelError(f"the weight {error} is missing from the model") from None


def output_table(config: TransformerConfig, weights: Weights) -> Int8Matrix | Float32:
    """Return the output layer as a table, a row a token (that of embeddings, where tied)."""
    table = weights[config.output]
    return table if config.output.endswith("Wemb") else table.T


class _Transformer:
    """What encoder and decoder have in common: sublayers and their surroundings."""

    def __init__(
        self, config: TransformerConfig, weights: Weights, shortlist: bool, name: str
    ) -> None:
        self.config = config
        self.weights = weights
        self.shortlist = shortlist
        self.graph = GraphWriter(name)
        self.layers = Layers(
            self.graph, weights, config.epsilon, rms=config.norm == "rms", biases=config.biases
        )

    def around(
        self, program: str, prefix: str, x: str, residual: str = "", suffix: str = ""
    ) -> str:
        """Run one of the little programs around a sublayer."""
        for step in program.replace("d", ""):
            if step == "a":
                x = self.graph.node("Add", x, residual)
            else:
                x = self.layers.norm(x, f"{prefix}_ln", suffix)
        return x

    def before(self, prefix: str, x: str) -> str:
        return self.around(self.config.preprocess, prefix, x, suffix="_pre")

    def after(self, prefix: str, x: str, residual: str) -> str:
        return self.around(self.config.postprocess, prefix, x, residual)

    def top(self, side: str, x: str) -> str:
        return self.around(self.config.postprocess_top, f"{side}_top", x)

    def embed(self, name: str, side: str, tokens: str) -> str:
        """Look tokens up and add their positions; the id after the last embeds as zero."""
        dim = self.config.dim
        x = self.layers.lookup(name, tokens, self.config.embedding_factor or float(np.sqrt(dim)))
        if self.config.positions != "distances":
            x = self.graph.node("Add", x, self.graph.input("positions", "float32", ["time", dim]))
        return self.around(self.config.postprocess_embedding, f"{side}_emb", x)

    def feed_forward(self, prefix: str, x: str, depth: int) -> str:
        """Dense layers with an activation between them."""
        y = self.before(f"{prefix}_ffn", x)
        gate = self.layers.dense(y, f"{prefix}_Wg", f"{prefix}_bg") if self.config.gated else ""
        for i in range(1, depth + 1):
            activation = self.config.activation if i > 1 else ""
            y = self.layers.dense(y, f"{prefix}_W{i}", f"{prefix}_b{i}", activation, gate)
        return self.after(f"{prefix}_ffn", y, x)


class _Encoder(_Transformer):
    """Sentences in, keys and values for the decoder's attention out."""

    def __init__(self, config: TransformerConfig, weights: Weights, shortlist: bool) -> None:
        super().__init__(config, weights, shortlist, "encoder")

    def write(self) -> bytes:
        config, graph = self.config, self.graph
        tokens = graph.input("tokens", "int64", ["sentences", "time"])
        mask = graph.input("mask", "int32", ["sentences", "time"])
        x = self.embed(config.source_embedding, "encoder", tokens)
        attended = [mask]
        if config.positions == "distances":
            attended.append(between_all(graph, self.layers.table("encoder_Wdist"), tokens))
        for layer in range(1, config.encoder_layers + 1):
            x = self.attend_to_itself(f"encoder_l{layer}_self", x, attended)
            x = self.feed_forward(f"encoder_l{layer}_ffn", x, config.encoder_ffn_depth)
        x = self.top("encoder", x)
        self.give_memory(x, mask)
        if self.shortlist:
            self.give_candidates()
        return graph.model()

    def attend_to_itself(self, prefix: str, x: str, attended: Sequence[str]) -> str:
        y = self.before(f"{prefix}_Wo", x)
        q, k, v = (self.layers.dense(y, f"{prefix}_W{c}", f"{prefix}_b{c}") for c in "qkv")
        heads = self.config.heads
        y = self.graph.node("MultiHeadAttention", q, k, v, "", *attended, num_heads=heads)
        y = self.layers.dense(y, f"{prefix}_Wo", f"{prefix}_bo")
        return self.after(f"{prefix}_Wo", y, x)

    def give_memory(self, x: str, mask: str) -> None:
        """Keys and values a decoder layer, split into heads once and for all."""
        config, graph = self.config, self.graph
        size = config.size_of_head
        shape: list[Dim] = ["sentences", config.heads, "time", size]
        graph.output("memory.mask", mask, "int32", ["sentences", "time"])
        for layer in range(1, config.decoder_layers + 1):
            prefix = f"decoder_l{tied(config, layer)}_context"
            for kind in "kv":
                y = self.layers.dense(x, f"{prefix}_W{kind}", f"{prefix}_b{kind}")
                y = graph.node("Reshape", y, graph.ints(0, 0, config.heads, size))
                y = graph.node("Transpose", y, perm=[0, 2, 1, 3])
                graph.output(f"memory.{kind}{layer}", y, "float32", shape)

    def give_candidates(self) -> None:
        """Gather the output layer of each sentence's own shortlist."""
        graph = self.graph
        size: list[Dim] = ["sentences", 1, "listed"]
        candidates = graph.input("candidates", "int64", ["sentences", "listed"])
        table = output_table(self.config, self.weights)
        columns, scale = self.layers.columns(self.config.output, table, candidates)
        dtype = "int8" if scale else "float32"
        graph.output("memory.output", columns, dtype, ["sentences", self.config.dim, "listed"])
        if scale:
            graph.output("memory.output_scale", scale, "float32", size)
        bias = graph.constant(self.layers.output_bias(table.shape[0]))
        bias = graph.node("Gather", bias, graph.node("Unsqueeze", candidates, graph.ints(1)))
        graph.output("memory.output_bias", bias, "float32", size)


def tied(config: TransformerConfig, layer: int) -> int:
    """Return the number of the layer whose weights a decoder layer uses."""
    return config.tied_layers[layer - 1] if config.tied_layers else layer


class _Decoder(_Transformer):
    """One step: the token just taken in, the best next tokens out.

    Rows step into the slots of their sentence where these share something, and back. For a
    sentence that is alone that is no work, and nothing of its source has to be masked.
    """

    def __init__(
        self, config: TransformerConfig, weights: Weights, shortlist: bool, alone: bool = False
    ) -> None:
        super().__init__(config, weights, shortlist, "decoder")
        self.alone = alone
        self.distances: list[str] | None = None  # weighed in the first layer, for all

    def write(self) -> bytes:
        config, graph = self.config, self.graph
        tokens = graph.input("tokens", "int64", ["rows"])
        self.parents = graph.input("parents", "int64", ["rows"])
        if not self.alone:
            self.slots = graph.input("slots", "int64", ["sentences", "slots"])
            self.places = graph.input("places", "int64", ["rows"])
            self.mask = graph.input("memory.mask", "int32", ["sentences", "time"])
        x = self.embed(config.target_embedding, "decoder", tokens)
        for layer in range(1, config.decoder_layers + 1):
            prefix = f"decoder_l{tied(config, layer)}"
            if config.decoder == "ssru":
                x = self.ssru(f"{prefix}_rnn", layer, x)
            else:
                x = self.attend_to_output(f"{prefix}_self", layer, x)
            x = self.attend_to_source(f"{prefix}_context", layer, x)
            x = self.feed_forward(f"{prefix}_ffn", x, config.decoder_ffn_depth)
        self.price(self.top("decoder", x))
        return graph.model()

    def into_slots(self, rows: str) -> str:
        """From (rows, …) to (sentences, slots, …)."""
        if self.alone:
            return self.graph.node("Unsqueeze", rows, self.graph.ints(0))
        return self.graph.node("Gather", rows, self.slots)

    def out_of_slots(self, slots: str) -> str:
        """From (sentences, slots, …) to (rows, …)."""
        if self.alone:
            return self.graph.node("Squeeze", slots, self.graph.ints(0))
        return self.graph.node("Gather", self.graph.node("Flatten", slots, axis=2), self.places)

    def state(self, name: str, shape: Sequence[Dim]) -> str:
        """Take a state of the step before, in the order of the rows of this step."""
        past = self.graph.input(f"state.{name}", "float32", ["past", *shape])
        return self.graph.node("Gather", past, self.parents)

    def ssru(self, prefix: str, layer: int, x: str) -> str:
        """Forget and add: c = f·c' + (1 − f)·xW, here as xW + f·(c' − xW); out goes relu(c)."""
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
        """Self-attention over the output so far, its keys and values kept as state."""
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
                self.distances = self.weigh_distances(past)
            both = graph.node("Concat", past, new, axis=2)
            shape: list[Dim] = ["rows", heads, "time_so_far", size]
            graph.output(f"next.{kind}{layer}", both, "float32", shape)
            kept.append(both)
        q = graph.node("Unsqueeze", q, graph.ints(1))  # shape: (rows, 1, dim)
        y = graph.node("MultiHeadAttention", q, *kept, *(self.distances or ()), num_heads=heads)
        y = self.layers.dense(
            graph.node("Squeeze", y, graph.ints(1)), f"{prefix}_Wo", f"{prefix}_bo"
        )
        return self.after(f"{prefix}_Wo", y, x)

    def weigh_distances(self, past: str) -> list[str]:
        """Return what attention to the output takes on account of distances, if anything."""
        if self.config.positions != "distances":
            return []
        return ["", "", to_the_past(self.graph, self.layers.table("decoder_Wdist"), past)]

    def attend_to_source(self, prefix: str, layer: int, x: str) -> str:
        """Attention over the source, which the rows of a sentence share."""
        graph, config = self.graph, self.config
        shape: list[Dim] = ["sentences", config.heads, "time", config.size_of_head]
        keys, values = (graph.input(f"memory.{c}{layer}", "float32", shape) for c in "kv")
        y = self.before(f"{prefix}_Wo", x)
        q = self.layers.dense(y, f"{prefix}_Wq", f"{prefix}_bq")
        mask = [] if self.alone else ["", self.mask]
        y = graph.node(
            "MultiHeadAttention", self.into_slots(q), keys, values, *mask, num_heads=config.heads
        )
        y = self.out_of_slots(y)
        y = self.layers.dense(y, f"{prefix}_Wo", f"{prefix}_bo")
        return self.after(f"{prefix}_Wo", y, x)

    def price(self, x: str) -> None:
        """Log-probabilities of the next token, and of them only what was asked for."""
        logits = self.listed_logits(x) if self.shortlist else self.all_logits(x)
        write_answer(self.graph, logits)

    def all_logits(self, x: str) -> str:
        table = output_table(self.config, self.weights)
        return self.layers.project_all(x, table, self.config.output)

    def listed_logits(self, x: str) -> str:
        """Each sentence's rows against the output columns of its own shortlist."""
        graph = self.graph
        size: list[Dim] = ["sentences", 1, "listed"]
        table = output_table(self.config, self.weights)
        dtype = "int8" if isinstance(table, Int8Matrix) else "float32"
        columns = graph.input("memory.output", dtype, ["sentences", self.config.dim, "listed"])
        bias = graph.input("memory.output_bias", "float32", size)
        if isinstance(table, Int8Matrix):
            scale = graph.input("memory.output_scale", "float32", size)
            logits = self.layers.project_listed(
                x, self.into_slots, columns, scale, table.activation
            )
        else:
            logits = graph.node("MatMul", self.into_slots(x), columns)
        logits = graph.node("Add", logits, bias)  # shape: (sentences, slots, listed)
        return self.out_of_slots(logits)

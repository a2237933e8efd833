"""The paper's kind of network: a recurrent encoder-decoder with attention.

`lexbeam.train.rnn` trains it. The first encoder layer reads in both directions. The first decoder
layer attends to the source, and the context goes into all layers above. An LSTM has the weights
``_W`` (of its input), ``_U`` (of its last output) and ``_b``, with the gates side by side: input,
forget, candidate, output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.graphs.attention_weights import attention_weights, write_attention
from lexbeam.models.graphs.layers import OUTPUT_BIAS, Layers
from lexbeam.models.graphs.step_outputs import write_step_outputs
from lexbeam.models.graphs.weights import Int8Matrix, Weights
from lexbeam.models.graphs.writer import GraphWriter

TABLE = "Wemb"
_RUNTIME_ORDER = (0, 3, 1, 2)  # input, output, forget, candidate: the runtime's own LSTM


@dataclass(frozen=True)
class RnnConfig(Architecture, kind="rnn"):
    """What has to be known of a recurrent network besides its weights."""

    sizes: ClassVar[Mapping[str, str]] = {
        "dim": "dimension",
        "encoder_layers": "number of encoder layers",
        "decoder_layers": "number of decoder layers",
    }

    source_vocabulary: int
    target_vocabulary: int
    dim: int = 256
    encoder_layers: int = 4
    decoder_layers: int = 4

    def describe(self) -> str:
        """Return a short description for people."""
        layers = f"{self.encoder_layers} + {self.decoder_layers} layers"
        return f"recurrent network with attention, {layers}, dimension {self.dim}"

    def check(self) -> None:
        """Raise ModelError for sizes that no graph can be built from."""
        super().check()
        if self.dim % 2:
            raise ModelError(f"the dimension {self.dim} can't be divided among two directions")

    def shapes(self) -> Iterable[tuple[str, tuple[int | None, ...]]]:
        """Return the shapes of all weights."""
        dim = self.dim
        yield from (
            (TABLE, (size, dim)) for size in (self.source_vocabulary, self.target_vocabulary)
        )
        yield OUTPUT_BIAS, (self.target_vocabulary,)
        cells = [(f"encoder_l1_{way}", dim, dim // 2) for way in ("forward", "backward")]
        cells += [(f"encoder_l{layer}", dim, dim) for layer in range(2, self.encoder_layers + 1)]
        cells += [("decoder_l1", dim, dim)]
        cells += [
            (f"decoder_l{layer}", 2 * dim, dim) for layer in range(2, self.decoder_layers + 1)
        ]
        for name, read, size in cells:
            yield f"{name}_W", (read, 4 * size)
            yield f"{name}_U", (size, 4 * size)
            yield f"{name}_b", (4 * size,)
        yield "decoder_query_W", (dim, dim)
        yield "decoder_top_W", (2 * dim, dim)
        yield "decoder_top_b", (dim,)

    def build(
        self,
        weights: Weights,
        *,
        shortlist: bool = False,
        sample: Sequence[int] = (),  # noqa: ARG002  (there is no shortlist)
        bare: bool = False,  # noqa: ARG002  (the output layer is always in the graph)
    ) -> Graphs:
        """Write the graphs of the network."""
        self.check()
        self.check_shapes(weights)
        if shortlist:
            raise ModelError("recurrent networks don't take a shortlist: remove shortlist.bin")
        try:
            return Graphs(_Encoder(self, weights).write(), _Decoder(self, weights).write())
        except KeyError as error:
            raise ModelError(f"the weight {error} is missing from the model") from None

    def build_attending(
        self,
        weights: Weights,
        *,
        single: bool = False,  # noqa: ARG002  (there is one decoder for all batches)
        shortlist: bool = False,  # noqa: ARG002  (`build` has refused it)
        sample: Sequence[int] = (),  # noqa: ARG002  (the same)
        alignment: tuple[int, int] | None = None,  # noqa: ARG002  (there is one attention)
        bare: bool = False,  # noqa: ARG002  (as in `build`)
    ) -> bytes:
        """Write the decoder that also says where it looks."""
        try:
            return _Decoder(self, weights, attends=True).write()
        except KeyError as error:
            raise ModelError(f"the weight {error} is missing from the model") from None


class _Network:
    """What encoder and decoder have in common."""

    def __init__(self, config: RnnConfig, weights: Weights, name: str) -> None:
        self.config = config
        self.weights = weights
        self.graph = GraphWriter(name)
        self.layers = Layers(self.graph, weights, epsilon=0.0)

    def embed(self, tokens: str) -> str:
        return self.layers.lookup(TABLE, tokens, float(np.sqrt(self.config.dim)))


class _Encoder(_Network):
    """Takes sentences, returns what the decoder attends to."""

    def __init__(self, config: RnnConfig, weights: Weights) -> None:
        super().__init__(config, weights, "encoder")

    def write(self) -> bytes:
        config, graph = self.config, self.graph
        tokens = graph.input("tokens", "int64", ["sentences", "time"])
        mask = graph.input("mask", "int32", ["sentences", "time"])
        lengths = graph.node("ReduceSum", mask, graph.ints(1), keepdims=0)
        x = graph.node("Transpose", self.embed(tokens), perm=[1, 0, 2])
        x = self.lstm(x, lengths, "encoder_l1_forward", "encoder_l1_backward")
        for layer in range(2, config.encoder_layers + 1):
            x = graph.node("Add", x, self.lstm(x, lengths, f"encoder_l{layer}"))
        x = graph.node("Transpose", x, perm=[1, 0, 2])  # shape: (sentences, time, dim)
        x = graph.node("Unsqueeze", x, graph.ints(1))
        graph.output("memory.mask", mask, "int32", ["sentences", "time"])
        graph.output("memory.encoded", x, "float32", ["sentences", 1, "time", config.dim])
        return graph.model()

    def lstm(self, x: str, lengths: str, *directions: str) -> str:
        """Run over whole sentences, in one or both directions. # shape: (time, sentences, dim)."""
        graph, size = self.graph, self.config.dim // len(directions)
        w, u = (self._stack(f"_{kind}", directions, size) for kind in "WU")
        bias = np.stack([self._bias(f"{name}_b", size) for name in directions])
        direction = "bidirectional" if len(directions) > 1 else "forward"
        if isinstance(w[0], Int8Matrix):
            inputs = [*self._int8_stack(w), *self._int8_stack(u)]
            y = graph.node(
                "DynamicQuantizeLSTM",
                x,
                inputs[0],
                inputs[3],
                graph.constant(bias),
                lengths,
                *("", "", ""),
                *inputs[1:3],
                *inputs[4:],
                direction=direction,
                hidden_size=size,
            )
        else:
            matrices = [graph.constant(np.stack([m.T for m in stack])) for stack in (w, u)]
            y = graph.node(
                "LSTM",
                x,
                *matrices,
                graph.constant(bias),
                lengths,
                direction=direction,
                hidden_size=size,
            )
        y = graph.node("Transpose", y, perm=[0, 2, 1, 3])
        return graph.node("Reshape", y, graph.ints(0, 0, self.config.dim))

    def _stack(self, suffix: str, directions: tuple[str, ...], size: int) -> list[Any]:
        """Return a matrix of each direction with the gates in the runtime's order."""
        order = _gate_order(size)
        stack: list[Any] = []
        for name in directions:
            weight = self.weights[name + suffix]
            if isinstance(weight, Int8Matrix):
                stack.append(Int8Matrix(weight.values[:, order], weight.scale[:, order]))
            else:
                stack.append(weight[:, order])
        return stack

    def _int8_stack(self, stack: list[Int8Matrix]) -> tuple[str, str, str]:
        """Return values, scales and zero points of one matrix per direction."""
        scale = np.concatenate([matrix.scale for matrix in stack])  # shape: (directions, gates)
        return (
            self.graph.constant(np.stack([matrix.values for matrix in stack])),
            self.graph.constant(scale),
            self.graph.constant(np.zeros(scale.shape, np.int8)),
        )

    def _bias(self, name: str, size: int) -> NDArray[np.float32]:
        bias = self.layers.vector(name)[_gate_order(size)]
        return np.concatenate([bias, np.zeros_like(bias)])


def _gate_order(size: int) -> NDArray[np.int64]:
    return np.concatenate([np.arange(size) + gate * size for gate in _RUNTIME_ORDER])


class _Decoder(_Network):
    """One step: takes the last token of each row, returns the best next tokens."""

    def __init__(self, config: RnnConfig, weights: Weights, *, attends: bool = False) -> None:
        super().__init__(config, weights, "decoder")
        self.attends = attends

    def write(self) -> bytes:
        config, graph = self.config, self.graph
        tokens = graph.input("tokens", "int64", ["rows"])
        self.parents = graph.input("parents", "int64", ["rows"])
        x = self.cell("decoder_l1", 1, self.embed(tokens))
        context = self.attend(x)
        for layer in range(2, config.decoder_layers + 1):
            y = graph.node("Concat", x, context, axis=1)
            x = graph.node("Add", x, self.cell(f"decoder_l{layer}", layer, y))
        y = graph.node("Concat", x, context, axis=1)
        y = graph.node("Tanh", self.layers.dense(y, "decoder_top_W", "decoder_top_b"))
        write_step_outputs(graph, self.layers.project_all(y, self.weights[TABLE]))
        return graph.model()

    def cell(self, prefix: str, layer: int, x: str) -> str:
        """Take one step of an LSTM; return its output."""
        graph, dim = self.graph, self.config.dim
        past = []
        for kind in "hc":
            before = graph.input(f"state.{kind}{layer}", "float32", ["past", dim])
            past.append(graph.node("Gather", before, self.parents))
        gates = graph.node(
            "Add",
            self.layers.dense(x, f"{prefix}_W", f"{prefix}_b"),
            self.layers.dense(past[0], f"{prefix}_U"),
        )
        opening, forget, new, out = graph.nodes("Split", gates, outputs=4, axis=1, num_outputs=4)
        kept = graph.node("Mul", graph.node("Sigmoid", forget), past[1])
        added = graph.node("Mul", graph.node("Sigmoid", opening), graph.node("Tanh", new))
        c = graph.node("Add", kept, added)
        h = graph.node("Mul", graph.node("Sigmoid", out), graph.node("Tanh", c))
        for kind, value in (("h", h), ("c", c)):
            graph.output(f"next.{kind}{layer}", value, "float32", ["rows", dim])
        return h

    def attend(self, x: str) -> str:
        """Attend to the source; rows are arranged in the slots of their sentences meanwhile."""
        graph, dim = self.graph, self.config.dim
        row_of_slot = graph.input("row_of_slot", "int64", ["sentences", "slots"])
        slot_of_row = graph.input("slot_of_row", "int64", ["rows"])
        mask = graph.input("memory.mask", "int32", ["sentences", "time"])
        encoded = graph.input("memory.encoded", "float32", ["sentences", 1, "time", dim])
        q = graph.node("Gather", self.layers.dense(x, "decoder_query_W"), row_of_slot)
        if self.attends:
            weights = attention_weights(graph, q, encoded, mask, 1, None)
            weights = graph.node("Gather", graph.node("Flatten", weights, axis=2), slot_of_row)
            write_attention(graph, weights)
        y = graph.node("MultiHeadAttention", q, encoded, encoded, "", mask, num_heads=1)
        return graph.node("Gather", graph.node("Flatten", y, axis=2), slot_of_row)

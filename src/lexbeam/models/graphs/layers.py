"""The layers that networks are made of: dense layers, normalisation, embeddings.

A dense layer is computed in eight bits if its matrix is an `Int8Matrix`, and in single precision
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.graphs.weights import Float32, Int8Matrix, Observed, Weights
from lexbeam.models.graphs.writer import GraphWriter

ACTIVATIONS = ("relu", "swish", "gelu", "gelu_tanh", "gelu_sigmoid")
ROUNDINGS = ("tensor", "rows", "rows down")
"""How the input of a product in eight bits is rounded: with one range for all of its rows, or
each row with its own, to the nearest number or downwards."""

OUTPUT_BIAS = "decoder_ff_logit_out_b"
_NORM = ("scale", "bias")
_MIDDLE = 128  # stands for zero in unsigned eight bits
_LARGEST = 127
_FLOAT, _UINT8 = 1, 2  # TensorProto.DataType
_TINY = 1e-30  # what the largest magnitude of a row of zeros is taken for
_GELU_SIGMOID = 1.702  # the sigmoid of this many times x is close to GELU's share of x


class Quantised(NamedTuple):
    """The names of the values that make up an activation in eight bits."""

    values: str
    scale: str
    zero: str
    of_rows: str = ""
    """The scale of each row, where ``scale`` is 1. # shape: (…, 1)"""


class Columns(NamedTuple):
    """The names of the values that make up each sentence's own part of the output layer."""

    values: str  # shape: (sentences, dim, listed)
    scale: str = ""  # shape: (sentences, 1, listed), that of the input included if it is known
    offset: str = ""  # shape: (sentences, 1, listed), what a sum has too much where zero is 128
    bias: str = ""  # shape: (sentences, 1, listed)


class Layers:
    """Write layers into a graph; weights are given by name.

    With ``rms``, normalisation divides by the root mean square and does not centre. Without
    ``biases``, dense layers only multiply. ``rounding`` is one of `ROUNDINGS`.
    """

    def __init__(
        self,
        graph: GraphWriter,
        weights: Weights,
        epsilon: float,
        *,
        rms: bool = False,
        biases: bool = True,
        rounding: str = "tensor",
    ) -> None:
        self._graph = graph
        self._weights = weights
        self._epsilon = epsilon
        self._rms = rms
        self._biases = biases
        self._rounding = rounding
        self._quantised: dict[tuple[str, float | None, int], Quantised] = {}
        self._tables: dict[str, str] = {}

    def vector(self, name: str) -> Float32:
        """Return a weight as a vector, whatever its shape in the file."""
        weight = self._weights[name]
        if isinstance(weight, Int8Matrix):
            weight = weight.to_float()
        return weight.reshape(-1)

    def table(self, name: str) -> Float32:
        """Return a weight that is a small table, in single precision."""
        weight = self._weights[name]
        return weight.to_float() if isinstance(weight, Int8Matrix) else weight

    def norm(self, x: str, name: str, suffix: str = "") -> str:
        """Normalise the last axis."""
        names = [f"{name}_scale{suffix}"] if self._rms else [f"{name}_{w}{suffix}" for w in _NORM]
        weights = [self._graph.constant(self.vector(each), each) for each in names]
        kind = "SimplifiedLayerNormalization" if self._rms else "LayerNormalization"
        return self._graph.node(kind, x, *weights, axis=-1, epsilon=self._epsilon)

    def dense(self, x: str, name: str, bias: str = "", after: str = "", gate: str = "") -> str:
        """Multiply by a matrix and add a bias.

        ``after`` is the activation that is applied to the input first; its result is multiplied
        with ``gate``, if there is one.
        """
        weight = self._weights[name]
        offset = self.vector(bias) if bias and self._biases else None
        if len(weight.shape) != 2 or (offset is not None and len(offset) != weight.shape[1]):
            raise ModelError(f"the weight {name} has the shape {weight.shape}, or its bias another")
        rectified = after == "relu" and not gate
        if rectified and isinstance(weight, Int8Matrix) and weight.activation is not None:
            # Rounding to unsigned integers sets negative values to zero, as the rectifier would.
            return self._int8(self.quantise(x, weight.activation, zero=0), weight, offset, name)
        y = self._activate(x, after)
        if after and gate:
            y = self._graph.node("Mul", y, gate)
        return self.project(y, weight, offset, name, "rectified" if rectified else "peak")

    def _activate(self, x: str, activation: str) -> str:
        if not activation:
            return x
        if activation == "relu":
            return self._graph.node("Relu", x)
        if activation == "swish":
            return self._graph.node("Mul", x, self._graph.node("Sigmoid", x))
        if activation == "gelu_sigmoid":
            factor = self._graph.constant(np.array(_GELU_SIGMOID, np.float32))
            share = self._graph.node("Sigmoid", self._graph.node("Mul", x, factor))
            return self._graph.node("Mul", x, share)
        if activation.startswith("gelu"):
            tanh = activation == "gelu_tanh"
            return self._graph.node("Gelu", x, approximate="tanh" if tanh else "none")
        raise ModelError(f'activation "{activation}" is not supported')

    def project(
        self,
        x: str,
        weight: Float32 | Int8Matrix,
        bias: Float32 | None,
        name: str = "output",
        observe_as: str = "peak",
    ) -> str:
        """Multiply by a matrix, in its own precision, and add a bias."""
        if isinstance(weight, Int8Matrix):
            return self._int8(self.quantise(x, weight.activation), weight, bias, name)
        self._observe(x, name, observe_as)
        y = self._graph.node("MatMul", x, self._graph.constant(weight, name))
        return y if bias is None else self._graph.node("Add", y, self._graph.constant(bias))

    def _observe(self, x: str, name: str, kind: str) -> None:
        """Return the largest input of a matrix from the graph, if it is to be measured."""
        if isinstance(self._weights, Observed):
            peak = self._graph.node("ReduceMax", self._graph.node("Abs", x), keepdims=0)
            self._graph.output(f"{kind}.{name}", peak, "float32", [])

    def quantise(self, x: str, multiplier: float | None, zero: int = _MIDDLE) -> Quantised:
        """Round an activation to eight bits; layers with the same input share the result."""
        key = (x, multiplier, zero)
        if key not in self._quantised:
            graph = self._graph
            if multiplier is not None:
                scale = graph.constant(np.array(1 / multiplier, np.float32))
                offset = graph.constant(np.array(zero, np.uint8))
                names = [graph.node("QuantizeLinear", x, scale, offset), scale, offset]
            elif self._rounding == "tensor":
                names = graph.nodes("DynamicQuantizeLinear", x, outputs=3)
            else:
                names = self._quantise_rows(x)
            self._quantised[key] = Quantised(*names)
        return self._quantised[key]

    def _quantise_rows(self, x: str) -> list[str]:
        """Round each row with the multiplier that makes its largest magnitude 127.

        This and `_scale_rows` take the steps of CTranslate2 in its order: one that gives another
        last digit lets numbers be rounded the other way, and each of those changes many others.
        """
        graph = self._graph
        one, nothing = graph.constant(np.array(1, np.float32)), np.array(0, np.uint8)
        peak = graph.node("ReduceMax", graph.node("Abs", x), graph.ints(-1), keepdims=1)
        peak = graph.node("Max", peak, graph.constant(np.array(_TINY, np.float32)))
        largest = graph.constant(np.array(_LARGEST, np.float32))
        multiplier = graph.node("Div", largest, peak)
        middle = graph.constant(np.array(_MIDDLE, np.float32))
        y = graph.node("Add", graph.node("Mul", x, multiplier), middle)
        if self._rounding == "rows":
            values = graph.node("QuantizeLinear", y, one, graph.constant(nothing))
        else:
            values = graph.node("Cast", y, to=_UINT8)
        zero = graph.constant(np.array(_MIDDLE, np.uint8))
        return [values, one, zero, graph.node("Div", one, multiplier)]

    def _int8(self, x: Quantised, weight: Int8Matrix, bias: Float32 | None, name: str) -> str:
        graph = self._graph
        values, scale = graph.constant(weight.values, name), weight.scale.reshape(-1)
        if (scale == scale[0]).all():  # the runtime multiplies each by that of x, at every run
            scale = scale[:1]
        if x.of_rows:
            y = graph.node("MatMulIntegerToFloat", x.values, values, x.scale, x.scale, x.zero)
            y = self._scale_rows(y, x.of_rows, graph.constant(1 / scale))
            return y if bias is None else graph.node("Add", y, graph.constant(bias))
        inputs = [x.values, values, x.scale, graph.constant(scale), x.zero]
        if bias is not None:
            inputs += ["", graph.constant(bias)]
        return graph.node("MatMulIntegerToFloat", *inputs)

    def _scale_rows(self, sums: str, of_rows: str, multipliers: str) -> str:
        """Return products from sums, given the scales of rows and the multipliers of columns."""
        return self._graph.node("Div", self._graph.node("Mul", sums, of_rows), multipliers)

    def project_all(self, x: str, table: Float32 | Int8Matrix, name: str = "output") -> str:
        """Return the logits of the whole vocabulary, and one more that is minus infinity."""
        bias = self.output_bias(table.shape[0])
        if not isinstance(table, Int8Matrix):
            self._observe(x, name, "peak")
            rows = self._table(name, table)  # of the embeddings, too, where they are tied
            return self._graph.node("Gemm", x, rows, self._graph.constant(bias), transB=1)
        scale = np.append(table.scale, np.ones((1, 1), np.float32), axis=0)
        padded = Int8Matrix(_padded(table.values), scale, table.activation)
        return self.project(x, padded.T, bias, name)

    def project_listed(
        self,
        x: str,
        into_slots: Callable[[str], str] | None,
        columns: Columns,
        multiplier: float | None,
    ) -> str:
        """Multiply the rows in each sentence's slots by that sentence's own columns; add its bias.

        Without slots there is one sentence, and nothing has an axis of sentences.

        Where the columns have offsets, integers are multiplied as they are: for sentences of one
        row each the runtime then takes a third of the time, because it need not rearrange the
        columns first. What comes out is the same.
        """
        graph = self._graph
        values, x_scale, zero, of_rows = self.quantise(x, multiplier)
        if into_slots is not None:
            values = into_slots(values)  # shape: (sentences, slots, dim)
        if columns.offset:
            y = graph.node("MatMulInteger", values, columns.values)
            y = graph.node("Cast", graph.node("Add", y, columns.offset), to=_FLOAT)
            return graph.node("Add", graph.node("Mul", y, columns.scale), columns.bias)
        if multiplier is not None:  # it is in the scale of the columns
            x_scale = graph.constant(np.array(1, np.float32))
        given = values, columns.values, x_scale, columns.scale, zero
        if into_slots is None and not of_rows:  # a bias of one axis can be added by the product
            return graph.node("MatMulIntegerToFloat", *given, "", columns.bias)
        y = graph.node("MatMulIntegerToFloat", *given)
        if of_rows:
            y = graph.node("Mul", y, into_slots(of_rows) if into_slots is not None else of_rows)
        return graph.node("Add", y, columns.bias)

    def lookup(self, name: str, tokens: str, factor: float) -> str:
        """Return embeddings, times a factor; those of the id past the end are zeros."""
        graph, table = self._graph, self._weights[name]
        rows = graph.node("Gather", self._table(name, table), tokens)
        if not isinstance(table, Int8Matrix):
            return graph.node("Mul", rows, graph.constant(np.array(factor, np.float32)))
        if self._rounding != "tensor":  # as CTranslate2 does it, see _quantise_rows
            multipliers = np.append(1 / table.scale, np.ones((1, 1), np.float32), axis=0)
            divisors = graph.node("Gather", graph.constant(multipliers), tokens)
            rows = graph.node("Div", graph.node("Cast", rows, to=1), divisors)
            return graph.node("Mul", rows, graph.constant(np.array(factor, np.float32)))
        scale = np.append(table.scale * np.float32(factor), np.zeros((1, 1), np.float32), axis=0)
        scales = graph.node("Gather", graph.constant(scale), tokens)
        return graph.node("Mul", graph.node("Cast", rows, to=1), scales)

    def _table(self, name: str, table: Float32 | Int8Matrix) -> str:
        """Add a table to the graph, once."""
        if name not in self._tables:
            rows = table.values if isinstance(table, Int8Matrix) else table
            self._tables[name] = self._graph.constant(_padded(rows), name)
        return self._tables[name]

    def columns(self, name: str, table: Float32 | Int8Matrix, candidates: str) -> Columns:
        """Return the output columns of each sentence."""
        graph = self._graph
        rows = graph.node("Gather", self._table(name, table), candidates)
        columns = graph.node("Transpose", rows, perm=[0, 2, 1])
        index, offset = graph.node("Unsqueeze", candidates, graph.ints(1)), ""
        bias = graph.node("Gather", graph.constant(self.output_bias(table.shape[0])), index)
        if not isinstance(table, Int8Matrix):
            return Columns(columns, bias=bias)
        scale = np.append(table.scale.reshape(-1), np.float32(0))
        if table.activation is not None:
            scale = scale * np.float32(1 / table.activation)
            sums = np.append(table.values.sum(axis=1, dtype=np.int32), np.int32(0))
            offset = graph.node("Gather", graph.constant(-_MIDDLE * sums), index)
        return Columns(columns, graph.node("Gather", graph.constant(scale), index), offset, bias)

    def output_bias(self, size: int) -> Float32:
        """Return the output bias; the entry past the end is minus infinity."""
        known = OUTPUT_BIAS in self._weights
        bias = self.vector(OUTPUT_BIAS) if known else np.zeros(size, np.float32)
        return np.append(bias, np.float32(-np.inf))


def _padded(table: NDArray[Any]) -> NDArray[Any]:
    """Append a row of zeros, for the id of no token."""
    return np.concatenate([table, np.zeros_like(table[:1])])

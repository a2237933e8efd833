"""Write ONNX models without the ``onnx`` package.

A model file is a protocol-buffer message, and the part of the schema that a network needs is
small: this module puts the bytes down directly. Field numbers are those of ``onnx.proto``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.protobuf import bytes_field, field_head, float_field, int_field

_IR_VERSION = 10
_OPSETS = {"": 21, "com.microsoft": 1}
_CONTRIB = frozenset(
    {
        "DynamicQuantizeLSTM",
        "FusedMatMul",
        "MatMulIntegerToFloat",
        "MultiHeadAttention",
        "SkipLayerNormalization",
    }
)
_DTYPES: Mapping[str, int] = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "int32": 6,
    "int64": 7,
    "bool": 9,
}
_LARGEST = (1 << 31) - (1 << 16)  # bytes of a graph, with some left for what is around it
_FLOAT, _INT, _STRING, _GRAPH, _INTS = 1, 2, 3, 5, 7  # AttributeProto.AttributeType

Buffer = bytes | memoryview
Dim = int | str
Attribute = int | float | str | bytes | Sequence[int]
"""Bytes are a graph: the body of a loop."""


def _attribute(name: str, value: Attribute) -> bytes:
    head = bytes_field(1, name)
    if isinstance(value, float):
        return head + float_field(2, value) + int_field(20, _FLOAT)
    if isinstance(value, int):
        return head + int_field(3, value) + int_field(20, _INT)
    if isinstance(value, str):
        return head + bytes_field(4, value) + int_field(20, _STRING)
    if isinstance(value, bytes):
        return head + bytes_field(6, value) + int_field(20, _GRAPH)
    return head + b"".join(int_field(8, item) for item in value) + int_field(20, _INTS)


def _tensor(name: str, array: NDArray[Any]) -> list[Buffer]:
    """Return a tensor in parts, its numbers not copied."""
    dims = b"".join(int_field(1, size) for size in array.shape)
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    numbers = data.reshape(-1).view(np.uint8).data
    head = dims + int_field(2, _DTYPES[array.dtype.name]) + bytes_field(8, name)
    return [head, field_head(9, len(numbers)), numbers]


def _value_info(name: str, dtype: str, shape: Sequence[Dim]) -> bytes:
    dims = b"".join(
        bytes_field(1, int_field(1, dim) if isinstance(dim, int) else bytes_field(2, dim))
        for dim in shape
    )
    tensor_type = int_field(1, _DTYPES[dtype]) + bytes_field(2, dims)
    return bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor_type))


class _Node(NamedTuple):
    op: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    attributes: Mapping[str, Attribute]


def _node(node: _Node, named: Mapping[str, str]) -> bytes:
    parts = [bytes_field(1, named.get(name, name)) for name in node.inputs]
    parts += [bytes_field(2, named.get(name, name)) for name in node.outputs]
    parts += [bytes_field(4, node.op)]
    parts += [bytes_field(5, _attribute(name, value)) for name, value in node.attributes.items()]
    parts += [bytes_field(7, "com.microsoft" if node.op in _CONTRIB else "")]
    return b"".join(parts)


class GraphWriter:
    """Collect the nodes and constants of one graph; values are known by their names."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[_Node] = []
        self._named: dict[str, str] = {}  # values that are given out, and under which name
        self._constants: list[list[Buffer]] = []
        self._inputs: list[bytes] = []
        self._outputs: dict[str, bytes] = {}
        self._count = 0

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def input(self, name: str, dtype: str, shape: Sequence[Dim]) -> str:
        """Declare an input of the graph."""
        self._inputs.append(_value_info(name, dtype, shape))
        return name

    def output(self, name: str, value: str, dtype: str, shape: Sequence[Dim]) -> None:
        """Give a value out of the graph under a name of its own."""
        made_here = any(value in node.outputs for node in self._nodes)
        if made_here and value not in self._named:
            self._named[value] = name
        else:
            self._nodes.append(_Node("Identity", [value], [name], {}))
        self._outputs[name] = _value_info(name, dtype, shape)

    def constant(self, array: NDArray[Any], name: str = "constant") -> str:
        """Add a constant tensor."""
        unique = self._fresh(name)
        self._constants.append(_tensor(unique, array))
        return unique

    def ints(self, *values: int) -> str:
        """Add a constant list of integers, as shapes and axes are given."""
        return self.constant(np.array(values, np.int64))

    def node(self, op: str, *inputs: str, **attributes: Attribute) -> str:
        """Add a node with one output and return the name of its value."""
        return self.nodes(op, *inputs, outputs=1, **attributes)[0]

    def nodes(self, op: str, *inputs: str, outputs: int, **attributes: Attribute) -> list[str]:
        """Add a node with several outputs and return the names of its values."""
        names = [self._fresh(op) for _ in range(outputs)]
        self._nodes.append(_Node(op, inputs, names, attributes))
        return names

    def _parts(self) -> list[Buffer]:
        """Return the finished graph in parts."""
        graph: list[Buffer] = [bytes_field(1, _node(node, self._named)) for node in self._nodes]
        graph += [bytes_field(2, self._name)]
        for parts in self._constants:
            graph += [field_head(5, sum(map(len, parts))), *parts]
        graph += [bytes_field(11, value) for value in self._inputs]
        graph += [bytes_field(12, value) for value in self._outputs.values()]
        return graph

    def model(self) -> bytes:
        """Return the finished model as the content of an ``.onnx`` file."""
        graph = self._parts()
        size = sum(map(len, graph))
        if size > _LARGEST:
            raise ModelError(
                f"the {self._name} takes {size / 1e9:.1f} GB as a graph, and ONNX has room for 2: "
                "keep its weights in eight bits"
            )
        opsets = [
            bytes_field(1, domain) + int_field(2, version) for domain, version in _OPSETS.items()
        ]
        return b"".join(
            [int_field(1, _IR_VERSION), bytes_field(2, "lexbeam"), field_head(7, size), *graph]
            + [bytes_field(8, opset) for opset in opsets]
        )


class BodyWriter(GraphWriter):
    """The body of a loop, which may use what the graph around it has.

    What it takes as `input` is an input of that graph, the same in every turn. What changes from
    turn to turn is `carried`; the first two of these are the number of the turn and a condition.
    """

    def __init__(self, name: str, around: GraphWriter) -> None:
        super().__init__(name)
        self._around = around

    def _fresh(self, stem: str) -> str:
        return super()._fresh(f"{self._name}.{stem}")

    def input(self, name: str, dtype: str, shape: Sequence[Dim]) -> str:
        """Declare an input of the graph around this one."""
        return self._around.input(name, dtype, shape)

    def carried(self, name: str, dtype: str, shape: Sequence[Dim]) -> str:
        """Declare a value that each turn takes from the one before."""
        return super().input(f"{self._name}.{name}", dtype, shape)

    def body(self, outputs: Sequence[str]) -> bytes:
        """Return the finished body, as the attribute of a node; name its outputs in order."""
        self._outputs = {name: self._outputs[name] for name in outputs}
        return b"".join(self._parts())

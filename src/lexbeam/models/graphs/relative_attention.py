"""Attention with a key and a value for the distance between two tokens (Shaw et al., 2018).

Each layer has two tables, one row per distance from far before to far behind. Distances beyond a
table share its first or last row.
"""

from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.weights import Float32
from lexbeam.models.graphs.writer import GraphWriter

TABLES = ("_Rk", "_Rv")
"""How the names of the tables of keys and of values end."""

_BOOL = 9  # TensorProto.DataType


class RelativeAttention:
    """Writes the attention of a text to itself, with the distances of one side of a network.

    ``heads`` and ``size`` are the number of heads and the numbers in a key.
    """

    def __init__(self, graph: GraphWriter, heads: int, size: int) -> None:
        self._graph = graph
        self._heads = heads
        self._size = size
        self._rows: dict[int, str] = {}  # the rows of all distances, by the size of a table

    def of_source(
        self, qkv: tuple[str, str, str], mask: str, keys: Float32, values: Float32
    ) -> str:
        """Attend from all tokens to all tokens. # shape of all: (sentences, time, heads · size)."""
        graph = self._graph
        q, k, v = (self._split(x) for x in qkv)
        length = graph.node("Shape", q, start=2, end=3)
        rows = self._rows_between_all(len(keys), length)
        scores = graph.node("FusedMatMul", q, k, transB=1)
        scores = graph.node("Add", scores, self._by_distance(q, keys, rows, transposed=1))
        inside = graph.node("Unsqueeze", graph.node("Cast", mask, to=_BOOL), graph.ints(1, 2))
        scores = graph.node("Where", inside, scores, self._float(-np.inf))
        weights = self._softmax(scores)
        y = graph.node("MatMul", weights, v)
        y = graph.node("Add", y, self._by_distance(weights, values, rows, transposed=0))
        y = graph.node("Transpose", y, perm=[0, 2, 1, 3])
        return graph.node("Reshape", y, graph.ints(0, 0, self._heads * self._size))

    def of_output(self, q: str, k: str, v: str, keys: Float32, values: Float32) -> str:
        """Attend from the last token of each row to all tokens of its output.

        ``q`` has the shape (rows, heads · size), the other two (rows, heads, time, size).
        """
        graph = self._graph
        q = graph.node("Reshape", q, graph.ints(0, self._heads, 1, self._size))
        rows = self._rows_before_last(len(keys), graph.node("Shape", k, start=2, end=3))
        key_of, value_of = (
            graph.node("Gather", graph.constant(table), rows) for table in (keys, values)
        )
        scores = graph.node("FusedMatMul", q, k, transB=1)
        scores = graph.node("Add", scores, graph.node("FusedMatMul", q, key_of, transB=1))
        weights = self._softmax(scores)
        y = graph.node("Add", *(graph.node("MatMul", weights, each) for each in (v, value_of)))
        return graph.node("Reshape", y, graph.ints(0, self._heads * self._size))

    def _split(self, x: str) -> str:
        """From (sentences, time, heads · size) to (sentences, heads, time, size)."""
        shape = self._graph.ints(0, 0, self._heads, self._size)
        return self._graph.node(
            "Transpose", self._graph.node("Reshape", x, shape), perm=[0, 2, 1, 3]
        )

    def _softmax(self, scores: str) -> str:
        scaled = self._graph.node("Mul", scores, self._float(self._size**-0.5))
        return self._graph.node("Softmax", scaled, axis=-1)

    def _by_distance(self, x: str, table: Float32, rows: str, transposed: int) -> str:
        """Multiply each token of x with what the table has for its distances.

        # shape of x and of the result: (sentences, heads, time, …)
        """
        graph = self._graph
        found = graph.node("Gather", graph.constant(table), rows)  # shape: (time, time, size)
        by_token = graph.node("Transpose", x, perm=[2, 0, 1, 3])
        together = graph.node("Reshape", by_token, graph.node("Concat", *self._merged(x), axis=0))
        y = graph.node("FusedMatMul", together, found, transB=transposed)
        apart = [graph.node("Shape", by_token, end=3), graph.ints(-1)]
        y = graph.node("Reshape", y, graph.node("Concat", *apart, axis=0))
        return graph.node("Transpose", y, perm=[1, 2, 0, 3])

    def _merged(self, x: str) -> list[str]:
        """Return the shape (time, sentences · heads, …) of x in three parts."""
        graph = self._graph
        time, last = (graph.node("Shape", x, start=axis, end=axis + 1) for axis in (2, 3))
        return [time, graph.ints(-1), last]

    def _rows_between_all(self, count: int, length: str) -> str:
        """Return the row of each pair's distance in a table. # shape: (time, time)."""
        if count not in self._rows:
            graph = self._graph
            indices = self._range(length)
            to_index = graph.node("Unsqueeze", indices, graph.ints(0))
            from_index = graph.node("Unsqueeze", indices, graph.ints(1))
            self._rows[count] = self._clip(graph.node("Sub", to_index, from_index), count)
        return self._rows[count]

    def _rows_before_last(self, count: int, length: str) -> str:
        """Return the row of each token's distance from the last one. # shape: (time,)."""
        if count not in self._rows:
            graph = self._graph
            last = graph.node("Sub", length, graph.ints(1))
            self._rows[count] = self._clip(graph.node("Sub", self._range(length), last), count)
        return self._rows[count]

    def _range(self, length: str) -> str:
        scalar = self._graph.node("Squeeze", length, self._graph.ints(0))
        return self._graph.node("Range", self._int(0), scalar, self._int(1))

    def _clip(self, distance: str, count: int) -> str:
        reach = count // 2  # the row of distance 0
        near = self._graph.node("Clip", distance, self._int(-reach), self._int(reach))
        return self._graph.node("Add", near, self._int(reach))

    def _int(self, value: int) -> str:
        return self._graph.constant(np.array(value, np.int64))

    def _float(self, value: float) -> str:
        return self._graph.constant(np.array(value, np.float32))

"""Where a decoder looks: the weights of its attention to the source as an output of a step."""

from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.writer import GraphWriter

_BOOL = 9  # TensorProto.DataType


def attention_weights(
    graph: GraphWriter, queries: str, keys: str, mask: str | None, heads: int, head: int | None
) -> str:
    """Return the weights of one head, or their mean over all heads; padding has weight 0.

    ``queries`` has the shape (sentences, slots, heads · size), ``keys`` (sentences, heads, time,
    size), ``mask`` (sentences, time). # shape: (sentences, slots, time)
    """
    queries = graph.node("Reshape", queries, graph.ints(0, 0, heads, -1))
    queries = graph.node("Transpose", queries, perm=[0, 2, 1, 3])
    if head is not None:
        queries, keys = (
            graph.node("Gather", each, graph.ints(head), axis=1) for each in (queries, keys)
        )
    size = graph.node("Cast", graph.node("Shape", keys, start=3), to=1)
    queries = graph.node("Div", queries, graph.node("Sqrt", size))
    scores = graph.node("FusedMatMul", queries, keys, transB=1)
    if mask is not None:
        inside = graph.node("Unsqueeze", graph.node("Cast", mask, to=_BOOL), graph.ints(1, 2))
        nothing = graph.constant(np.array(-np.inf, np.float32))
        scores = graph.node("Where", inside, scores, nothing)
    weights = graph.node("Softmax", scores, axis=-1)
    return graph.node("ReduceMean", weights, graph.ints(1), keepdims=0)


def write_attention(graph: GraphWriter, weights: str) -> None:
    """Write the weights of all rows as an output. # shape: (rows, time)."""
    graph.output("attention", weights, "float32", ["rows", "time"])

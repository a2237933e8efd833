"""Biases that attention adds for the distance between two tokens (T5).

The weights are tables with one row per distance and one column per head. Distances beyond the
table share its last row.
"""

from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.weights import Float32
from lexbeam.models.graphs.writer import GraphWriter


def biases_of_source(graph: GraphWriter, table: Float32, tokens: str) -> str:
    """Return the biases between all tokens of a source. # shape: (1, heads, time, time)."""
    reach = len(table) // 2  # the row of distance 0, between those before and those behind
    length = graph.node("Gather", graph.node("Shape", tokens), _number(graph, 1))
    indices = graph.node("Range", _number(graph, 0), length, _number(graph, 1))
    from_index = graph.node("Unsqueeze", indices, graph.ints(1))
    to_index = graph.node("Unsqueeze", indices, graph.ints(0))
    distance = graph.node("Sub", to_index, from_index)
    near = graph.node("Clip", distance, _number(graph, -reach), _number(graph, reach))
    rows = graph.node("Add", near, _number(graph, reach))
    biases = graph.node("Gather", graph.constant(table), rows)  # shape: (time, time, heads)
    return graph.node("Unsqueeze", graph.node("Transpose", biases, perm=[2, 0, 1]), graph.ints(0))


def biases_of_output(graph: GraphWriter, table: Float32, past: str) -> str:
    """Return the biases from the last token to all tokens of the output, itself included.

    # shape: (1, heads, 1, time)
    """
    length = graph.node("Gather", graph.node("Shape", past), _number(graph, 2))
    minus_one = _number(graph, -1)
    distance = graph.node("Range", length, minus_one, minus_one)
    rows = graph.node("Min", distance, _number(graph, len(table) - 1))
    biases = graph.node("Gather", graph.constant(table), rows)  # shape: (time, heads)
    biases = graph.node("Transpose", biases, perm=[1, 0])
    return graph.node("Unsqueeze", biases, graph.ints(0, 2))


def _number(graph: GraphWriter, value: int) -> str:
    return graph.constant(np.array(value, np.int64))

"""Attention by distance: what is added to its scores for two places so far apart (T5).

The weights are tables with a row a distance; whatever is farther apart than the table is long
counts as its last row.
"""

from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.weights import Float32
from lexbeam.models.graphs.writer import GraphWriter


def between_all(graph: GraphWriter, table: Float32, tokens: str) -> str:
    """Weigh every place of a source against every other. # shape: (1, heads, time, time)."""
    reach = len(table) // 2  # the row of distance 0, between those before and those behind
    time = graph.node("Gather", graph.node("Shape", tokens), _number(graph, 1))
    places = graph.node("Range", _number(graph, 0), time, _number(graph, 1))
    here = graph.node("Unsqueeze", places, graph.ints(1))
    there = graph.node("Unsqueeze", places, graph.ints(0))
    distance = graph.node("Sub", there, here)
    near = graph.node("Clip", distance, _number(graph, -reach), _number(graph, reach))
    rows = graph.node("Add", near, _number(graph, reach))
    weights = graph.node("Gather", graph.constant(table), rows)  # shape: (time, time, heads)
    return graph.node("Unsqueeze", graph.node("Transpose", weights, perm=[2, 0, 1]), graph.ints(0))


def to_the_past(graph: GraphWriter, table: Float32, past: str) -> str:
    """Weigh the output so far, the token just taken included. # shape: (1, heads, 1, time)."""
    time = graph.node("Gather", graph.node("Shape", past), _number(graph, 2))
    minus_one = _number(graph, -1)
    distance = graph.node("Range", time, minus_one, minus_one)
    rows = graph.node("Min", distance, _number(graph, len(table) - 1))
    weights = graph.node("Gather", graph.constant(table), rows)  # shape: (time, heads)
    weights = graph.node("Transpose", weights, perm=[1, 0])
    return graph.node("Unsqueeze", weights, graph.ints(0, 2))


def _number(graph: GraphWriter, value: int) -> str:
    return graph.constant(np.array(value, np.int64))

"""The output layer of a network by itself, for engines that compute it outside of the graph."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from lexbeam.models.graphs.layers import OUTPUT_BIAS
from lexbeam.models.graphs.weights import Float32, Int8, Int8Matrix, Weights

MULTIPLE = 4
"""What the dimension has to be a multiple of."""


class OutputLayer(NamedTuple):
    """An output layer in eight bits, one row per token."""

    values: Int8  # shape: (vocabulary, dim)
    scale: Float32  # shape: (vocabulary,)
    bias: Float32  # shape: (vocabulary,)
    activation: float
    """What hidden layers are multiplied by before they are rounded; 0: see ``rounding``."""
    rounding: str
    """One of `layers.ROUNDINGS`, where there is no fixed multiplier."""

    @classmethod
    def of(cls, table: Int8Matrix | Float32, weights: Weights, rounding: str) -> Self | None:
        """Return an output layer, if it is in eight bits and engines can compute it."""
        if not isinstance(table, Int8Matrix) or table.shape[1] % MULTIPLE:
            return None
        bias = weights.get(OUTPUT_BIAS, np.zeros(table.shape[0], np.float32))
        bias = bias.to_float() if isinstance(bias, Int8Matrix) else bias
        return cls(
            np.array(table.values, order="C"),
            np.array(np.broadcast_to(table.scale.reshape(-1), table.shape[:1]), np.float32),
            np.array(bias.reshape(-1), np.float32),
            table.activation or 0.0,
            rounding,
        )

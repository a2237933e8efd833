"""A moving average of the weights: nearly what a decay would make of them, at any moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

FIRST_STEPS = 10
"""Until many times as many steps are done, the average forgets faster: it begins with noise."""


class MovingAverage:
    """Follows a network's weights, exponentially weighted."""

    def __init__(self, network: nn.Module, share: float) -> None:
        self.weights = {name: weight.clone() for name, weight in network.state_dict().items()}
        self._share = share

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """Take in the weights after a step."""
        share = min(self._share, (step + 1) / (step + FIRST_STEPS))
        for name, weight in network.state_dict().items():
            self.weights[name].lerp_(weight, 1 - share)

    def load(self, weights: dict[str, Tensor]) -> None:
        """Go on from weights that were kept."""
        self.weights = {name: weight.clone() for name, weight in weights.items()}

    @contextmanager
    def instead(self, network: nn.Module) -> Iterator[None]:
        """Give the network the average for a while."""
        own = {name: weight.clone() for name, weight in network.state_dict().items()}
        network.load_state_dict(self.weights)
        try:
            yield
        finally:
            network.load_state_dict(own)

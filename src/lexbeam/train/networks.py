"""The networks that can be trained: each module that is imported here registers one."""

from __future__ import annotations

from lexbeam.errors import InputError
from lexbeam.train import rnn, transformer  # noqa: F401
from lexbeam.train.config import NetworkConfig
from lexbeam.train.parts import NETWORKS, TiedNetwork


def check_kind(kind: str) -> None:
    """Raise InputError for a kind of network that can't be trained."""
    if kind not in NETWORKS:
        known = ", ".join(sorted(NETWORKS, reverse=True))
        raise InputError(f"network.kind: {kind!r} is not one of {known}")


def make_network(config: NetworkConfig, vocabulary_size: int) -> TiedNetwork:
    """Make an untrained network."""
    return NETWORKS[config.kind](config, vocabulary_size)

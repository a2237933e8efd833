"""Fields of a bundle's manifest that not every model has, checked against its network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lexbeam.errors import ModelError
from lexbeam.models.graphs.rnn import RnnConfig
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.model import Framing

ALIGNED = ("layer", "head")


def read_framing(values: Mapping[str, Any], config: TransformerConfig | RnnConfig) -> Framing:
    """Read the tokens around texts, each of which must be one of its vocabulary."""
    known = {field.name for field in fields(Framing)}
    if not isinstance(values, dict) or not values.keys() <= known:
        raise ModelError(f'"framing" must have the fields {", ".join(sorted(known))} and no others')
    framing: dict[str, Any] = {}
    for name, tokens in values.items():
        size = config.source_vocabulary if "source" in name else config.target_vocabulary
        if tokens is None and name == "source_suffix":
            continue
        if not isinstance(tokens, list) or not all(
            isinstance(token, int) and 0 <= token < size for token in tokens
        ):
            raise ModelError(f'"{name}" must be a list of ids below {size}, not {tokens}')
        framing[name] = tuple(tokens)
    return Framing(**framing)


def read_alignment(values: Any, config: TransformerConfig | RnnConfig) -> dict[str, int] | None:
    """Read which decoder layer and head align; None if it is not known."""
    if values is None:
        return None
    limits = 1, 1  # of an RNN: its first layer alone looks at the source
    if isinstance(config, TransformerConfig):
        limits = config.decoder_layers, config.heads
    known = {name: range(limit) for name, limit in zip(ALIGNED, limits, strict=True)}
    if not isinstance(values, dict) or values.keys() != known.keys():
        raise ModelError(f'"alignment" must have the fields {" and ".join(known)}')
    for name, value in values.items():
        if type(value) is not int or value not in known[name]:
            raise ModelError(f'"alignment": {name} must be below {len(known[name])}, not {value}')
    return values

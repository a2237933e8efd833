"""The ``config.json`` of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lexbeam.errors import ModelError

LARGEST_NUMBER = 10_000_000
"""No network has a size beyond this."""

_ACTIVATIONS = {
    "relu": "relu",
    "swish": "swish",
    "silu": "swish",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}


class Settings:
    """The content of a ``config.json``; errors name the setting that is wrong."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number."""
        value = self.values.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ModelError(f'config.json: "{name}" must be a number, not {value!r}')
        if not 0 <= value <= LARGEST_NUMBER:
            raise ModelError(f'config.json: "{name}" is {value}; the limit is {LARGEST_NUMBER}')
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return a text; the default if it is missing or empty."""
        return str(self.values.get(name) or default)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value of any type."""
        return self.values.get(name, default)


def activation(name: str) -> str:
    """Return our name of an activation function."""
    if name not in _ACTIVATIONS:
        raise ModelError(f'config.json: the activation "{name}" is not supported')
    return _ACTIVATIONS[name]

"""Tuples of arrays and numbers as bytes, to be kept in a cache beside graphs."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np


def to_bytes(fields: Mapping[str, Any]) -> bytes:
    """Return what `from_bytes` reads."""
    stream = BytesIO()
    np.savez(stream, **fields)
    return stream.getvalue()


def from_bytes(data: bytes) -> dict[str, Any]:
    """Return fields by name; what is no array of at least one axis, as Python has it."""
    with np.load(BytesIO(data)) as stored:
        return {name: value if value.ndim else value.item() for name, value in stored.items()}

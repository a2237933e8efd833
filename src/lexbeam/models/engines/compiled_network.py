"""The compiled module for networks in eight bits, and whether it can be used."""

from __future__ import annotations

from typing import Any

from lexbeam.compiled_modules import OFF, SETTING, load

_usable, _reason = load("lexbeam.models.engines", "_network")
compiled: Any = None if OFF else _usable
"""The compiled functions; None: they are not built, or turned off."""

LEVEL: int = 0 if compiled is None else compiled.LEVEL
"""The instructions that can be used: 2 with AVX-512 VNNI, 1 with AVX2, 0 for none of both."""

BLOCK = 16
"""Outputs whose weights are packed side by side."""


def describe() -> str:
    """Return what computes networks in eight bits, for users."""
    if LEVEL:
        return f"compiled, {'AVX-512 VNNI' if LEVEL > 1 else 'AVX2'}"
    reason = _reason or (f"{SETTING}=off" if OFF else "the processor has no AVX2")
    return f"ONNX Runtime ({reason})"

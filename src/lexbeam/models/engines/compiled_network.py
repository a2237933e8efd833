"""The compiled module for networks in eight bits, and whether it can be used."""

from __future__ import annotations

from typing import Any

from lexbeam.compiled import OFF, load

compiled: Any = None if OFF else load("lexbeam.models.engines", "_network")[0]
"""The compiled functions; None: they are not built, or turned off."""

LEVEL: int = 0 if compiled is None else compiled.LEVEL
"""The instructions that can be used: 2 with AVX-512 VNNI, 1 with AVX2, 0 for none of both."""

BLOCK = 16
"""Outputs whose weights are packed side by side."""

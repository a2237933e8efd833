"""BLEU for the tables of benchmarks, where sacreBLEU is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec


def show_bleu(outputs: Sequence[str], references: Sequence[str]) -> str:
    """Return BLEU with two decimals, or a dash if sacreBLEU is not installed."""
    if find_spec("sacrebleu") is None:
        return "–"
    score: float = import_module("sacrebleu").corpus_bleu(outputs, [references]).score
    return f"{score:.2f}"

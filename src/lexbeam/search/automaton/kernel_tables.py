"""The tables of an automaton as the compiled kernel reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.arrays import BoolArray, SparseBits
from lexbeam.search.automaton.asked_and_banned import AskedAndBanned
from lexbeam.search.automaton.completions import BegunPhrases, Completion
from lexbeam.search.automaton.multipart import MultipartPatterns
from lexbeam.search.automaton.transitions import Transitions

Layers = NDArray[Any]
"""Tables by layer and node. # shape: (layers, nodes)"""

_NOTHING = np.empty(0, np.int64)
_NO_PATTERNS = np.empty(0, np.bool_), *[_NOTHING] * 5, np.zeros(1, np.int64), *[_NOTHING] * 4
"""The tables of patterns where no constraint has several parts."""


def make_tables(
    transitions: Transitions,
    listed: AskedAndBanned,
    serves: NDArray[np.uint64],
    now: Sequence[Completion],
    later: Sequence[Completion],
    begun: Sequence[BegunPhrases],
    boundary: BoolArray | None,
    multipart: MultipartPatterns | None,
) -> object:
    """Return the tables for the compiled kernel; sets of bits have a single array each.

    ``now`` and ``later`` are what is completed at once, and when its word ends.
    """
    assert kernel.compiled is not None
    nodes = len(serves)
    keys, targets = transitions.listed or (_NOTHING, _NOTHING)
    arrays = (
        transitions.symbol,
        transitions.from_root,
        transitions.row_of_node,
        transitions.move_symbols,
        transitions.move_targets,
        keys,
        targets,
        listed.row_of_node,
        listed.ask_tokens,
        listed.ask_targets,
        serves,
        *_completions(now, nodes),
        *_completions(later, nodes),
        _stack([layer.gain for layer in begun], nodes),
        _stack([_dense(layer.begun, nodes) for layer in begun], nodes),
        _stack([_dense(layer.needs, nodes) for layer in begun], nodes),
        np.empty(0, np.bool_) if boundary is None else boundary,
        *(_NO_PATTERNS if multipart is None else multipart.tables(len(transitions.symbol))),
    )
    return kernel.compiled.tables(tuple(map(np.ascontiguousarray, arrays)), transitions.symbols)


def _completions(layers: Sequence[Completion], nodes: int) -> tuple[Layers, ...]:
    none = np.zeros(nodes, np.uint64)
    return (
        _stack([layer.sets[0] for layer in layers], nodes),
        _stack([none if layer.repeats is None else layer.repeats[0] for layer in layers], nodes),
        _stack([_dense(layer.needs, nodes) for layer in layers], nodes),
        _stack([layer.weight for layer in layers], nodes),
    )


def _dense(bits: SparseBits, nodes: int) -> NDArray[np.uint64]:
    return bits[0][1] if bits else np.zeros(nodes, np.uint64)


def _stack(layers: Sequence[NDArray[Any]], nodes: int) -> Layers:
    return np.stack(layers) if layers else np.empty((0, nodes), np.int64)

"""The tables of an automaton as the compiled kernel reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.arrays import Bits, BoolArray, SparseBits, fill_in_empty, side_by_side
from lexbeam.search.automaton.asked_and_banned import AskedAndBanned
from lexbeam.search.automaton.completions import BegunPhrases, Completion
from lexbeam.search.automaton.multipart import MultipartPatterns
from lexbeam.search.automaton.transitions import Transitions

Layers = NDArray[Any]
"""Tables by layer and node; sets of bits lie side by side. # shape: (layers, nodes, …)"""

MOST_BIT_ARRAYS = 32
"""How many arrays a set of bits may take."""

_NOTHING = np.empty(0, np.int64)
_NO_PATTERNS = np.empty(0, np.bool_), *[_NOTHING] * 5, np.zeros(1, np.int64), *[_NOTHING] * 4
"""The tables of patterns where no constraint has several parts."""


def make_tables(
    transitions: Transitions,
    listed: AskedAndBanned,
    serves: Bits,
    now: Sequence[Completion],
    later: Sequence[Completion],
    begun: Sequence[BegunPhrases],
    boundary: BoolArray | None,
    multipart: MultipartPatterns | None,
) -> object:
    """Return the tables for the compiled kernel.

    ``now`` and ``later`` are what is completed at once, and when its word ends.
    """
    assert kernel.compiled is not None
    nodes, arrays = len(serves[0]), len(serves)

    def dense(bits: SparseBits) -> NDArray[np.uint64]:
        return side_by_side(fill_in_empty(bits, arrays, (nodes,)))

    keys, targets = transitions.listed or (_NOTHING, _NOTHING)
    tables = (
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
        side_by_side(serves),
        *_completions(now, dense),
        *_completions(later, dense),
        _stack([layer.gain for layer in begun]),
        _stack([dense(layer.begun) for layer in begun]),
        _stack([dense(layer.needs) for layer in begun]),
        np.empty(0, np.bool_) if boundary is None else boundary,
        *(_NO_PATTERNS if multipart is None else multipart.tables(len(transitions.symbol))),
    )
    in_one_piece = tuple(map(np.ascontiguousarray, tables))
    return kernel.compiled.tables(in_one_piece, transitions.symbols, arrays)


def _completions(
    layers: Sequence[Completion], dense: Callable[[SparseBits], NDArray[np.uint64]]
) -> tuple[Layers, ...]:
    return (
        _stack([side_by_side(layer.sets) for layer in layers]),
        _stack([dense(tuple(enumerate(layer.repeats or ()))) for layer in layers]),
        _stack([dense(layer.needs) for layer in layers]),
        _stack([layer.weight for layer in layers]),
    )


def _stack(layers: Sequence[NDArray[Any]]) -> Layers:
    return np.stack(layers) if layers else _NOTHING

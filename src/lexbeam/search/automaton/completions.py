"""What ends and what has begun at each node, packed in layers: one entry per node in each layer.

Most nodes end one phrase or none, so there are few layers; going through all of them is a
handful of array operations, however many hypotheses there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import (
    Bits,
    BoolArray,
    IntArray,
    SparseBits,
    intersects,
    leave_out_empty,
    pack_bits,
)
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import Goal, Progress

_Entry = TypeVar("_Entry")

_MANY_LAYERS = 3
"""With so many layers, each is only looked at where there is something in it."""


@dataclass(frozen=True)
class Completion:
    """One goal that ends at each node; if several end at a node, there are several layers."""

    sets: Bits  # shape of each array: (nodes,)
    repeats: Bits | None
    needs: SparseBits
    weight: IntArray  # shape: (nodes,)
    touched: tuple[int, ...]
    """The numbers of the arrays that have bits to set."""
    there: BoolArray
    """A mask of the nodes at which there is a goal. # shape: (nodes,)"""

    @cached_property
    def rows_of_sets(self) -> NDArray[np.uint64]:
        """What each node sets, side by side. # shape: (nodes, arrays)."""
        return np.stack(self.sets, axis=1)

    @cached_property
    def rows_of_repeats(self) -> NDArray[np.uint64]:
        """What each node repeats, side by side. # shape: (nodes, arrays)."""
        assert self.repeats is not None
        return np.stack(self.repeats, axis=1)

    @cached_property
    def rows_of_needs(self) -> NDArray[np.uint64]:
        """What each node needs, side by side. # shape: (nodes, arrays)."""
        rows = np.zeros((len(self.weight), len(self.sets)), np.uint64)
        for number, bits in self.needs:
            rows[:, number] = bits
        return rows


@dataclass(frozen=True)
class BegunPhrases:
    """One suffix of each node that has begun a phrase; the one with most tokens comes first."""

    gain: IntArray  # shape: (nodes,), the constraint tokens in the bank for it
    node: IntArray  # shape: (nodes,), the node of the suffix
    begun: SparseBits
    needs: SparseBits


def pack_completions(
    ends: Sequence[tuple[int, Sequence[Goal]]], nodes: int, bit_arrays: int
) -> list[Completion]:
    """Pack what ends at some of so many nodes, with sets of bits in so many arrays."""
    return [_pack_goal_layer(*layer, nodes, bit_arrays) for layer in _layers(ends)]


def _pack_goal_layer(
    at: Sequence[int], goals: Sequence[Goal], nodes: int, bit_arrays: int
) -> Completion:
    repeats = [goal.repeats for goal in goals]
    needs = [goal.needed(len(goal.tokens)) if goal.needs else 0 for goal in goals]
    sets = _spread_bits(at, [goal.sets for goal in goals], nodes, bit_arrays)
    repeated, changed = None, sets
    if any(repeats):
        repeated = _spread_bits(at, repeats, nodes, bit_arrays)
        changed = tuple(one | other for one, other in zip(sets, repeated, strict=True))
    return Completion(
        sets,
        repeated,
        _spread_sparse(at, needs, nodes, bit_arrays),
        _spread_numbers(at, [goal.weight for goal in goals], nodes),
        tuple(number for number, array in enumerate(changed) if array.any()),
        np.logical_or.reduce([array != 0 for array in changed]),
    )


def _spread_numbers(at: Sequence[int], numbers: Sequence[int], nodes: int) -> IntArray:
    """Return the numbers of some nodes in an array of all, 0 at the others. # shape: (nodes,)."""
    spread = np.zeros(nodes, np.int64)
    spread[at] = numbers
    return spread


def _spread_bits(at: Sequence[int], sets: Sequence[int], nodes: int, bit_arrays: int) -> Bits:
    """Return the sets of some nodes in arrays of all, empty at the others."""
    spread = tuple(np.zeros(nodes, np.uint64) for _ in range(bit_arrays))
    for array, bits in zip(spread, pack_bits(sets, bit_arrays), strict=True):
        array[at] = bits
    return spread


def _spread_sparse(
    at: Sequence[int], sets: Sequence[int], nodes: int, bit_arrays: int
) -> SparseBits:
    """Return the same without arrays that are empty."""
    if not any(sets):
        return ()
    packed = enumerate(_spread_bits(at, sets, nodes, bit_arrays))
    return tuple((number, array) for number, array in packed if array.any())


def pack_progress(
    progress: Sequence[tuple[int, Sequence[Progress]]], roots: IntArray, bit_arrays: int
) -> list[BegunPhrases]:
    """Pack what has begun at some nodes; ``roots`` has the root of each node's trie."""
    packed = []
    nodes = len(roots)
    for at, layer in _layers(progress):
        wanted = _spread_bits(at, [one.wanted for one in layer], nodes, bit_arrays)
        packed.append(
            BegunPhrases(
                _spread_numbers(at, [one.gain for one in layer], nodes),
                roots + _spread_numbers(at, [one.node for one in layer], nodes),
                leave_out_empty(wanted),
                _spread_sparse(at, [one.needs for one in layer], nodes, bit_arrays),
            )
        )
    return packed


def _layers(
    rows: Sequence[tuple[int, Sequence[_Entry]]],
) -> Iterator[tuple[list[int], list[_Entry]]]:
    """Turn lists of some nodes into layers with one entry of each that has so many.

    Yields the nodes of each layer, and their entries.
    """
    for number in range(max((len(row) for _, row in rows), default=0)):
        rows = [(node, row) for node, row in rows if number < len(row)]
        yield [node for node, _ in rows], [row[number] for _, row in rows]


def is_in_progress(layer: BegunPhrases, states: States, unmet: Bits) -> BoolArray:
    """Return a mask of those whose suffix has begun something that is of use."""
    of_use = intersects(layer.begun, states.node, unmet)
    if layer.needs:
        of_use &= is_allowed(layer.needs, states.node, states.seen)
    return of_use


def tokens_in_progress(layers: Sequence[BegunPhrases], states: States, unmet: Bits) -> IntArray:
    """Return the tokens of the longest beginning of something unmet that each output ends in."""
    most: IntArray | None = None
    for layer in layers:
        gain = layer.gain[states.node] * is_in_progress(layer, states, unmet)
        most = gain if most is None else np.maximum(most, gain)
    assert most is not None
    return most


def nodes_in_progress(layers: Sequence[BegunPhrases], states: States) -> IntArray:
    """Return the node of the phrase in progress, 0 where there is none."""
    node = np.zeros_like(states.node)
    unmet = states.unmet
    for layer in reversed(layers):
        begun = is_in_progress(layer, states, unmet)
        node = np.where(begun, layer.node[states.node], node)
    return node


def is_allowed(needs: SparseBits, node: IntArray, bits: Bits) -> BoolArray:
    """Return a mask of those that have one of the bits needed, or need none."""
    free: BoolArray | None = None
    there: BoolArray | None = None
    for number, array in needs:
        needed = array[node]
        none, some = needed == 0, (needed & bits[number]) != 0
        free = none if free is None else free & none
        there = some if there is None else there | some
    return np.ones(node.shape, np.bool_) if free is None or there is None else free | there


def complete(
    layers: Sequence[Completion], node: IntArray, met: Bits, met_tokens: IntArray
) -> tuple[Bits, IntArray]:
    """Mark the phrases that end at the nodes as met, each occurrence once."""
    if len(layers) >= _MANY_LAYERS and len(met) > 1 and met_tokens.shape == node.shape:
        return _complete_some(layers, node, met, met_tokens)
    for layer in layers:
        met, new = _complete_layer(layer, node, met)
        if new is not None:
            met_tokens = met_tokens + layer.weight[node] * (new != 0)
    return met, met_tokens


def mark(layers: Sequence[Completion], node: IntArray, met: Bits) -> Bits:
    """Mark the phrases that end at the nodes as met, and do not count their tokens."""
    for layer in layers:
        met, _ = _complete_layer(layer, node, met)
    return met


def _complete_some(
    layers: Sequence[Completion], node: IntArray, met: Bits, met_tokens: IntArray
) -> tuple[Bits, IntArray]:
    """Do the same where there are many layers: each is looked at where there is something in it."""
    shape, node, tokens = node.shape, node.ravel(), met_tokens.ravel().copy()
    all_bits = np.stack([bits.ravel() for bits in met], axis=1)  # shape: (hypotheses, arrays)
    for layer in layers:
        rows = layer.there[node].nonzero()[0]
        if not len(rows):
            continue
        here, bits = node[rows], all_bits[rows]
        new = layer.rows_of_sets[here]
        if layer.repeats is not None:
            shifted = bits << np.uint64(1)
            shifted[:, 1:] |= bits[:, :-1] >> np.uint64(63)
            new |= shifted & layer.rows_of_repeats[here]
        new &= ~bits
        if layer.needs:
            needed = layer.rows_of_needs[here]
            new[needed.any(axis=1) & ~(needed & bits).any(axis=1)] = 0
        all_bits[rows] = bits | new
        tokens[rows] += layer.weight[here] * new.any(axis=1)
    grown = np.ascontiguousarray(all_bits.T)
    return tuple(bits.reshape(shape) for bits in grown), tokens.reshape(shape)


def _complete_layer(
    layer: Completion, node: IntArray, met: Bits
) -> tuple[Bits, NDArray[np.uint64] | None]:
    """Mark one of the phrases that end at each node as met; also return where that is new."""
    allowed = is_allowed(layer.needs, node, met) if layer.needs else None
    grown = list(met)
    new_anywhere: NDArray[np.uint64] | None = None
    for number in layer.touched:
        bits = met[number]
        new = layer.sets[number][node]
        if layer.repeats is not None:
            shifted = bits << np.uint64(1)
            if number:
                shifted = shifted | (met[number - 1] >> np.uint64(63))
            new = new | (shifted & layer.repeats[number][node])
        new = new & ~bits
        if allowed is not None:
            new = np.where(allowed, new, np.uint64(0))
        grown[number] = bits | new
        new_anywhere = new if new_anywhere is None else new_anywhere | new
    return tuple(grown), new_anywhere

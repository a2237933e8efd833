"""Soft constraints: they may be given up, for a penalty.

An output may end as soon as it has what can't be given up. For everything else that it lacks
it pays: its score falls by the penalty. So the search drops a constraint exactly if meeting it
costs more, as far as the beam can see.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from lexbeam.search.arrays import (
    Bits,
    BoolArray,
    FloatArray,
    IntArray,
    intersects,
    leave_out_empty,
    pack_bits,
    pack_rows,
    pack_rows_of_bits,
)
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.states import States


class SoftConstraints:
    """Penalties of all sentences of a batch, as tables by node."""

    def __init__(self, layouts: Sequence[BitLayout], owners: IntArray, bit_arrays: int) -> None:
        """Tabulate the layouts; ``owners`` has the index of the layout of each node."""

        def by_node(sets: Sequence[int]) -> Bits:
            return tuple(bits.take(owners) for bits in pack_bits(sets, bit_arrays))

        self._hard = leave_out_empty(by_node([layout.hard for layout in layouts]))
        self.hard_wanted = by_node([layout.hard_wanted for layout in layouts])
        self._owners = owners
        # shape of both: (sentences, hard parts)
        hard = [layout.hard_tokens for layout in layouts]
        hard_bits = pack_rows_of_bits([[bits for _, bits in row] for row in hard], bit_arrays)
        self._hard_bits = leave_out_empty(hard_bits)
        self._hard_tokens = pack_rows([[tokens for tokens, _ in row] for row in hard], fill=0)
        # shape of both: (sentences, soft constraints)
        soft = [layout.soft for layout in layouts]
        bits = pack_rows_of_bits([[each.bits for each in row] for row in soft], bit_arrays)
        self._bits = leave_out_empty(bits)
        penalties = zip_longest(*([each.penalty for each in row] for row in soft), fillvalue=0.0)
        self._penalties = np.array(list(penalties)).T

    def may_end(self, node: IntArray, seen: Bits) -> tuple[BoolArray, FloatArray]:
        """Return a mask of those that may end now, and the penalty that each would pay.

        They are given by their node and what they have seen. # shape of all: (hypotheses,).
        """
        may_end = ~intersects(self._hard, node, [~bits for bits in seen])
        owner = self._owners.take(node)
        there = intersects(self._bits, owner, [bits[:, None] for bits in seen])
        penalty: FloatArray = np.add.reduce(self._penalties.take(owner, axis=0) * ~there, axis=1)
        return may_end, penalty

    def hard_tokens(self, states: States) -> IntArray:
        """Return how many constraint tokens were met of what can't be given up."""
        owner = self._owners[states.node]
        there = intersects(self._hard_bits, owner, [bits[..., None] for bits in states.seen])
        count: IntArray = (self._hard_tokens[owner] * there).sum(axis=-1)
        return count

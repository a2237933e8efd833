"""Demands that may be given up, at a price.

An output may end as soon as it has what can't be given up. For everything else that it lacks
it pays: its score falls by the price. So the search drops a demand exactly if meeting it costs
more, as far as the beam can see.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import (
    Bits,
    IntArray,
    intersects,
    pack_bits,
    pack_rows,
    pack_rows_of_bits,
)
from lexbeam.search.automaton.bit_layout import Demands
from lexbeam.search.automaton.states import States


class Softs:
    """Prices of all sentences of a batch, as tables by node."""

    def __init__(self, demands: Sequence[Demands], owners: IntArray, width: int) -> None:
        """Tabulate the demands; ``owners`` has for each node the number of those it belongs to."""

        def by_node(sets: Sequence[int]) -> Bits:
            return tuple(word.take(owners) for word in pack_bits(sets, width))

        self._hard = by_node([one.hard for one in demands])
        self.hard_wanted = by_node([one.hard_wanted for one in demands])
        self._owners = owners
        # shape of both: (sentences, hard demands)
        hard = [one.hard_tokens for one in demands]
        self._hard_bits = pack_rows_of_bits([[bits for _, bits in row] for row in hard], width)
        self._hard_tokens = pack_rows([[tokens for tokens, _ in row] for row in hard], fill=0)
        # shape of both: (sentences, soft demands)
        softs = [one.softs for one in demands]
        self._bits = pack_rows_of_bits([[soft.bits for soft in row] for row in softs], width)
        prices = zip_longest(*([soft.price for soft in row] for row in softs), fillvalue=0.0)
        self._prices = np.array(list(prices)).T

    def settle(self, states: States) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Say who may end now, and what each would pay. # shape of both: (hypotheses,)."""
        node, seen = states.node, states.seen
        may_end = np.ones(node.shape, np.bool_)
        for hard, word in zip(self._hard, seen, strict=True):
            may_end &= (hard[node] & ~word) == 0
        owner = self._owners[node]
        there = intersects(self._bits, owner, [word[:, None] for word in seen])
        price = (self._prices[owner] * ~there).sum(axis=1)
        return may_end, price

    def hard_tokens(self, states: States) -> IntArray:
        """Return the constraint tokens that were met of what can't be given up."""
        owner = self._owners[states.node]
        there = intersects(self._hard_bits, owner, [word[..., None] for word in states.seen])
        count: IntArray = (self._hard_tokens[owner] * there).sum(axis=-1)
        return count

"""Demands that may be given up, at a price.

An output may end as soon as it has what can't be given up. For everything else that it lacks
it pays: its score falls by the price. So the search drops a demand exactly if meeting it costs
more, as far as the beam can see.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexbeam.demands import Demands, Soft
from lexbeam.scorer import IntArray
from lexbeam.states import States
from lexbeam.tables import Bits, intersects, pack_bits


class Softs:
    """Prices of all sentences of a batch, as tables by node."""

    def __init__(self, demands: Sequence[Demands], owners: IntArray, width: int) -> None:
        """Tabulate the demands; ``owners`` has for each node the number of those it belongs to."""

        def by_node(sets: Sequence[int]) -> Bits:
            return tuple(word.take(owners) for word in pack_bits(sets, width))

        self._hard = by_node([one.hard for one in demands])
        self.hard_wanted = by_node([one.hard_wanted for one in demands])
        self._hard_tokens: list[tuple[Bits, IntArray]] = []
        for layer in range(max(len(one.hard_tokens) for one in demands)):
            counted = [
                one.hard_tokens[layer] if layer < len(one.hard_tokens) else (0, 0)
                for one in demands
            ]
            tokens = np.array([tokens for tokens, _ in counted], dtype=np.int64)
            bits = by_node([bits for _, bits in counted])
            self._hard_tokens.append((bits, tokens[owners]))
        self._owners = owners
        most = max(len(one.softs) for one in demands)
        softs = [[*one.softs, *[Soft(0, 0.0)] * (most - len(one.softs))] for one in demands]
        packed = pack_bits([soft.bits for row in softs for soft in row], width)
        # shape of both: (sentences, soft demands)
        self._bits = tuple(word.reshape(len(softs), most) for word in packed)
        self._prices = np.array([[soft.price for soft in row] for row in softs])

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
        count = np.zeros(states.node.shape, np.int64)
        for bits, tokens in self._hard_tokens:
            count += tokens[states.node] * intersects(bits, states.node, states.seen)
        return count

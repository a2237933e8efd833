"""Where hypotheses stand in their constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import Bits, IntArray, side_by_side


def count_columns(bit_arrays: int) -> int:
    """Return how many columns the compiled kernel writes of states, by the arrays of a set."""
    return 4 + 3 * bit_arrays


class States(NamedTuple):
    """Where hypotheses stand; all arrays have one shape, that of the hypotheses."""

    node: IntArray  # in the trie of their sentence
    met: Bits
    met_tokens: IntArray  # constraint tokens of met phrases
    seen: Bits  # met, or waiting for the end of the word
    seen_tokens: IntArray
    bank: IntArray  # constraint tokens met, progress included (paper, section 3.2)
    stages: Bits | None = None  # parts of patterns that would be of use now; None: no patterns

    @classmethod
    def of_columns(cls, columns: IntArray, can_wait: bool, staged: bool) -> States:
        """Return the states that the compiled kernel has written, without a copy.

        ``can_wait`` says whether anything is seen before it is met, ``staged`` whether there are
        patterns of several parts. # shape: (columns, hypotheses)
        """
        arrays = (len(columns) - 4) // 3
        bits = columns.view(np.uint64)
        met, met_tokens = tuple(bits[1 : 1 + arrays]), columns[1 + arrays]
        seen, seen_tokens = met, met_tokens
        if can_wait:
            seen, seen_tokens = tuple(bits[2 + arrays : -arrays - 2]), columns[-arrays - 2]
        stages = tuple(bits[-arrays:]) if staged else None
        return cls(columns[0], met, met_tokens, seen, seen_tokens, columns[-arrays - 1], stages)

    @property
    def for_kernel(self) -> tuple[NDArray[Any] | None, ...]:
        """What the compiled kernel reads."""
        node, met, met_tokens, seen, seen_tokens, bank, stages = self
        of_use = None if stages is None else side_by_side(stages)
        met_bits = side_by_side(met)
        seen_bits = met_bits if seen is met else side_by_side(seen)
        return node, met_bits, met_tokens, seen_bits, seen_tokens, bank, of_use

    @property
    def unmet(self) -> Bits:
        """What is still of use: all that has not been seen; of patterns, the next parts."""
        unseen = tuple(~bits for bits in self.seen)
        if self.stages is None:
            return unseen
        return tuple(a & b for a, b in zip(unseen, self.stages, strict=True))

    def take(self, rows: IntArray) -> States:
        """Return the states of some hypotheses, in the order asked for."""
        return self._each(lambda array: array.take(rows))

    def column(self) -> States:
        """Return the states as one column, to be broadcast against a row of tokens each."""
        return self._each(lambda array: array[:, None])

    def flat(self) -> States:
        """Return the states in one dimension."""
        if self.node.ndim == 1:
            return self
        shape = self.node.shape
        return self._each(
            lambda array: (array if array.shape == shape else np.broadcast_to(array, shape)).ravel()
        )

    def _each(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> States:
        """Apply a function to every array, once to arrays that are both met and seen."""
        node, met, met_tokens, seen, seen_tokens, bank, stages = self
        met, met_tokens = tuple(map(change, met)), change(met_tokens)
        if seen is self.met:
            seen, seen_tokens = met, met_tokens
        else:
            seen, seen_tokens = tuple(map(change, seen)), change(seen_tokens)
        stages = None if stages is None else tuple(map(change, stages))
        return States(change(node), met, met_tokens, seen, seen_tokens, change(bank), stages)

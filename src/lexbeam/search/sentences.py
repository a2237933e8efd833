"""What a search knows of the sentences that it still works on."""

from __future__ import annotations

from typing import NamedTuple

from lexbeam.search.arrays import FloatArray, IntArray


class Sentences(NamedTuple):
    """The sentences of a batch that are not done. # shape of all: (sentences,)."""

    numbers: IntArray
    """Their indices in the whole batch."""
    sizes: IntArray
    """Their constraint tokens: C in the paper."""
    sets: IntArray
    """The sets of constraint tokens that each can meet; 1 where no policy asks for them."""
    expected: FloatArray
    """How long their outputs are expected to be."""

    def keep(self, sentences: IntArray) -> Sentences:
        """Return some of the sentences."""
        numbers, sizes, sets, expected = self
        return Sentences(numbers[sentences], sizes[sentences], sets[sentences], expected[sentences])

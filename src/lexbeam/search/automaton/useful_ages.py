"""What of a hypothesis's registers still makes a difference.

A register knows every place where its part has ended (`automaton.bit_layout`), so that it has
nearly as many states as there are sets of its bits. Few of them differ in what can follow. Where
nothing limits the distance to the next part, the end that is longest ago is as good as all of
them. Where there is a limit, the latest end is: the latest of all for a part that is still to
begin, and for one that has begun the latest before it. And behind what can't be lost any more, it
does not matter where the parts before it have ended. `automaton.remaining` counts states that
differ in nothing else as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import BoolArray, IntArray, Tokens
from lexbeam.search.automaton.bit_layout import BitLayout, Register
from lexbeam.search.automaton.trie import Trie
from lexbeam.search.automaton.whole_words import WordBoundaries, count_units

if TYPE_CHECKING:
    from lexbeam.search.automaton.automaton import Automaton


class UsefulAges:
    """Leaves out of the bits of one sentence what makes no difference; there are 64 at most."""

    def __init__(self, layout: BitLayout, trie: Trie, words: WordBoundaries | None) -> None:
        bits = (1 << layout.hard_bits) - 1
        self._settled = [
            (np.uint64(stage.safe & bits), np.uint64(stage.enabled & bits))
            for stage in layout.stages
            if stage.enabled & bits
        ]
        registers = [each for each in layout.registers if each.first < layout.hard_bits]
        self._staying = [each for each in registers if each.stays and each.length > 1]
        # What shows that a word goes on stands behind a form, where nodes do not tell.
        limited = [] if layout.joined else [each for each in registers if not each.stays]
        strings = trie.strings() if limited else []
        self._limited = [(each, _begun_at(each, strings, words)) for each in limited]

    def reduce(self, nodes: IntArray, met: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the bits of hypotheses without those that make no difference at their nodes.

        Nodes are counted from the root of the sentence. # shape of all: (hypotheses,)
        """
        for safe, before in self._settled:
            met = np.where(met & safe, met & ~before, met)
        for register in self._staying:
            ages = met & np.uint64(register.bits)
            met = met ^ ages | _highest(ages, register)
        for register, begun_at in self._limited:
            ages = met & np.uint64(register.bits)
            useful = np.zeros_like(met)
            for units, begun in begun_at:
                in_time = ages & np.uint64(register.in_time << units)
                latest = in_time & (~in_time + np.uint64(1))
                useful |= np.where(begun[nodes], latest, np.uint64(0))
            met = met ^ ages | useful
        return met


class AgesInKeys:
    """The same for keys, which are numbers of a node and bits, of the sentences of a batch."""

    def __init__(self, automaton: Automaton, bits: IntArray) -> None:
        self._automaton, self._bits = automaton, bits
        self._known: dict[int, UsefulAges] = {}

    def leave_out(self, sentence: int, keys: IntArray) -> IntArray:
        """Return keys that are equal for states of a chain that differ in nothing of use."""
        if sentence not in self._known:
            automaton = self._automaton
            given = automaton.layouts[sentence], automaton.tries[sentence], automaton.whole_words
            self._known[sentence] = UsefulAges(*given)
        bits = int(self._bits[sentence])
        nodes, met = keys >> bits, keys & ((1 << bits) - 1)
        useful = self._known[sentence].reduce(nodes, met.astype(np.uint64))
        return (nodes << bits) + useful.astype(np.int64)


def _highest(ages: NDArray[np.uint64], register: Register) -> NDArray[np.uint64]:
    """Return the highest bit of a register, of those that are set."""
    highest = ages
    for age in range(register.length - 1):
        bit = np.uint64(1 << (register.first + age))
        highest = np.where(highest & ~(bit | (bit - np.uint64(1))), highest & ~bit, highest)
    return highest


def _begun_at(
    register: Register, strings: Sequence[Tokens], words: WordBoundaries | None
) -> list[tuple[int, BoolArray]]:
    """Return how long ago the next part may have begun, and the nodes where it may have.

    In words, or tokens. It may always begin now. # shape: (nodes,)
    """
    found = {0: np.ones(len(strings), np.bool_)}
    for node, string in enumerate(strings):
        for form in register.forms:
            for taken in range(1, min(len(form), len(string)) + 1):
                if string[-taken:] == form[:taken]:
                    units = count_units(form[:taken], words)
                    begun = found.setdefault(units, np.zeros(len(strings), np.bool_))
                    begun[node] = True
    return list(found.items())

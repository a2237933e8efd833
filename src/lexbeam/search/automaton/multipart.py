"""Patterns of several parts, or at the end of an output: their progress in a batch.

See `automaton.bit_layout` for what the bits mean. Everything is looked up by node, because a node
belongs to one sentence. A batch without such patterns does nothing of this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import (
    Bits,
    BitSets,
    BoolArray,
    IntArray,
    SparseBits,
    Tokens,
    fill_in_empty,
    intersects,
    leave_out_empty,
    pack_bits,
    pack_rows,
    pack_rows_of_bits,
    side_by_side,
)
from lexbeam.search.automaton.bit_layout import BitLayout, Register
from lexbeam.search.automaton.stages import Stage
from lexbeam.search.automaton.trie import Trie
from lexbeam.search.automaton.whole_words import WordBoundaries, count_units


class MultipartPatterns:
    """Registers and stages of all sentences of a batch, as tables by node."""

    def __init__(
        self,
        layouts: Sequence[BitLayout],
        owners: IntArray,
        tries: Sequence[Trie],
        words: WordBoundaries | None,
        bit_arrays: int,
        eos: int,
    ) -> None:
        """Tabulate the layouts; ``owners`` has the index of the layout of each node.

        That of node 0, to which padding points, is the last: the node is in none of the tries.
        """
        self._words = words
        self._eos = eos
        self._all = (1 << (64 * bit_arrays)) - 1
        self._owners = owners

        def by_node(of: Callable[[BitLayout], int]) -> Bits:
            packed = pack_bits([of(layout) for layout in layouts], bit_arrays)
            return tuple(bits.take(owners) for bits in packed)

        self._moving = by_node(lambda layout: _moving(layout, at_words=False))
        self._staying = by_node(lambda layout: self._all & ~_leaving(layout, at_words=False))
        self._moving_at_words = by_node(lambda layout: _moving(layout, at_words=True))
        self._staying_at_words = by_node(
            lambda layout: self._all & ~_leaving(layout, at_words=True)
        )
        self.not_at_end = by_node(lambda layout: self._all & ~layout.at_end)
        self.any_at_end = any(layout.at_end for layout in layouts)
        self._alive = pack_bits(self._alive_at_nodes(layouts[:-1], tries), bit_arrays)
        self._others = by_node(
            lambda layout: self._all & ~sum(stage.wanted for stage in layout.stages)
        )
        self._no_registers = by_node(
            lambda layout: self._all & ~sum(register.bits for register in layout.registers)
        )
        self._tabulate_stages(layouts, bit_arrays)
        registers = [register for layout in layouts for register in layout.registers]
        self._ages = any(register.length > 1 for register in registers)
        self._limits = any(register.forms for register in registers)

    def _alive_at_nodes(self, layouts: Sequence[BitLayout], tries: Sequence[Trie]) -> list[int]:
        """Return for each node the bits of registers that the next part can still follow."""
        alive = [self._all]
        for layout, trie in zip(layouts, tries, strict=True):
            strings = trie.strings() if any(r.forms for r in layout.registers) else []
            for node in range(len(trie.nodes)):
                bits = self._all
                for register in layout.registers:
                    if register.forms:
                        bits &= ~(register.bits & ~self._in_time(register, strings[node]))
                alive.append(bits)
        return alive

    def _in_time(self, register: Register, string: Tokens) -> int:
        """Return the bits from which a part may still begin, or may have begun in the string."""
        oldest = register.limit
        for form in register.forms:
            for taken in range(1, min(len(form), len(string)) + 1):
                if string[-taken:] == form[:taken]:
                    begun = count_units(string[-taken:], self._words)
                    oldest = max(oldest, register.limit + begun)
        return ((1 << (oldest + 1)) - 1) << register.first

    def _tabulate_stages(self, layouts: Sequence[BitLayout], bit_arrays: int) -> None:
        """Lay the stages of each sentence side by side. # shape of all: (sentences, stages)."""
        stages = [layout.stages for layout in layouts]
        enabled = [[stage.enabled for stage in row] for row in stages]
        reached = [[stage.reached for stage in row] for row in stages]
        self._reached = leave_out_empty(pack_rows_of_bits(reached, bit_arrays))
        self._enabled = leave_out_empty(pack_rows_of_bits(enabled, bit_arrays))
        self._wanted = pack_rows_of_bits(
            [[stage.wanted for stage in row] for row in stages], bit_arrays
        )
        self._always = pack_rows([[not bits for bits in row] for row in enabled], fill=0) > 0
        self._sizes = pack_rows([[stage.size for stage in row] for row in stages], fill=0)
        # Those of each sentence by themselves, behind them those of padding; None: it is quicker
        # to look at all of them together.
        self._each: list[_Stages] | None = None
        if len(stages) == 2 or bit_arrays > 1:
            self._each = [_Stages.of(row, bit_arrays) for row in stages]

    def tables(self, vocabulary: int) -> tuple[NDArray[Any], ...]:
        """Return what the compiled kernel reads.

        By token: whether it begins a word. By node: how registers are shifted by other tokens and,
        behind it, by those that begin a word; masks; where the stages of its sentence begin.
        # shape of stages: (sentences · stages,)
        """
        words, nodes = self._words, len(self._owners)
        starting = np.zeros(vocabulary, np.bool_) if words is None else words.starting
        arrays, shape = len(self._wanted), self._sizes.shape
        all_bits = ~np.zeros(2 * nodes * arrays, np.uint64)
        moving, staying = np.zeros_like(all_bits), all_bits
        if self._ages:
            both = zip(self._moving, self._moving_at_words, strict=True)
            moving = side_by_side([np.concatenate(pair) for pair in both])
            both = zip(self._staying, self._staying_at_words, strict=True)
            staying = side_by_side([np.concatenate(pair) for pair in both])
        alive = side_by_side(self._alive) if self._limits else all_bits
        masks = alive, side_by_side(self.not_at_end), side_by_side(self._others)
        reached = side_by_side(fill_in_empty(self._reached, arrays, shape))
        enabled = side_by_side(fill_in_empty(self._enabled, arrays, shape))
        stages = reached, enabled, side_by_side(self._wanted), self._sizes
        return starting, moving, staying, *masks, self._owners * shape[1], *stages

    def unwind_ends(self, node: IntArray, tokens: IntArray, seen: Bits) -> Bits:
        """Take back what had to be the end of the output, unless a token is the end."""
        ends = tokens == self._eos
        return tuple(
            np.where(ends, bits, bits & kept[node])
            for bits, kept in zip(seen, self.not_at_end, strict=True)
        )

    def shift(self, node: IntArray, tokens: IntArray, bits: Bits) -> Bits:
        """Shift the registers by a token."""
        if not self._ages:
            return bits
        moving, staying = self._moving, self._staying
        if self._words is None:
            return tuple(
                ((array & m[node]) << np.uint64(1)) | (array & s[node])
                for array, m, s in zip(bits, moving, staying, strict=True)
            )
        begins = self._words.starting[tokens]
        shifted = []
        for number, array in enumerate(bits):
            move = np.where(begins, self._moving_at_words[number][node], moving[number][node])
            stay = np.where(begins, self._staying_at_words[number][node], staying[number][node])
            shifted.append(((array & move) << np.uint64(1)) | (array & stay))
        return tuple(shifted)

    def forget_late(self, node: IntArray, bits: Bits) -> Bits:
        """Forget parts that the next part can't follow within the limit any more."""
        if not self._limits:
            return bits
        return tuple(array & alive[node] for array, alive in zip(bits, self._alive, strict=True))

    def count(self, node: IntArray, seen: Bits) -> tuple[IntArray, Bits]:
        """Return the tokens of the stages reached, and the bits of what is of use now.

        Bits that stand for no stage are all set in the second.
        """
        owner = self._owners[node]
        if self._each is not None:
            return self._count_in_each(self._each, node, owner, seen)
        bits = [array[..., None] for array in seen]
        done = intersects(self._reached, owner, bits)  # shape: (…, stages)
        tokens: IntArray = (self._sizes[owner] * done).sum(axis=-1)
        of_use = self._always[owner] | intersects(self._enabled, owner, bits)
        of_use &= ~done
        return tokens, tuple(
            others[node] | np.bitwise_or.reduce(wanted[owner] * of_use, axis=-1)
            for others, wanted in zip(self._others, self._wanted, strict=True)
        )

    def _count_in_each(
        self, stages: Sequence[_Stages], node: IntArray, owner: IntArray, seen: Bits
    ) -> tuple[IntArray, Bits]:
        """Count as `count` does, sentence by sentence; padding has no stages."""
        of_use = [others[node] for others in self._others]
        if not owner.any():
            tokens, wanted = stages[0].count_reached(seen)
            for number, bits in wanted:
                of_use[number] |= bits
            return tokens, tuple(of_use)
        tokens = np.zeros(node.shape, np.int64)
        for sentence in np.unique(owner).tolist():
            here = owner == sentence
            tokens[here], wanted = stages[sentence].count_reached(tuple(b[here] for b in seen))
            for number, bits in wanted:
                of_use[number][here] |= bits
        return tokens, tuple(of_use)

    def without_ages(self, node: IntArray, seen: Bits, of_use: Bits) -> Bits:
        """Return the bits of what was seen, where registers only say which stage was reached."""
        return tuple(
            (bits & kept[node]) | (use & ~others[node])
            for bits, kept, use, others in zip(
                seen, self._no_registers, of_use, self._others, strict=True
            )
        )


class _Stages(NamedTuple):
    """The stages of one sentence."""

    reached: BitSets
    enabled: BitSets
    wanted: list[tuple[int, IntArray, NDArray[np.uint64]]]
    """The arrays that have bits of stages, by number: which stages, and their bits."""
    always: BoolArray  # shape: (stages,)
    sizes: IntArray  # shape: (stages,)

    @classmethod
    def of(cls, stages: Sequence[Stage], bit_arrays: int) -> _Stages:
        wanted = pack_bits([stage.wanted for stage in stages], bit_arrays)
        return cls(
            BitSets([stage.reached for stage in stages], bit_arrays),
            BitSets([stage.enabled for stage in stages], bit_arrays),
            [(n, np.flatnonzero(bits), bits[bits != 0]) for n, bits in leave_out_empty(wanted)],
            np.array([not stage.enabled for stage in stages], np.bool_),
            np.array([stage.size for stage in stages], np.int64),
        )

    def count_reached(self, seen: Bits) -> tuple[IntArray, SparseBits]:
        """Return the tokens of the stages reached, and the bits of those that are of use now."""
        done = self.reached.share(seen)
        of_use = (self.always | self.enabled.share(seen)) & ~done
        wanted = tuple(
            (number, np.bitwise_or.reduce(bits * of_use[..., stages], axis=-1))
            for number, stages, bits in self.wanted
        )
        tokens: IntArray = done @ self.sizes
        return tokens, wanted


def _moving(layout: BitLayout, at_words: bool) -> int:
    """Return the bits that move up by layout."""
    return sum(register.bits & ~register.top for register in _shifted(layout, at_words))


def _leaving(layout: BitLayout, at_words: bool) -> int:
    """Return the bits that do not stay where they are."""
    registers = _shifted(layout, at_words)
    return sum(register.bits & ~(register.top if register.stays else 0) for register in registers)


def _shifted(layout: BitLayout, at_words: bool) -> list[Register]:
    return [register for register in layout.registers if at_words or not register.by_words]

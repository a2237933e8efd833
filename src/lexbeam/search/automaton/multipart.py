"""Patterns of several parts, or at the end of an output: what a batch's hypotheses do with them.

See `automaton.bit_layout` for what the bits mean. Everything is looked up by node, because a node
belongs to one sentence; and nothing of this is done in a batch that has no such patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lexbeam.search.arrays import (
    Bits,
    IntArray,
    Tokens,
    intersects,
    pack_bits,
    pack_rows,
    pack_rows_of_bits,
)
from lexbeam.search.automaton.bit_layout import Demands, Register
from lexbeam.search.automaton.trie import BEGIN, Trie
from lexbeam.search.automaton.whole_words import Words, count_units


class Chains:
    """Registers and stages of all sentences of a batch, as tables by node."""

    def __init__(
        self,
        demands: Sequence[Demands],
        owners: IntArray,
        tries: Sequence[Trie],
        words: Words | None,
        width: int,
        eos: int | None,
    ) -> None:
        """Tabulate the demands; ``owners`` has for each node the number of those it belongs to.

        Those of node 0, to which padding points, are the last: it is in none of the tries.
        """
        self._words = words
        self._eos = -1 if eos is None else eos
        self._all = (1 << (64 * width)) - 1
        self._owners = owners

        def by_node(of: Callable[[Demands], int]) -> Bits:
            packed = pack_bits([of(one) for one in demands], width)
            return tuple(word.take(owners) for word in packed)

        self._moving = by_node(lambda one: _moving(one, at_words=False))
        self._staying = by_node(lambda one: self._all & ~_leaving(one, at_words=False))
        self._moving_at_words = by_node(lambda one: _moving(one, at_words=True))
        self._staying_at_words = by_node(lambda one: self._all & ~_leaving(one, at_words=True))
        self.not_at_end = by_node(lambda one: self._all & ~one.at_end)
        self.any_at_end = any(one.at_end for one in demands)
        self._alive = pack_bits(self._alive_at_nodes(demands[:-1], tries), width)
        self._others = by_node(lambda one: self._all & ~sum(stage.wanted for stage in one.stages))
        self._no_registers = by_node(
            lambda one: self._all & ~sum(register.bits for register in one.registers)
        )
        self._tabulate_stages(demands, width)
        registers = [register for one in demands for register in one.registers]
        self._ages = any(register.length > 1 for register in registers)
        self._limits = any(register.forms for register in registers)

    def _alive_at_nodes(self, demands: Sequence[Demands], tries: Sequence[Trie]) -> list[int]:
        """Return for each node the bits of registers that can still lead to something there."""
        alive = [self._all]
        for one, trie in zip(demands, tries, strict=True):
            strings = _strings(trie) if any(r.forms for r in one.registers) else {}
            for node in range(len(trie.nodes)):
                bits = self._all
                for register in one.registers:
                    if register.forms:
                        bits &= ~(register.bits & ~self._in_time(register, strings[node]))
                alive.append(bits)
        return alive

    def _in_time(self, register: Register, string: Tokens) -> int:
        """Return the ages at which a part may still begin, or may have begun in the string."""
        oldest = register.limit
        for form in register.forms:
            for taken in range(1, min(len(form), len(string)) + 1):
                if string[-taken:] == form[:taken]:
                    begun = count_units(string[-taken:], self._words)
                    oldest = max(oldest, register.limit + begun)
        return ((1 << (oldest + 1)) - 1) << register.first

    def _tabulate_stages(self, demands: Sequence[Demands], width: int) -> None:
        """Lay the stages of each sentence side by side. # shape of all: (sentences, stages)."""
        stages = [one.stages for one in demands]
        enabled = [[stage.enabled for stage in row] for row in stages]
        self._reached = pack_rows_of_bits(
            [[stage.reached for stage in row] for row in stages], width
        )
        self._enabled = pack_rows_of_bits(enabled, width)
        self._wanted = pack_rows_of_bits([[stage.wanted for stage in row] for row in stages], width)
        self._always = pack_rows([[not bits for bits in row] for row in enabled], fill=0) > 0
        self._sizes = pack_rows([[stage.size for stage in row] for row in stages], fill=0)

    def go_on(self, node: IntArray, tokens: IntArray, seen: Bits) -> Bits:
        """Take back what had to be the end of the output, unless a token is the end."""
        ends = tokens == self._eos
        return tuple(
            np.where(ends, word, word & kept[node])
            for word, kept in zip(seen, self.not_at_end, strict=True)
        )

    def shift(self, node: IntArray, tokens: IntArray, bits: Bits) -> Bits:
        """Let the registers grow older by a token."""
        if not self._ages:
            return bits
        moving, staying = self._moving, self._staying
        if self._words is None:
            return tuple(
                ((word & m[node]) << np.uint64(1)) | (word & s[node])
                for word, m, s in zip(bits, moving, staying, strict=True)
            )
        starts = self._words.starting[tokens]
        shifted = []
        for number, word in enumerate(bits):
            move = np.where(starts, self._moving_at_words[number][node], moving[number][node])
            stay = np.where(starts, self._staying_at_words[number][node], staying[number][node])
            shifted.append(((word & move) << np.uint64(1)) | (word & stay))
        return tuple(shifted)

    def trim(self, node: IntArray, bits: Bits) -> Bits:
        """Forget ends of parts that the next part can't follow in time any more."""
        if not self._limits:
            return bits
        return tuple(word & alive[node] for word, alive in zip(bits, self._alive, strict=True))

    def count(self, node: IntArray, seen: Bits) -> tuple[IntArray, Bits]:
        """Return the tokens of the stages reached, and what is of use now.

        The second leaves all but the stages open: it is 1 for everything that is no stage.
        """
        owner = self._owners[node]
        bits = [word[..., None] for word in seen]
        done = intersects(self._reached, owner, bits)  # shape: (…, stages)
        tokens: IntArray = (self._sizes[owner] * done).sum(axis=-1)
        of_use = self._always[owner] | intersects(self._enabled, owner, bits)
        of_use &= ~done
        return tokens, tuple(
            others[node] | np.bitwise_or.reduce(wanted[owner] * of_use, axis=-1)
            for others, wanted in zip(self._others, self._wanted, strict=True)
        )

    def without_ages(self, node: IntArray, seen: Bits, of_use: Bits) -> Bits:
        """Return what has been seen, of patterns only which stage they are at, not since when."""
        return tuple(
            (word & kept[node]) | (use & ~others[node])
            for word, kept, use, others in zip(
                seen, self._no_registers, of_use, self._others, strict=True
            )
        )


def _moving(demands: Demands, at_words: bool) -> int:
    """Return the bits that move up by one."""
    return sum(register.bits & ~register.top for register in _shifted(demands, at_words))


def _leaving(demands: Demands, at_words: bool) -> int:
    """Return the bits that do not stay where they are."""
    registers = _shifted(demands, at_words)
    return sum(register.bits & ~(register.top if register.stays else 0) for register in registers)


def _shifted(demands: Demands, at_words: bool) -> list[Register]:
    return [register for register in demands.registers if at_words or not register.by_words]


def _strings(trie: Trie) -> dict[int, Tokens]:
    """Return the string of each node, without the mark of the beginning."""
    strings: dict[int, Tokens] = {0: ()}
    for number, node in enumerate(trie.nodes):
        for token, child in node.children.items():
            strings[child] = strings[number] if token == BEGIN else (*strings[number], token)
    return strings

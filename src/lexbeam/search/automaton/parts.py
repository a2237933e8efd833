"""The parts of constraints, each of which has to be begun and paid for by itself.

A plain phrase is one part, a phrase that is demanded n times is n of them, and a pattern has as
many as it says (`automaton.patterns`). Each part has a first token that has to find its place,
and further tokens that follow from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    SparseBits,
    Tokens,
    fill_in_empty,
    intersects,
    leave_out_empty,
    pack_rows,
    pack_rows_of_bits,
    side_by_side,
)
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ANCHORS, ROOT, Trie


class Part(NamedTuple):
    """One part of a constraint."""

    size: int
    """The tokens of its shortest form."""
    reached: int
    """Bits of which one is set when it has been seen."""
    wanted: int
    """Bits of which one is missing as long as it is of use."""
    forms: tuple[Tokens, ...]
    """Its forms, with the anchors that they stand behind."""
    at_end: bool = False
    """Whether it counts only if the output ends with it."""
    follows: bool = False
    """Whether it has to stand behind the part before it in the list."""
    soft: int | None = None
    """The index of its constraint among those that may be given up; None: it may not be."""

    @property
    def first_tokens(self) -> list[int]:
        """The tokens that it may begin with, rising."""
        bare = [[token for token in form if token not in ANCHORS] for form in self.forms]
        return sorted({form[0] for form in bare})


def find_parts(layout: BitLayout) -> list[Part]:
    """Return the parts of all constraints of a sentence; those of a pattern in their order."""
    forms: dict[int, list[Tokens]] = {}
    for goal in layout.goals:
        forms.setdefault(goal.wanted, []).append(goal.tokens)
    parts = [
        Part(
            stage.size,
            stage.reached,
            stage.wanted,
            tuple(forms.pop(stage.wanted)),
            stage.at_end,
            bool(stage.enabled),
            None if stage.hard else _index_of_soft(layout, stage.reached),
        )
        for stage in layout.stages
    ]
    sizes = {goal.wanted: goal.size for goal in layout.goals}
    for wanted, spellings in forms.items():
        for bit in _single_bits(wanted):
            soft = _index_of_soft(layout, bit)
            parts.append(Part(sizes[wanted], bit, wanted, tuple(spellings), soft=soft))
    return parts


def _index_of_soft(layout: BitLayout, reached: int) -> int | None:
    """Return the constraint that a part belongs to, if it is one that may be given up.

    To reach a later copy of a pattern is to have the earlier ones: the first that fits is it.
    """
    for index, soft in enumerate(layout.soft):
        if soft.bits & reached == soft.bits:
            return index
    return None


def _single_bits(bits: int) -> list[int]:
    """Return the sets of one bit that make up a set."""
    return [1 << number for number in range(bits.bit_length()) if bits >> number & 1]


class PartTables:
    """The parts of all sentences of a batch as tables.

    Parts come first in all shapes, so that sums over them do not depend on how many the other
    sentences of a batch have.
    """

    sizes: FloatArray
    """The tokens of each part; 0: there is none. # shape: (parts, sentences)"""

    def __init__(self, automaton: Automaton) -> None:
        self.of_sentences = [find_parts(layout) for layout in automaton.layouts]
        rows, arrays = self.of_sentences, automaton.bit_arrays
        self.sizes = _by_part([[part.size for part in row] for row in rows], 0).astype(float)
        reached = pack_rows_of_bits([[part.reached for part in row] for row in rows], arrays)
        self._reached = tuple(np.ascontiguousarray(bits.T) for bits in reached)
        self._reached_for_kernel: NDArray[np.uint64] | None = None
        # The parts that have bits in each array, mostly each in one. # shape: (parts in it,)
        self._in_array = [np.flatnonzero(bits.any(axis=1)) for bits in self._reached]
        at_end = _by_part([[part.at_end for part in row] for row in rows], 0) > 0
        self._at_end: BoolArray | None = at_end if at_end.any() else None
        # The soft constraint that each belongs to, -1: none. # shape: (parts, sentences)
        self.soft: IntArray = _by_part(
            [[-1 if part.soft is None else part.soft for part in row] for row in rows], -1
        )
        self._tabulate_nodes(automaton.tries, arrays)

    def _tabulate_nodes(self, tries: Sequence[Trie], arrays: int) -> None:
        """List what has begun at each node, by rising part. # shape of all: (nodes, begun)."""
        rows: list[list[tuple[int, int, int, int]]] = [[]]  # node 0 belongs to no sentence
        row_of_node = [0]
        for trie, parts in zip(tries, self.of_sentences, strict=True):
            numbers: dict[int, list[int]] = {}
            for number, part in enumerate(parts):
                numbers.setdefault(part.wanted, []).append(number)
            known: dict[int, int] = {}  # Nodes at which the same has begun share a row.
            for begun in _find_begun(trie):
                if id(begun) not in known:
                    known[id(begun)] = len(rows)
                    rows.append(
                        sorted(
                            (number, missing, needs, wanted)
                            for wanted, (missing, needs) in begun.items()
                            for number in numbers.get(wanted, ())
                        )
                    )
                row_of_node.append(known[id(begun)])
        nodes = np.array(row_of_node)
        self._here = pack_rows([[number for number, *_ in row] for row in rows], 0)[nodes]
        self._missing = pack_rows([[missing for _, missing, *_ in row] for row in rows], 0)[nodes]
        self._begun = np.asarray((self._missing > 0).any(axis=1))  # shape: (nodes,)
        self._wanted = _spread([[bits for *_, bits in row] for row in rows], nodes, arrays)
        needs = [[bits for _, _, bits, _ in row] for row in rows]
        self._needs: SparseBits | None = None
        if any(map(any, needs)):
            self._needs = _spread(needs, nodes, arrays)

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self.sizes = np.ascontiguousarray(self.sizes[:, sentences])
        self.soft = np.ascontiguousarray(self.soft[:, sentences])
        self._reached = tuple(np.ascontiguousarray(bits[:, sentences]) for bits in self._reached)
        self._reached_for_kernel = None
        if self._at_end is not None:
            self._at_end = np.ascontiguousarray(self._at_end[:, sentences])

    @property
    def tables(self) -> tuple[NDArray[Any] | None, ...]:
        """What the compiled kernel reads, by part and sentence, and by node."""
        if self._reached_for_kernel is None:
            self._reached_for_kernel = side_by_side(self._reached)
        return self._reached_for_kernel, self.sizes, *self._tables_of_nodes, self._at_end

    @cached_property
    def _tables_of_nodes(self) -> tuple[NDArray[Any] | None, ...]:
        arrays, shape, needs = len(self._reached), self._missing.shape, None
        if self._needs is not None:
            needs = side_by_side(fill_in_empty(self._needs, arrays, shape))
        wanted = side_by_side(fill_in_empty(self._wanted, arrays, shape))
        return self._here, self._missing, wanted, needs

    def find_unseen(self, states: States, shape: tuple[int, ...]) -> BoolArray:
        """Return a mask of the parts that hypotheses still have to say.

        What has to be the end of the output is still to be said as long as anything else is.
        ``shape`` is that of the hypotheses, (sentences, …). # shape: (parts, sentences, …)
        """
        seen = np.zeros((len(self.sizes), *shape), np.bool_)
        given = zip(self._in_array, self._reached, states.seen, strict=True)
        for parts, table, bits in given:
            seen[parts] |= (table[parts, :, None] & bits.reshape(shape)) != 0
        unseen = ~seen & (self.sizes > 0)[:, :, None]
        if self._at_end is not None:
            unseen |= self._at_end[:, :, None] & self._others(unseen)
        return unseen

    def _others(self, unseen: BoolArray) -> BoolArray:
        """Return who has anything to say that can't be given up and need not be the end."""
        assert self._at_end is not None
        counted = (~self._at_end & (self.soft < 0))[:, :, None]
        return np.asarray((unseen & counted).any(axis=0))

    def find_begun(self, states: States, unseen: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the hypotheses that are in the middle of something, what that is, and what lacks.

        Hypotheses are counted through the batch, # shape: (rows,). The others are the parts that
        have begun, rising, and the tokens that each lacks, 0 where it is none or of no use,
        # shape: (rows, begun).
        """
        rows = self._begun.take(states.node).nonzero()[0]
        node, column = states.node.take(rows), rows[:, None]
        part: IntArray = self._here.take(node, axis=0)
        missing: IntArray = self._missing.take(node, axis=0)
        if not len(rows):
            return rows, part, missing
        unmet = [bits.take(column) for bits in states.unmet]
        useful = intersects(self._wanted, node, unmet)
        if self._needs is not None:
            seen = [bits.take(column) for bits in states.seen]
            free = ~np.logical_or.reduce([bits[node] != 0 for _, bits in self._needs])
            useful &= free | intersects(self._needs, node, seen)
        useful &= unseen.reshape(len(unseen), -1)[part, column]
        if self._at_end is not None:
            sentence = column // unseen.shape[2]
            others = self._others(unseen).ravel()[column]
            useful &= ~(self._at_end[part, sentence] & others)
        return rows, part, np.where(useful, missing, 0)


def _spread(rows: Sequence[Sequence[int]], nodes: IntArray, arrays: int) -> SparseBits:
    """Return rows of sets for the nodes, which say which row is theirs."""
    packed = pack_rows_of_bits(rows, arrays)
    return tuple((number, bits[nodes]) for number, bits in leave_out_empty(packed))


def _by_part(rows: Sequence[Sequence[int]], fill: int) -> IntArray:
    """Return numbers of parts, listed by sentence, as a table. # shape: (parts, sentences)."""
    return np.ascontiguousarray(pack_rows(rows, fill).T)


def _find_begun(trie: Trie) -> list[dict[int, tuple[int, int]]]:
    """Return for each node what its string ends in the middle of.

    By the bits that stand for it: the fewest tokens that it lacks, and the bits of which one must
    be set for it to count.
    """
    found: list[dict[int, tuple[int, int]]] = [{} for _ in trie.nodes]
    for number in sorted(range(len(trie.nodes)), key=lambda number: trie.nodes[number].depth):
        node = trie.nodes[number]
        if number == ROOT or trie.is_anchor(number):
            continue
        begun = found[node.failure]
        begun = dict(begun) if node.begun else begun
        for goal in node.begun:
            lacks = len(goal.tokens) - node.depth, goal.needed(node.depth)
            begun[goal.wanted] = min(lacks, begun.get(goal.wanted, lacks))
        found[number] = begun
    return found

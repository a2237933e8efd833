"""Constraints of a whole batch as integer tables, and hypotheses that walk through them.

A hypothesis carries its node in the trie of its sentence (`automaton.trie`) and the bits of the
phrases it has met. Taking a token is a handful of array operations, however many hypotheses,
phrases and sentences there are: the tries of all sentences lie in one set of tables.

A phrase can be made to count as a whole word only: then it is *seen* when its last token has
been taken, which is enough for its bank, and *met* when the next token is a boundary (or the
end). A token that goes on with the word unwinds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.arrays import PAD, Bits, BoolArray, IntArray, intersects, side_by_side
from lexbeam.search.automaton.asked_and_banned import WORTH_PACKING, pack_useful
from lexbeam.search.automaton.completions import (
    complete,
    mark,
    nodes_in_progress,
    tokens_in_progress,
)
from lexbeam.search.automaton.states import States, count_columns
from lexbeam.search.automaton.tables import Tables


class Automaton(Tables):
    """Moves hypotheses along the tables of their sentences, every step."""

    def start(self) -> States:
        """Return the states before the first token, one per sentence."""
        nothing = tuple(np.zeros(len(self.tries), np.uint64) for _ in range(self.bit_arrays))
        zeros = np.zeros(len(self.tries), np.int64)
        first = self.roots + np.array([trie.start for trie in self.tries], dtype=np.int64)
        return self._arrive(first, nothing, zeros)

    def advance(self, states: States, tokens: IntArray, nodes: IntArray | None = None) -> States:
        """Let every hypothesis take a token; arrays are broadcast against each other.

        ``nodes`` are those that the tokens lead to, if they are known.
        """
        return self._take_token(states.node, nodes, tokens, *states[1:5])

    def met_after(self, states: States, tokens: IntArray, nodes: IntArray) -> Bits:
        """Return only what is met after tokens that lead to ``nodes``; nothing is counted."""
        met = self._met_before(nodes, tokens, states.met, states.seen)
        met = mark(self._completed_now, nodes, met)
        return met if self.multipart is None else self.multipart.forget_late(nodes, met)

    def branch(
        self, states: States, parents: IntArray, tokens: IntArray, nodes: IntArray
    ) -> States:
        """Let new hypotheses continue old ones with tokens of which it is known where they lead."""
        met_tokens = states.met_tokens.take(parents)
        met = tuple(bits.take(parents) for bits in states.met)
        seen, seen_tokens = met, met_tokens
        if states.seen is not states.met:
            seen = tuple(bits.take(parents) for bits in states.seen)
            seen_tokens = states.seen_tokens.take(parents)
        return self._take_token(nodes, nodes, tokens, met, met_tokens, seen, seen_tokens)

    def _take_token(
        self,
        before: IntArray,
        nodes: IntArray | None,
        tokens: IntArray,
        met: Bits,
        met_tokens: IntArray,
        seen: Bits,
        seen_tokens: IntArray,
    ) -> States:
        """Find out which words have ended, and arrive at the nodes."""
        if kernel.compiled is not None and self.kernel_tables is not None:
            shape = np.broadcast_shapes(before.shape, tokens.shape)
            if before.size == before.shape[0] == shape[0]:  # each takes as many tokens
                given = before, met, met_tokens, seen, seen_tokens
                return self._take_compiled(nodes, tokens, shape, *given)
        if nodes is None:
            nodes = self.follow(before, tokens)
        met = self._met_before(nodes, tokens, met, seen)
        if self.whole_words is None:
            met_tokens = seen_tokens
        else:
            met_tokens = np.where(self.whole_words.ended(tokens), seen_tokens, met_tokens)
        return self._arrive(nodes, met, met_tokens)

    def _take_compiled(
        self,
        nodes: IntArray | None,
        tokens: IntArray,
        shape: tuple[int, ...],
        before: IntArray,
        met: Bits,
        met_tokens: IntArray,
        seen: Bits,
        seen_tokens: IntArray,
    ) -> States:
        """Do the same by the compiled kernel."""
        assert kernel.compiled is not None
        columns = np.empty((count_columns(self.bit_arrays), *shape), np.int64)
        reached = None if nodes is None else _spread(nodes, shape)
        each = before.shape
        met_bits = side_by_side([_spread(bits, each) for bits in met])
        seen_bits = met_bits if seen is met else side_by_side([_spread(b, each) for b in seen])
        tokens_before = _spread(met_tokens, each), _spread(seen_tokens, each)
        given = _spread(before, each), met_bits, tokens_before[0], seen_bits, tokens_before[1]
        tables = self.kernel_tables, self.eos
        kernel.compiled.take(*tables, _spread(tokens, shape), reached, *given, columns)
        return self.read_columns(columns)

    def _met_before(self, nodes: IntArray, tokens: IntArray, met: Bits, seen: Bits) -> Bits:
        """Return what is met when tokens are taken, without what ends at the nodes."""
        multipart = self.multipart
        if multipart is not None and multipart.any_at_end:
            seen = multipart.unwind_ends(nodes, tokens, seen)
        if self.whole_words is None:
            met = seen
        else:
            ended = self.whole_words.ended(tokens)
            met = tuple(np.where(ended, s, m) for s, m in zip(seen, met, strict=True))
        return met if multipart is None else multipart.shift(nodes, tokens, met)

    def _arrive(self, node: IntArray, met: Bits, met_tokens: IntArray) -> States:
        """Count what ends at a node; the longest suffix that has begun a phrase is progress."""
        met, met_tokens = complete(self._completed_now, node, met, met_tokens)
        seen, seen_tokens = met, met_tokens
        if self._completed_later:
            seen, seen_tokens = complete(self._completed_later, node, met, met_tokens)
        bank, stages = seen_tokens, None
        if self.multipart is not None:
            met = self.multipart.forget_late(node, met)
            seen = self.multipart.forget_late(node, seen)
            staged, stages = self.multipart.count(node, seen)
            bank = seen_tokens + staged
        states = States(node, met, met_tokens, seen, seen_tokens, bank, stages)
        if self.progress:
            states = states._replace(
                bank=bank + tokens_in_progress(self.progress, states, states.unmet)
            )
        return states

    def read_columns(self, columns: IntArray) -> States:
        """Return the states that the compiled kernel has written. # shape: (columns, …)."""
        return States.of_columns(columns, self.can_wait, self.multipart is not None)

    # --- what a hypothesis may and should take next -------------------------------------------

    def ask(self, states: States) -> tuple[IntArray, IntArray]:
        """Return the tokens that start or continue an unmet phrase, and where they lead.

        # shape of both: (hypotheses, asked); `PAD` where a hypothesis has less to ask.
        """
        if kernel.compiled is not None and self.kernel_tables is not None and self._exact is None:
            return self._ask_compiled(states)
        listed = self._listed.row_of_node.take(states.node)
        targets = self._listed.ask_targets.take(listed, axis=0)
        if not targets.size:
            return targets, targets
        useful = intersects(self._serves, targets, [bits[:, None] for bits in states.unmet])
        tokens = self._listed.ask_tokens.take(listed, axis=0)
        hold = self.hold(states)
        if hold is not None and self.whole_words is not None:
            useful &= ~(hold[:, None] & self.whole_words.ended(tokens))
        if self._exact is not None:
            useful &= ~self.is_one_too_many(states, tokens)
        if useful.size < WORTH_PACKING:
            tokens = np.where(useful, tokens, PAD)
            return (tokens, targets) if useful.any() else (tokens[:, :0], targets[:, :0])
        return pack_useful(useful, tokens, targets)

    def _ask_compiled(self, states: States) -> tuple[IntArray, IntArray]:
        assert kernel.compiled is not None
        rows, listed = len(states.node), self._listed.ask_tokens.shape[1]
        tokens, targets = np.empty((2, rows * listed), np.int64)
        stages = None if states.stages is None else side_by_side(states.stages)
        seen = side_by_side(states.seen)
        given = self.kernel_tables, PAD, None, None, None, states.node, seen, stages
        out = None, None, tokens, targets
        _, width = kernel.call(kernel.compiled.ask, *given, self.hold(states), *out)
        size, shape = rows * width, (rows, width)
        return tokens[:size].reshape(shape), targets[:size].reshape(shape)

    def serves(self, nodes: IntArray, states: States, parents: IntArray) -> BoolArray:
        """Return a mask of the nodes that start or continue a phrase their parents have not met."""
        if not self.bit_arrays:
            return np.zeros(nodes.shape, np.bool_)
        return intersects(self._serves, nodes, [bits[parents] for bits in states.unmet])

    def count_served(self, nodes: IntArray, states: States) -> IntArray:
        """Return how many unmet constraints a node begins, goes on with or ends.

        # shape: that of the nodes, (states, nodes).
        """
        count = np.zeros(nodes.shape, np.int64)
        unmet = states.unmet
        for number, serves in self._serves:
            count += np.bitwise_count(serves[nodes] & unmet[number][:, None])
        return count

    def ban(self, states: States) -> IntArray:
        """Return the tokens that would complete an avoided phrase. # shape: (…, banned)."""
        banned = self.ban_at(states.node)
        if self._exact is None:
            return banned
        return np.concatenate((banned, self._exact.ban(states)), axis=1)

    def ban_at(self, nodes: IntArray) -> IntArray:
        """Return those that complete one at a node, however often others have been met."""
        banned: IntArray = self._listed.ban_here.take(nodes, axis=0)
        if not self._listed.ban_always.size:
            return banned
        always = self._listed.ban_always.take(self._transitions.sentence_of(nodes), axis=0)
        return np.concatenate((always, banned), axis=1)

    def hold(self, states: States) -> BoolArray | None:
        """Return a mask of those whose word is avoided if it ends here; None: there are none."""
        if self._exact is None:
            return None if self._held is None else self._held[states.node]
        hold = self._exact.hold(states)
        return hold if self._held is None else hold | self._held[states.node]

    def is_one_too_many(self, states: States, tokens: IntArray) -> BoolArray:
        """Return a mask of the tokens that complete a phrase more often than it may occur."""
        if self._exact is None:
            return np.zeros(tokens.shape, np.bool_)
        return self._exact.exceeds(states, tokens)

    def breaks(self, states: States) -> BoolArray:
        """Return a mask of those that have just completed an avoided phrase."""
        return self._avoided[states.node]

    def strict(self, states: States) -> BoolArray | None:
        """Return a mask of those that may only take what they ask for; None: there are none."""
        return None if self._strict is None else self._strict[states.node]

    def forbids(self, states: States, tokens: IntArray, nodes: IntArray) -> BoolArray:
        """Return a mask of the tokens that hypotheses may not take; they lead to ``nodes``.

        # shape: (hypotheses, tokens), as that of the tokens.
        """
        forbidden = self._avoided[nodes] | self.is_one_too_many(states, tokens)
        hold = self.hold(states)
        if hold is not None and self.whole_words is not None:
            forbidden |= hold[:, None] & self.whole_words.ended(tokens)
        return forbidden

    # --- what has been met --------------------------------------------------------------------

    def hard_need(self, states: States, sentences: IntArray) -> IntArray:
        """Return how many constraint tokens of what can't be given up are still missing."""
        if self.soft is None:
            return self.sizes[sentences] - states.bank
        wanted = zip(states.unmet, self.soft.hard_wanted, strict=True)
        unmet = tuple(bits & hard[states.node] for bits, hard in wanted)
        have = self.soft.hard_tokens(states)
        if self.progress:
            have = have + tokens_in_progress(self.progress, states, unmet)
        return self._hard_sizes[sentences] - have

    def at(self, node: IntArray, met: Bits) -> States:
        """Return the states of hypotheses at given nodes that have met given phrases.

        Only the phrases are known, not their tokens: the banks are zero.
        """
        zeros = np.zeros_like(node)
        if self.multipart is not None:
            met = self.multipart.forget_late(node, met)
        seen, _ = complete(self._completed_later, node, met, zeros)
        return States(node, met, zeros, seen, zeros, zeros)

    def met_sets(self, states: States) -> list[IntArray]:
        """Return numbers that are equal for hypotheses with the same set of tokens met."""
        seen, stages = states.seen, states.stages
        if self.multipart is not None and stages is not None:
            seen = self.multipart.without_ages(states.node, seen, stages)
        return [nodes_in_progress(self.progress, states), *(bits.view(np.int64) for bits in seen)]


def _spread(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array in this shape, in one piece."""
    return np.ascontiguousarray(array if array.shape == shape else np.broadcast_to(array, shape))

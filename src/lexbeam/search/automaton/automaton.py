"""Constraints of a whole batch as integer tables, and hypotheses that walk through them.

A hypothesis carries its node in the trie of its sentence (`automaton.trie`) and the bits of the
phrases it has met. Taking a token is a handful of array operations, however many hypotheses,
phrases and sentences there are: the tries of all sentences lie in one set of tables.

A phrase can be made to count as a whole word only: then it is *seen* when its last token has
been taken, which is enough for its bank, and *met* when the next token is a boundary (or the
end). A token that goes on with the word unwinds it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np

from lexbeam.search import kernel
from lexbeam.search.arrays import (
    PAD,
    Bits,
    BoolArray,
    IntArray,
    Tokens,
    intersects,
    leave_out_empty,
    pack_bits,
)
from lexbeam.search.automaton.asked_and_banned import WORTH_PACKING, AskedAndBanned, pack_useful
from lexbeam.search.automaton.bit_layout import BitLayout, lay_out_bits
from lexbeam.search.automaton.completions import (
    complete,
    nodes_in_progress,
    pack_completions,
    pack_progress,
    tokens_in_progress,
)
from lexbeam.search.automaton.exact_counts import ExactCounts
from lexbeam.search.automaton.kernel_tables import make_tables
from lexbeam.search.automaton.multipart import MultipartPatterns
from lexbeam.search.automaton.obstacles import Obstacles
from lexbeam.search.automaton.patterns import Beginning, TokenConstraint
from lexbeam.search.automaton.soft import SoftConstraints
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.transitions import Transitions
from lexbeam.search.automaton.trie import Node, Trie
from lexbeam.search.automaton.whole_words import WordBoundaries


class _Tables:
    """Tables for the phrases of every sentence of a batch.

    With ``words`` phrases count as whole words only, without they are plain token sequences.
    ``can_hold`` says whether the model can be told not to end a word (`search.scorer`); ``eos``
    is the token with which an output ends.
    """

    def __init__(
        self,
        constraints: Sequence[Sequence[TokenConstraint]],
        avoided: Sequence[Sequence[Tokens]],
        vocabulary_size: int,
        words: WordBoundaries | None = None,
        can_hold: bool = True,
        eos: int | None = None,
    ) -> None:
        self.whole_words = words
        self.can_hold = can_hold
        self.eos = -1 if eos is None else eos
        self.layouts = [lay_out_bits(each, words, i) for i, each in enumerate(constraints)]
        self.sizes = np.array([layout.size for layout in self.layouts], dtype=np.int64)
        self.bit_arrays = max(
            -(-max((layout.wanted for layout in self.layouts), default=0) // 64), 1
        )
        """How many arrays a set of bits takes (`arrays.Bits`)."""
        self._hard_sizes = np.array([layout.hard_size for layout in self.layouts])
        self.tries = self._make_tries(constraints, avoided, can_hold)
        self.obstacles = Obstacles(self.layouts, self.tries, words)
        # Node 0 belongs to no sentence: the padding of the tables points to it.
        first_nodes = [1, *(len(trie.nodes) for trie in self.tries)]
        self.roots = np.cumsum(first_nodes, dtype=np.int64)[:-1]  # shape: (sentences,)
        self._transitions = Transitions.compile(self.tries, self.roots, vocabulary_size, words)
        self.follow = self._transitions.follow
        self._listed = AskedAndBanned.compile(self.tries, self.roots)
        self._exact = ExactCounts.compile(self.tries, self.bit_arrays, words, can_hold)
        self._tabulate_nodes()
        self._tabulate_patterns()

    # --- compilation, once per batch ----------------------------------------------------------

    def _make_tries(
        self,
        constraints: Sequence[Sequence[TokenConstraint]],
        avoided: Sequence[Sequence[Tokens]],
        can_hold: bool,
    ) -> list[Trie]:
        """Return the tries of all sentences; those that ask for the same share one."""
        tries: dict[Hashable, Trie] = {}
        keys = []
        for layout, asked, avoid in zip(self.layouts, constraints, avoided, strict=True):
            kinds = tuple(isinstance(phrase, Beginning) for phrase in avoid)
            keys.append((tuple(asked), tuple(avoid), kinds))
            if keys[-1] not in tries:
                tries[keys[-1]] = self._make_trie(layout, avoid, can_hold)
        return [tries[key] for key in keys]

    def _make_trie(self, layout: BitLayout, avoided: Sequence[Tokens], can_hold: bool) -> Trie:
        """Return the trie of a sentence; what can be held until its word ends is not banned."""
        words = self.whole_words if can_hold else None
        held: list[Tokens] = []
        banned: list[Tokens] = []
        for phrase in avoided:
            waits = words is not None and words.waits(phrase)
            (held if waits and not isinstance(phrase, Beginning) else banned).append(phrase)
        return Trie(layout.goals, banned, held, self.whole_words, layout.joined)

    def _tabulate_nodes(self) -> None:
        """Tabulate what ends, what has begun and what is forbidden at each node."""
        nodes = [Node(depth=0), *(node for trie in self.tries for node in trie.nodes)]
        root_of = [0, *(r for r, t in zip(self.roots, self.tries, strict=True) for _ in t.nodes)]
        serves = pack_bits([node.serves for node in nodes], self.bit_arrays)
        self._serves = leave_out_empty(serves)
        ends = [[goal for goal in node.ends if not goal.waits] for node in nodes]
        waiting = [[goal for goal in node.ends if goal.waits] for node in nodes]
        self._completed_now = pack_completions(ends, self.bit_arrays)
        self._completed_later = pack_completions(waiting, self.bit_arrays)
        begun = [node.progress for node in nodes]
        self.progress = pack_progress(begun, root_of, self.bit_arrays)
        self._avoided = np.array([node.avoided for node in nodes], dtype=np.bool_)
        held = np.array([node.held for node in nodes], dtype=np.bool_)
        strict = np.array([node.strict for node in nodes], dtype=np.bool_)
        self._held = held if held.any() else None  # shape: (nodes,)
        self._strict = strict if strict.any() else None  # shape: (nodes,)

    def _tabulate_patterns(self) -> None:
        """Make the tables that few batches need: of penalties, and of patterns of several parts."""
        # Node 0, which belongs to no sentence, has an empty layout; it comes last.
        layouts, sentences = [*self.layouts, BitLayout()], len(self.tries)
        sizes = [len(trie.nodes) for trie in self.tries]
        owners = np.concatenate(([sentences], np.repeat(np.arange(sentences), sizes)))
        self.soft: SoftConstraints | None = None
        if any(layout.soft for layout in self.layouts):
            self.soft = SoftConstraints(layouts, owners, self.bit_arrays)
        self.multipart: MultipartPatterns | None = None
        if any(layout.stages for layout in self.layouts):
            self.multipart = MultipartPatterns(
                layouts, owners, self.tries, self.whole_words, self.bit_arrays, self.eos
            )

    @property
    def can_wait(self) -> bool:
        """Whether there is anything that is seen before it is met."""
        return bool(self._completed_later)

    @property
    def most_asked(self) -> int:
        """How many tokens a hypothesis may ask for at most."""
        return int(self._listed.ask_tokens.shape[1])

    @property
    def can_ban(self) -> bool:
        """Whether there is anything to avoid."""
        return bool(self._listed.ban_here.shape[1] or self._listed.ban_always.size)

    @property
    def is_plain(self) -> bool:
        """Whether there is only what to meet or to avoid: whole steps know no more.

        Nothing is held, strict or counted exactly.
        """
        few = self._held is None and self._strict is None and self._exact is None
        return few and self.bit_arrays == 1

    @cached_property
    def kernel_tables(self) -> object | None:
        """The tables for the compiled kernel; None if a set of bits takes several arrays."""
        if self.bit_arrays > 1:
            return None
        return make_tables(
            self._transitions,
            self._listed,
            self._serves[0][1],
            self._completed_now,
            self._completed_later,
            self.progress,
            None if self.whole_words is None else self.whole_words.boundary,
            self.multipart,
        )


class Automaton(_Tables):
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
        if nodes is None:
            nodes = self.follow(states.node, tokens)
        return self._take_token(nodes, tokens, *states[1:5])

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
        return self._take_token(nodes, tokens, met, met_tokens, seen, seen_tokens)

    def _take_token(
        self,
        nodes: IntArray,
        tokens: IntArray,
        met: Bits,
        met_tokens: IntArray,
        seen: Bits,
        seen_tokens: IntArray,
    ) -> States:
        """Find out which words have ended, and arrive at the nodes."""
        multipart = self.multipart
        if multipart is not None and multipart.any_at_end:
            seen = multipart.unwind_ends(nodes, tokens, seen)
        if self.whole_words is not None:
            ended = self.whole_words.ended(tokens)
            met = tuple(np.where(ended, s, m) for s, m in zip(seen, met, strict=True))
            met_tokens = np.where(ended, seen_tokens, met_tokens)
        else:
            met, met_tokens = seen, seen_tokens
        if multipart is not None:
            met = multipart.shift(nodes, tokens, met)
        return self._arrive(nodes, met, met_tokens)

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
        """Return the states that the compiled kernel has written. # shape: (COLUMNS, …)."""
        return States.of_columns(columns, self.can_wait, self.multipart is not None)

    # --- what a hypothesis may and should take next -------------------------------------------

    def ask(self, states: States) -> tuple[IntArray, IntArray]:
        """Return the tokens that start or continue an unmet phrase, and where they lead.

        # shape of both: (hypotheses, asked); `PAD` where a hypothesis has less to ask.
        """
        if kernel.compiled is not None and self.kernel_tables is not None and self._exact is None:
            return self._ask_compiled(states)
        targets = self._listed.ask_targets.take(states.node, axis=0)
        if not targets.size:
            return targets, targets
        useful = intersects(self._serves, targets, [bits[:, None] for bits in states.unmet])
        tokens = self._listed.ask_tokens.take(states.node, axis=0)
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
        stages = None if states.stages is None else states.stages[0]
        given = self.kernel_tables, PAD, None, None, None, states.node, states.seen[0], stages
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

    def forbids(self, states: States, tokens: IntArray, after: States) -> BoolArray:
        """Return a mask of the tokens that hypotheses may not take; ``after`` is where they lead.

        # shape: (hypotheses, tokens), as that of the tokens.
        """
        forbidden = self.breaks(after) | self.is_one_too_many(states, tokens)
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

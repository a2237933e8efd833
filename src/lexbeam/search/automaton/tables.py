"""The constraints of a whole batch as integer tables: the tries of all sentences in one set."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property

import numpy as np

from lexbeam.search.arrays import Tokens, fill_in_empty, leave_out_empty, pack_bits
from lexbeam.search.automaton.asked_and_banned import AskedAndBanned
from lexbeam.search.automaton.bit_layout import BitLayout, lay_out_bits
from lexbeam.search.automaton.completions import pack_completions, pack_progress
from lexbeam.search.automaton.exact_counts import ExactCounts
from lexbeam.search.automaton.kernel_tables import MOST_BIT_ARRAYS, make_tables
from lexbeam.search.automaton.multipart import MultipartPatterns
from lexbeam.search.automaton.obstacles import Obstacles
from lexbeam.search.automaton.patterns import Beginning, TokenConstraint
from lexbeam.search.automaton.soft import SoftConstraints
from lexbeam.search.automaton.transitions import Transitions
from lexbeam.search.automaton.trie import Node, Trie
from lexbeam.search.automaton.whole_words import WordBoundaries


class Tables:
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
        self.bit_arrays = max((layout.arrays for layout in self.layouts), default=1)
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
        if len(self.layouts) == 1:
            return [self._make_trie(self.layouts[0], avoided[0], can_hold)]
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
        root_of = np.concatenate(([0], self.roots.repeat([len(t.nodes) for t in self.tries])))
        serves = pack_bits([node.serves for node in nodes], self.bit_arrays)
        self._serves = leave_out_empty(serves)
        ending = [(number, node.ends) for number, node in enumerate(nodes) if node.ends]
        now = [(number, [goal for goal in ends if not goal.waits]) for number, ends in ending]
        later = [(number, [goal for goal in ends if goal.waits]) for number, ends in ending]
        self._completed_now = pack_completions(now, len(nodes), self.bit_arrays)
        self._completed_later = pack_completions(later, len(nodes), self.bit_arrays)
        begun = [(number, node.progress) for number, node in enumerate(nodes) if node.progress]
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
        """Whether nodes say all that may be taken: nothing is held, strict or counted exactly."""
        return self._held is None and self._strict is None and self._exact is None

    @cached_property
    def kernel_tables(self) -> object | None:
        """The tables for the compiled kernel; None if a set of bits takes too many arrays."""
        if self.bit_arrays > MOST_BIT_ARRAYS:
            return None
        return make_tables(
            self._transitions,
            self._listed,
            fill_in_empty(self._serves, self.bit_arrays, self._avoided.shape),
            self._completed_now,
            self._completed_later,
            self.progress,
            None if self.whole_words is None else self.whole_words.boundary,
            self.multipart,
        )

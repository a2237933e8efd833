"""How many tokens a hypothesis still needs before it may end.

The search promises that every constraint is met as long as the length limit allows it. To keep
the promise, a hypothesis must be dropped when it can no longer finish within the limit, and not
before. For a sentence with few phrases the exact number is worked out for each state of its
automaton, backwards from the states that may end: phrases may share tokens, and avoided phrases may
stand in the way. With many phrases, where there are too many states, the length of a plan is used
(`automaton.plans`): phrases are written side by side.
"""

from __future__ import annotations

import numpy as np

from lexbeam.search.arrays import BoolArray, IntArray, Tokens
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.moves import MOST_ASKED
from lexbeam.search.automaton.need_tables import Needs, NeedTables
from lexbeam.search.automaton.obstacles import has_filler, may_be_stuck
from lexbeam.search.automaton.plans import Plans
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.side_by_side import always_works, is_placeable
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ROOT, Trie
from lexbeam.search.automaton.useful_ages import AgesInKeys

_MOST_BITS = 12
_MOST_STATES = 1 << 18
_MOST_STATES_AT_ONCE = 1 << 11
"""So many are worked out before decoding starts, more only when a limit comes near."""
_MOST_HELPFUL = 96
"""Of more tokens than this only some are asked for."""
_MOST_BITS_OF_KEYS = 40
_TIMES_GUESSED, _MORE_THAN_GUESSED = 2, 16
"""So many times the tokens that seem to be needed, and so many more, are enough, as far as seen."""
_MOST_TO_GO_ON = 16
"""Tokens after which a word that may not end can have become one that may, far more than seen."""


class RemainingTokens:
    """How many tokens are still needed, for every state of every sentence of a batch."""

    def __init__(self, automaton: Automaton, vocabulary_size: int, *ends: int) -> None:
        self._automaton = automaton
        self._vocabulary_size = vocabulary_size
        self._ends = ends
        # What may be given up is needed by nobody: only the bits of the rest tell states apart.
        self._bits = np.array([layout.hard_bits for layout in automaton.layouts])
        sizes = np.array([len(trie.nodes) for trie in automaton.tries])
        chained = np.array([_has_chains(layout) for layout in automaton.layouts], np.bool_)
        states = sizes << np.minimum(self._bits, _MOST_BITS)
        small = (self._bits <= _MOST_BITS) & (states <= _MOST_STATES)
        self.exact = np.where(chained, self._bits <= _MOST_BITS_OF_KEYS, small)
        self._chained = chained
        self._solved: list[Needs | None] = [None] * len(automaton.tries)
        self._ages = AgesInKeys(automaton, self._bits)
        known = self._bits, chained, self._ages
        self._tables = NeedTables(automaton, vocabulary_size, ends, *known)
        self._plans: dict[int, Plans] = {}
        self._proven: dict[int, bool] = {}
        self.planned: set[int] = set()
        """The sentences for which a plan of the whole output has been found (`need_of`)."""
        self._may_be_stuck: set[int] = set()
        self._laid_out = np.zeros(len(automaton.tries), np.bool_)
        self.most_needed = automaton.sizes.copy()
        """As much as any state of a sentence needs, or more. # shape: (sentences,)"""
        self._most_behind = self.most_needed.copy()
        self._longest_beginning = np.full(len(automaton.tries), NEVER)
        self.alphabets = np.array([len(trie.alphabet) for trie in automaton.tries], np.int64)
        """The tokens in the phrases of each sentence; all other tokens are alike. # shape:
        (sentences,)"""
        at_once = self.exact & (chained | (states <= _MOST_STATES_AT_ONCE))
        self._side_by_side = _concatenate(automaton)
        for sentence in np.flatnonzero(~self._side_by_side).tolist():
            is_bounded = automaton.layouts[sentence].strict and self._is_proven(sentence)
            solved = self._solve(sentence) if at_once[sentence] and not is_bounded else None
            self.most_needed[sentence] = self._most_needed_in(sentence, solved)

    def _most_needed_in(self, sentence: int, solved: Needs | None) -> int:
        """Return the largest need of a state that the search can reach, or a bound on it."""
        layout = self._automaton.layouts[sentence]
        if solved is None:
            proven = self._is_proven(sentence)
            hindered = _is_hindered(layout, self._automaton.tries[sentence])
            if hindered and may_be_stuck(self._automaton, sentence, self._ends):
                self._may_be_stuck.add(sentence)
            if proven:  # A word may have to go on before the plan begins, if something is avoided.
                behind = layout.hard_size + hindered * _MOST_TO_GO_ON
                return self._note_beginnings(sentence, behind) if layout.strict else behind
            if not proven and any(goal.exact for goal in layout.goals):
                return NEVER  # What may not be said again can be missing at any time.
            # Before each part, and at first, a word may have to go on and another to begin. Twice
            # that is far more than has been seen; it only makes the search look earlier.
            strict = (len(goal.tokens) for goal in layout.goals if goal.strict)
            parts = len(layout.hard_tokens) + 1
            return 2 * (layout.hard_size + 2 * parts) + max(strict, default=0)
        need = solved.need
        if layout.strict and is_placeable(layout):
            # States that no output may begin with are never reached. (Where something can't be
            # placed everywhere, the end may be out of reach from other states, too.)
            start = self._automaton.start().take(np.array([sentence]))
            begins = [goal for goal in layout.goals if goal.strict]
            keys = np.arange(len(need)) if solved.keys is None else solved.keys
            is_behind = (keys & sum({goal.wanted for goal in begins})) != 0
            self._most_behind[sentence] = need[is_behind & (need < NEVER)].max(initial=0)
            self._longest_beginning[sentence] = max(len(goal.tokens) - 1 for goal in begins)
            if (need >= NEVER).any():
                self._may_be_stuck.add(sentence)
            need = np.append(need[need < NEVER], self.need_of(sentence, start))
        return int(need.max())

    def _note_beginnings(self, sentence: int, behind: int) -> int:
        """Return the largest need within or behind a strict beginning, and note those of both.

        ``behind`` is a bound on what is needed behind it if it were still to be written.
        """
        beginnings, layout = self.plan(sentence).beginnings, self._automaton.layouts[sentence]
        sizes = {goal.wanted: goal.size for goal in layout.goals if goal.strict}
        self._most_behind[sentence] = behind - sum(sizes.values())
        if beginnings.most < NEVER:
            self._longest_beginning[sentence] = beginnings.longest
        return max(behind, beginnings.most)

    def tight_from(self, limits: IntArray, sentences: IntArray) -> IntArray:
        """Return the first steps at which outputs might have too few tokens left.

        ``limits`` are those of the sentences. Within a strict beginning each token leaves one
        less to do, so that it is enough if there is room for the longest one, and for the rest.
        # shape: (sentences,)
        """
        behind = self._most_behind[sentences]
        has_room = self._longest_beginning[sentences] + behind <= limits
        most = np.where(has_room, behind, self.most_needed[sentences])
        steps: IntArray = limits - most
        return steps

    def needs(self, states: States, sentences: IntArray, left: IntArray | int = -1) -> IntArray:
        """Return how many tokens each hypothesis must still take. # shape: as the states.

        ``left``, which is broadcast against the states, are those that it may still take: of what
        has enough, it need not be known how much is enough.
        """
        if not self._laid_out[sentences].all():
            self._lay_out(sentences)
        keys = self._tables.keys(states, sentences)
        dense = self._dense[sentences]
        indices = np.where(dense, keys + self._offset[sentences], 0)
        need: IntArray = np.array(self._table[indices])
        if dense.all():
            return need
        sentences = np.broadcast_to(sentences, need.shape)
        left = np.broadcast_to(left, need.shape)
        flat = states.flat()
        for sentence in np.unique(sentences[~np.broadcast_to(dense, need.shape)]).tolist():
            here = sentences == sentence
            rows = np.flatnonzero(here)
            if self._solve(sentence) is not None:
                need[here] = self._need_by_key(sentence, keys[here])
            else:
                need[here] = self.plan(sentence).needs(flat.take(rows), int(left[here][0]))
        return need

    def is_tabulated(self, sentences: IntArray) -> bool:
        """Return whether all needs of some sentences are known: `needs` looks them up."""
        if not self._laid_out[sentences].all():
            self._lay_out(sentences)
        return bool(self._dense[sentences].all())

    def follows_plans(self, sentence: int) -> bool:
        """Return whether plans are followed to know what a sentence needs."""
        return not self._is_proven(sentence) and self._solve(sentence) is None

    def is_guess(self, sentence: int) -> bool:
        """Return whether a state may be reached that needs more than `most_needed` says."""
        return sentence in self._may_be_stuck or self.follows_plans(sentence)

    def guess_spare(self, sentence: int, states: States, left: IntArray | int) -> IntArray:
        """Return how much room states seem to have beyond what they need, if plans are followed.

        It is quickly said, and mostly right: twice what seems to be needed is left for that.
        ``left`` is how many tokens each may still take. # shape: as the states, (states,)
        """
        need = self.plan(sentence).guess_needs(states)
        spare: IntArray = left - _TIMES_GUESSED * need - _MORE_THAN_GUESSED
        return spare

    def may_look_away(self, sentence: int) -> bool:
        """Return whether plans are followed, and there is time to begin anew.

        After steps that were not looked at, nothing is known of the states that were reached.
        """
        return self.follows_plans(sentence) and self.plan(sentence).has_much_time

    def knows_no_more(self, sentence: int) -> bool:
        """Return whether plans are followed, and there is no time now to follow others."""
        return self.follows_plans(sentence) and not self.plan(sentence).has_time

    def may_be_late(self, sentence: int, states: States, left: IntArray) -> bool:
        """Return whether any hypothesis of a sentence might need more than is left after a token.

        It is quickly said where a plan takes the place of exact numbers.
        """
        return self._solve(sentence) is not None or self.plan(sentence).may_be_late(states, left)

    def need_of(self, sentence: int, states: States, limit: int = -1) -> int:
        """Return the least need of some hypotheses of one sentence; those with least come first.

        If it is more than the ``limit``, and not exact, a shorter output is looked for.
        """
        if self._solve(sentence) is None:
            plan, first = self.plan(sentence), states.take(np.arange(len(states.node))[:MOST_ASKED])
            need = int(plan.needs(first, -1).min())
            if need > limit >= 0:
                plan.find_shorter(states, limit)
                need = min(need, int(plan.known_needs(states).min()))
            if need < NEVER and (limit < 0 or need <= limit):
                self.planned.add(sentence)
            return need
        keys = self._tables.keys(states, np.array([sentence]))
        return int(self._need_by_key(sentence, keys).min())

    def plan(self, sentence: int) -> Plans:
        """Return the plans of a sentence, of whatever kind they are."""
        if sentence not in self._plans:
            self._plans[sentence] = Plans(
                self._automaton,
                sentence,
                self.helpful_tokens(sentence),
                self._is_proven(sentence),
            )
        return self._plans[sentence]

    def count_followed(self, sentence: int) -> int:
        """Return how many states have had their plans followed."""
        return self._plans[sentence].count_known() if sentence in self._plans else 0

    def _is_proven(self, sentence: int) -> bool:
        """Return whether writing what is unmet side by side always works."""
        if sentence not in self._proven:
            given = self._automaton, sentence
            filler = has_filler(*given, self._vocabulary_size, self._ends)
            self._proven[sentence] = always_works(*given, filler)
        return self._proven[sentence]

    def helpful_tokens(self, sentence: int) -> IntArray:
        """Return tokens that a hypothesis may need though they go on with no constraint."""
        if self._side_by_side[sentence] and not self._chained[sentence]:
            return np.empty(0, np.int64)
        tokens = self._tables.tokens_of(sentence)[0]
        if len(tokens) <= _MOST_HELPFUL:
            return tokens
        in_trie = self._automaton.tries[sentence].alphabet
        first: dict[int, Tokens] = {}
        for goal in self._automaton.layouts[sentence].goals:
            if goal.tokens[0] >= 0:
                first[goal.wanted] = min(first.get(goal.wanted, goal.tokens), goal.tokens, key=len)
        others = tokens[~np.isin(tokens, in_trie)]
        return np.unique([*others.tolist(), *(tokens[0] for tokens in first.values())])

    def _need_by_key(self, sentence: int, keys: IntArray) -> IntArray:
        solved = self._solve(sentence)
        assert solved is not None
        if solved.keys is None:
            return solved.need[keys]
        keys = self._ages.leave_out(sentence, keys)
        indices = np.minimum(np.searchsorted(solved.keys, keys), len(solved.keys) - 1)
        # A missing state is reachable only through an avoided phrase.
        return np.where(solved.keys[indices] == keys, solved.need[indices], NEVER)

    def _lay_out(self, sentences: IntArray) -> None:
        """Put the tables of some sentences, and those from before, into one to be looked up in."""
        self._laid_out[sentences] = True
        solved = [
            self._solve(sentence) if wanted else None
            for sentence, wanted in enumerate(self._laid_out.tolist())
        ]
        self._dense = np.array([one is not None and one.keys is None for one in solved], np.bool_)
        nothing = np.zeros(1, np.int64)
        tables = [one.need if one and one.keys is None else nothing for one in solved]
        self._offset = np.cumsum([0, *map(len, tables)])[:-1]
        self._table = np.concatenate(tables)

    def _solve(self, sentence: int) -> Needs | None:
        """Work the need out for each state of a sentence; None if there are too many."""
        if self.exact[sentence] and self._solved[sentence] is None:
            self._solved[sentence] = self._tables.solve(sentence)
            self.exact[sentence] = self._solved[sentence] is not None
        return self._solved[sentence]


def _concatenate(automaton: Automaton) -> BoolArray:
    """Return a mask of the sentences whose phrases can be put side by side in any order."""
    words = automaton.whole_words
    free = []
    for layout, trie in zip(automaton.layouts, automaton.tries, strict=True):
        hindered = _is_hindered(layout, trie)
        anchored = layout.strict or layout.at_end or layout.soft
        first = [token for token in trie.nodes[ROOT].children if token >= 0]
        glued = words and words.unfinished[first].any()
        free.append(not hindered and not glued and not anchored and is_placeable(layout))
    return np.array(free, dtype=np.bool_)


def _has_chains(layout: BitLayout) -> bool:
    """Return whether something that can't be given up has parts that follow each other."""
    return any(register.first < layout.hard_bits for register in layout.registers)


def _is_hindered(layout: BitLayout, trie: Trie) -> bool:
    """Return whether something may not be said, or not more often."""
    may_not = any(node.avoided or node.held for node in trie.nodes)
    return may_not or any(goal.exact for goal in layout.goals)

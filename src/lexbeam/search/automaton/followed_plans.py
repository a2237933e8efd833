"""Plans that are followed to their ends, one token after the other (`plans`).

What a plan is, and why whoever has room for its plan always has a token after which there still is
room, is said in `lexbeam.search.automaton.plans`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.moves import MOST_ASKED, Key, Moves
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.side_by_side import SideBySide
from lexbeam.search.automaton.states import States

_WIDTH = 128
"""States that are kept side by side at most when a short output is looked for."""

_LEAST_WIDTH = 24
"""States that are kept at least: fewer take hardly less time."""

_MOST_WORK = 1_000_000
"""Tokens that may be tried to find a short output of a sentence, times the parts of its
constraints and the arrays that a set of its bits takes. A third may be tried to follow plans."""

_SHARE = 64
"""This part of what is left of the tries may be made at a time."""

MOST_TO_GO_ON = 16
"""Tokens of a word that may not end after any but the last of them, far more than seen."""


class FollowedPlans:
    """The plans of one sentence, as far as they were followed.

    ``tokens`` are those that a plan may need beside the ones that go on with a constraint.
    """

    def __init__(self, automaton: Automaton, sentence: int, tokens: IntArray) -> None:
        self._automaton = automaton
        self._sentence = sentence
        self._enough = SideBySide(automaton, sentence)
        self._moves = Moves(automaton, sentence, tokens, self._enough)
        self._known: dict[Key, int] = {}
        self._behind_fillers: dict[Key, int] = {}  # the lengths of plans that begin with fillers
        self._shortest: dict[Key, int] = {}  # the least of both
        layout = automaton.layouts[sentence]
        self._most_tries = _MOST_WORK // (max(len(layout.hard_tokens), 1) * layout.arrays)
        self._tries_left = self._most_tries // 3
        self._least_refused = 0  # what was too long when nothing was short enough to be followed

    def guess_needs(self, states: States) -> IntArray:
        """Return about how many tokens states need; what is demanded may be in its own way."""
        return self._enough.needs(states)

    def say_too_much(self, states: States) -> bool:
        """Return whether, after all of these states, something will be there too often.

        It is quickly said, and a guess.
        """
        to_write = self._moves.to_write
        return to_write is not None and bool(to_write.says_too_much(states).all())

    def begin_again(self) -> None:
        """Forget how long plans have been followed, but not the plans."""
        self._tries_left = self._most_tries // 3
        self._least_refused = 0

    @property
    def has_much_time(self) -> bool:
        """Whether at least half of what may be tried to follow plans has not been tried yet."""
        return self._tries_left > self._most_tries // 6

    @property
    def has_time(self) -> bool:
        """Whether a plan may be followed now that is not known yet."""
        affordable = max(self._tries_left, 0) // (_SHARE * MOST_ASKED)
        return affordable >= max(self._least_refused // 2, 1)

    def follow_all(self, states: States, left: int) -> IntArray:
        """Return the length of each state's plan, found by following it.

        If ``left`` is not negative, those are followed first that have least to do, as long as
        there is time for it. What is not followed counts as a state without a plan. That promises
        less than it could, and nothing that is not so.
        """
        keys = self._moves.keys(states)
        first = {key: number for number, key in enumerate(keys) if key not in self._known}
        if first and left >= 0:
            first = self._choose_to_follow(states, first, left)
        if first:
            self._follow(states.take(np.array(list(first.values()))), list(first))
        return self._lengths(keys)

    def known_needs(self, states: States) -> IntArray:
        """Return the lengths of the shortest plans that are known. # shape: (states,)."""
        return self._lengths(self._moves.keys(states))

    def count_known(self) -> int:
        """Return of how many states plans were looked for."""
        return len(self._known)

    def may_end(self, states: States) -> bool:
        """Return whether an output may end in all of these states."""
        return bool(self._moves.is_done(states).all())

    def end_word(self, states: States) -> States:
        """Return the states after all tokens that end a word, first those with least to do."""
        words, tokens = self._automaton.whole_words, self._moves.ask_all(states)
        if words is not None:
            tokens = np.where(words.unfinished[tokens], PAD, tokens)
        after, forbidden = self._moves.look_ahead(states, tokens)
        after = after.take(np.flatnonzero(~forbidden))
        return after.take(self._enough.needs(after).argsort(kind="stable"))

    def _choose_to_follow(self, states: States, new: dict[Key, int], left: int) -> dict[Key, int]:
        """Return those of new states, given by their index, whose plans are followed now."""
        has_time = self.has_time
        # What stands on the way of a plan that is known has to be known, too: that takes no tries.
        new = self._leave_out_early(states, new, left, has_time)
        if has_time:
            return self._choose(states, new, left) if new else new
        self._least_refused -= 1
        done = self._moves.is_done(states)
        return {key: number for key, number in new.items() if done[number]}

    def _lengths(self, keys: Sequence[Key]) -> IntArray:
        """Return the lengths of the shortest plans that are known. # shape: (keys,)."""
        shortest = self._shortest.get
        return np.array([shortest(key, NEVER) for key in keys], np.int64)

    def _shorten(self, key: Key, length: int) -> None:
        """Take note of a plan of a state."""
        self._shortest[key] = min(length, self._shortest.get(key, NEVER))

    def _leave_out_early(
        self, states: States, new: dict[Key, int], left: int, follows: bool
    ) -> dict[Key, int]:
        """Return those of new states, given by their index, that have no room for fillers.

        A plan may begin with tokens that are in no phrase, until they make no difference any more.
        Most states come to the same few states by that, and only the plans of these are followed,
        unless nothing is.
        """
        unknown = {key: new[key] for key in new if key not in self._behind_fillers}
        if unknown and self._moves.filler is not None:
            rows = np.array(list(unknown.values()))
            rest, rows, fillers = self._moves.take_all_fillers(states.take(rows))
            keys = self._moves.keys(rest)
            at_rest = {key: number for number, key in enumerate(keys) if key not in self._known}
            chosen = self._choose(rest, at_rest, left) if at_rest and follows else {}
            if chosen:
                self._follow(rest.take(np.array(list(chosen.values()))), list(chosen))
            here = list(unknown)
            for row, key, more in zip(rows.tolist(), keys, fillers.tolist(), strict=True):
                if self._known.get(key, NEVER) < NEVER:
                    self._behind_fillers[here[row]] = self._known[key] + more
                    self._shorten(here[row], self._known[key] + more)
        return {key: new[key] for key in new if self._behind_fillers.get(key, NEVER) > left}

    def _choose(self, states: States, new: dict[Key, int], left: int) -> dict[Key, int]:
        """Return those of new states, given by their index, whose plans may be followed now."""
        keys = sorted(new)  # in an order that does not depend on what was asked first
        enough = self._enough.needs(states.take(np.array([new[key] for key in keys])))
        order = enough.argsort(kind="stable")
        fits = (enough[order] * MOST_ASKED).cumsum() <= max(self._tries_left, 0) // _SHARE
        # A token leaves about one less to do, so it makes no sense to ask again soon.
        self._least_refused = 0 if fits[0] else int(enough[order[0]])
        fits &= enough[order] <= left
        return {keys[number]: new[keys[number]] for number in order[fits].tolist()}

    def _follow(self, states: States, keys: Sequence[Key]) -> None:
        """Follow the plans of states to their ends, or to where they are known or go in circles."""
        paths: list[dict[Key, None]] = [{key: None} for key in keys]
        rows = np.arange(len(paths))  # those that go on
        while len(rows):
            done = self._moves.is_done(states)
            for row in rows[done].tolist():
                self._remember(list(paths[row]), 0)
            states, rows = states.take(np.flatnonzero(~done)), rows[~done]
            if not len(rows):
                break
            states, open_rows = self._take_next(states)
            rows = rows[open_rows]
            going = []
            reached = zip(rows.tolist(), self._moves.keys(states), strict=True)
            for number, (row, key) in enumerate(reached):
                if key in self._known:
                    self._remember([*paths[row], key], self._known[key])
                elif key not in paths[row]:
                    paths[row][key] = None
                    going.append(number)
            states, rows = states.take(np.array(going, np.int64)), rows[going]
        for path in paths:
            for key in path:
                self._known.setdefault(key, NEVER)

    def _remember(self, path: Sequence[Key], need: int) -> None:
        """Remember the length of a plan that ends with a state of known need."""
        if need >= NEVER:
            return
        for more, key in enumerate(reversed(path)):
            self._known[key] = min(need + more, self._known.get(key, NEVER))
            self._shorten(key, need + more)

    def _take_next(self, states: States) -> tuple[States, BoolArray]:
        """Take the next token of each state's plan; also return which states have one."""
        tokens, possible = self._best_of(states, self._moves.ask_best(states))
        stuck = np.flatnonzero(~possible)
        if len(stuck):
            others = states.take(stuck)
            tokens[stuck], possible[stuck] = self._best_of(others, self._moves.ask_all(others))
        return self._automaton.advance(
            states.take(np.flatnonzero(possible)), tokens[possible]
        ), possible

    def _best_of(self, states: States, tokens: IntArray) -> tuple[IntArray, BoolArray]:
        """Return of each row of tokens the one after which least is missing, and if there is one.

        # shape of both: (states,).
        """
        if not tokens.shape[1]:
            return np.full(len(tokens), PAD), np.zeros(len(tokens), np.bool_)
        self._tries_left -= _count_tokens(tokens)
        after, forbidden = self._moves.look_ahead(states, tokens)
        need = self._moves.missing(after, forbidden)
        rows, best = np.arange(len(need)), need.argmin(axis=1)
        return tokens[rows, best], need[rows, best] < NEVER

    def find_shorter(self, start: States, limit: int) -> None:
        """Look for an output of at most ``limit`` tokens, and make it the plan of its states.

        First it is looked for in the hope that what has to stand near something else will come soon
        enough (`Moves.hopeful`). That finds more, but not all.
        """
        hopeful = self._moves.hopeful is not None
        if not (hopeful and self._look_for_shorter(start, limit, hopes=True)):
            self._look_for_shorter(start, limit)

    def _look_for_shorter(self, start: States, limit: int, hopes: bool = False) -> bool:
        """Look for one, and return whether it was found.

        The search is given up where for longer than any part takes no token has left less to do.
        """
        beam, parents = start, []
        sizes = (size for size, _ in self._automaton.layouts[self._sentence].hard_tokens)
        patience = max(sizes, default=0) + MOST_TO_GO_ON
        least, found_at = NEVER, 0
        levels = [self._moves.keys(start)]
        ask = self._moves.ask_all
        if _count_tokens(ask(start)) > 2 * MOST_ASKED:
            ask = self._moves.ask_best
        enough = int(self._enough.needs(start).min())
        # More room must not make the beam narrower.
        tries = max(_count_tokens(ask(start)), 1) * max(enough, 1)
        limit = min(limit, 2 * enough + 16)  # What is not done by then goes round in circles.
        width = min(max(self._most_tries // tries, _LEAST_WIDTH), _WIDTH)
        for step in range(limit):
            after, forbidden = self._moves.look_ahead(beam, ask(beam))
            need = self._moves.missing(after, forbidden, hopes).ravel()
            if need.min(initial=NEVER) < least:
                least, found_at = int(need.min()), step
            elif step > found_at + patience:
                return False
            keys = self._moves.keys(after)
            order = need.argsort(kind="stable")
            best: dict[Key, int] = {}
            for number in order[need[order] < NEVER].tolist():
                if len(best) == width:
                    break
                best.setdefault(keys[number], number)
            if not best:
                return False
            chosen = np.array(list(best.values()))
            beam = after.take(chosen)
            parents.append(chosen // forbidden.shape[1])
            levels.append(list(best))
            done = np.flatnonzero(self._moves.is_done(beam))
            if len(done):
                self._remember(_trace_back(levels, parents, int(done[0])), 0)
                return True
        return False


def _count_tokens(asked: IntArray) -> int:
    """Return how many tokens there are: rows may be filled up."""
    return int(np.count_nonzero(asked != PAD))


def _trace_back(
    levels: Sequence[Sequence[Key]], parents: Sequence[IntArray], index: int
) -> list[Key]:
    """Return the states that led to one of the last level."""
    path = [levels[-1][index]]
    for level, parent in zip(reversed(levels[:-1]), reversed(parents), strict=True):
        index = int(parent[index])
        path.append(level[index])
    return path[::-1]

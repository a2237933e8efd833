"""Avoided phrases that can come about because something demanded is written behind a token.

*- Datei* may be avoided, and *Datei* demanded: behind a hyphen, *Datei* can't be written at once.
One token that is in no phrase, and begins a word, has to come first; then nothing is in the way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lexbeam.search.arrays import BoolArray, Tokens
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.trie import APART, BEGIN, Goal, Trie
from lexbeam.search.automaton.whole_words import WordBoundaries

if TYPE_CHECKING:
    from lexbeam.search.automaton.automaton import Automaton


def may_stand_behind(goal: Goal, token: int, words: WordBoundaries | None) -> bool:
    """Return whether a goal counts behind a token."""
    if token < 0 or words is None or goal.tokens[0] not in (BEGIN, APART):
        return True
    return goal.tokens[0] == APART and (bool(words.closing[token]) or words.is_mark(token))


class Obstacle(NamedTuple):
    """An avoided phrase that begins before a goal and ends in it."""

    phrase: Tokens
    before: int
    """So many of its tokens stand before the goal."""


def find_obstacles(
    goals: Sequence[Goal], trie: Trie, words: WordBoundaries | None
) -> list[Obstacle] | None:
    """Return the avoided phrases that begin before a goal and end in it.

    None: one comes about in a goal itself, or because goals stand side by side. A word that is
    avoided as a whole may begin a longer word of a goal.
    """
    by_last: dict[int, list[tuple[Tokens, bool]]] = {}
    for node, string in zip(trie.nodes, trie.strings(), strict=True):
        if (node.avoided or node.held) and string:
            by_last.setdefault(string[-1], []).append((string[::-1], node.avoided))
    found: dict[Obstacle, None] = {}
    written = [tuple(token for token in goal.tokens if token >= 0) for goal in goals]
    for goal, tokens in zip(goals, written, strict=True) if by_last else ():
        for at, token in enumerate(tokens):
            goes_on = words is not None and at + 1 < len(tokens) and not words.ends(tokens[at + 1])
            said = tokens[at::-1]
            for backwards, always in by_last.get(token, ()):
                shared = min(len(backwards), len(said))
                if not (always or not goes_on) or backwards[:shared] != said[:shared]:
                    continue
                if shared == len(backwards):
                    return None
                if may_stand_behind(goal, backwards[shared], words):
                    found[Obstacle(backwards[::-1], len(backwards) - shared)] = None
    return None if _are_of_goals(list(found), written) else list(found)


class Obstacles:
    """What is in the way in each sentence of a batch; it is found once, when it is asked for."""

    def __init__(
        self, layouts: Sequence[BitLayout], tries: Sequence[Trie], words: WordBoundaries | None
    ) -> None:
        self._layouts, self._tries, self._words = layouts, tries, words
        self._found: dict[int, list[Obstacle] | None] = {}

    def of(self, sentence: int) -> list[Obstacle] | None:
        """Return those of a sentence, as `find_obstacles` does for what must be written there.

        What may be given up need not be, and a strict beginning stands behind nothing.
        """
        if sentence not in self._found:
            layout = self._layouts[sentence]
            hard = (goal for goal in layout.goals if goal.wanted & layout.hard_wanted)
            goals = [goal for goal in hard if not goal.strict]
            self._found[sentence] = find_obstacles(goals, self._tries[sentence], self._words)
        return self._found[sentence]


def _are_of_goals(obstacles: Sequence[Obstacle], written: Sequence[Tokens]) -> bool:
    """Return whether goals that are written side by side may make up an obstacle.

    Or a goal may have begun at two places, and one of them is in the way of the other.
    """
    ends = {tokens[start:] for tokens in written for start in range(len(tokens))}
    begins = {tokens[:end] for tokens in written for end in range(1, len(tokens))}
    whole = set(written)
    twice = (
        phrase[:end] in begins
        for phrase, before in obstacles
        for end in range(before + 1, len(phrase))
    )
    return any(twice) or any(
        phrase[:end] in ends or any(phrase[start:end] in whole for start in range(end))
        for phrase, _ in obstacles
        for end in range(1, len(phrase))
    )


def has_filler(
    automaton: Automaton, sentence: int, vocabulary_size: int, ends: Sequence[int]
) -> bool:
    """Return whether there is a token in no phrase of a sentence that begins a word."""
    words = automaton.whole_words
    begins = np.ones(vocabulary_size, np.bool_) if words is None else words.boundary.copy()
    return _has_free(begins, automaton.tries[sentence], ends)


def may_be_stuck(automaton: Automaton, sentence: int, ends: Sequence[int]) -> bool:
    """Return whether a word that may not end may be unable to go on, too.

    Not if there is a token in no phrase of the sentence that goes on with a word. Where words are
    not known, all may end.
    """
    words = automaton.whole_words
    return words is not None and not _has_free(~words.boundary, automaton.tries[sentence], ends)


def _has_free(marks: BoolArray, trie: Trie, ends: Sequence[int]) -> bool:
    """Return whether one of the marked tokens is in no phrase, and no end; changes the marks."""
    marks[[*trie.alphabet, *ends]] = False
    return bool(marks.any())


class BlockedNodes:
    """Where obstacles are in the way, by the nodes of a trie. # shape of both: (nodes,)."""

    def __init__(self, trie: Trie, obstacles: Sequence[Obstacle]) -> None:
        new = {phrase[:before] for phrase, before in obstacles}
        begun = {
            phrase[:end] for phrase, before in obstacles for end in range(before + 1, len(phrase))
        }
        strings = trie.strings()
        self.new = _that_end_with(strings, new)
        """What is not begun may not be written at once."""
        self.begun = _that_end_with(strings, begun)
        """What is begun may not be gone on with."""


def _that_end_with(strings: Sequence[Tokens], ends: Collection[Tokens]) -> BoolArray:
    found = (any(each[start:] in ends for start in range(len(each))) for each in strings)
    return np.fromiter(found, np.bool_, len(strings))

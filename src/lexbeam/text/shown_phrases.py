"""Which tokens of an output show which phrase.

To a model all characters that its vocabulary lacks are the same unknown token, and other
characters are normalised: ``½`` becomes ``1⁄2``. What is written for such tokens depends on the
phrase that they are there for. This is decided once for an output, for all phrases together:
each gets tokens of its own, or shares them with a phrase that is written the same there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import are_glued, contains, is_word_character

_MOST_STEPS = 5000
"""Steps of the search for an assignment; it is given up after them."""


@dataclass(frozen=True)
class Spelling:
    """A phrase as tokens, and how it looks in the output."""

    ids: tuple[int, ...]
    surface: str
    """The phrase in the output."""
    spaced: bool = True
    """Whether its first token begins with a space, so that it starts a word wherever it is."""
    pieces: tuple[str, ...] = ()
    """Its pieces if some of its characters are not in the vocabulary, else nothing.

    To the model these characters are all the same unknown token; the pieces say what to write
    for it in the output.
    """
    written: str = ""
    """What the tokens write if the vocabulary normalises the phrase: 1o for 1º, else nothing."""
    begins: bool = False
    """Whether the output begins with it and may go on with its last word."""
    first: bool = False
    """Whether it counts only as the beginning of the output."""

    @property
    def apart(self) -> bool:
        """Whether it counts only where no word goes on before it."""
        texts = (self.surface, self.written or self.surface)
        return not self.spaced and any(are_glued("a", text[0]) for text in texts)

    @property
    def is_rewritten(self) -> bool:
        """Whether the output shows it otherwise than its tokens write it."""
        return bool(self.pieces or self.written)


@dataclass(frozen=True)
class ShownPhrase:
    """What an output has to show: parts in order, each in any of its spellings."""

    parts: tuple[tuple[Spelling, ...], ...]
    within: int | None = None
    """Most words between two neighbouring parts; None: any number."""
    at_end: bool = False
    """Whether it is what the output ends with."""


class Placed(NamedTuple):
    """A spelling, and the tokens of an output that show it: from ``start`` to before ``end``."""

    start: int
    end: int
    spelling: Spelling


Assignment = list[tuple[Placed, ...] | None]
"""The tokens of each phrase, one entry per part; None for a phrase that gets none."""


def assign_tokens(
    tokens: Sequence[int], pieces: Sequence[str], phrases: Sequence[ShownPhrase]
) -> Assignment:
    """Return which tokens of an output show each phrase.

    All phrases get tokens if that is possible. ``pieces`` are those of the tokens, without
    control tokens at their end.
    """
    if not any(s.is_rewritten for phrase in phrases for part in phrase.parts for s in part):
        return [None] * len(phrases)
    finder = _Finder(tokens, pieces)
    choices = [finder.placements(phrase) for phrase in phrases]
    # What begins or ends the output comes first, then what has the least choice, the longest first.
    order = sorted(
        range(len(phrases)),
        key=lambda i: (
            not (phrases[i].parts[0][0].begins or phrases[i].at_end),
            len(choices[i]),
            -sum(placed.end - placed.start for placed in (choices[i] or [()])[0]),
        ),
    )
    possible = [number for number in order if choices[number]]
    problem = _Problem(phrases, choices, possible)
    return problem.assign_all() or problem.assign_some()


def count_inside(part: Sequence[Spelling], outer: Spelling) -> int:
    """Count the occurrences of a part inside another spelling at the end of which a word ends."""
    count = 0
    for spelling in part:
        ends = [start + len(spelling.ids) for start in find_subsequence(outer.ids, spelling.ids)]
        count += sum(
            end == len(outer.ids) or not outer.pieces or begins_apart(outer.pieces[end])
            for end in ends
        )
    return count


class _Finder:
    """Finds the tokens that may show a phrase."""

    def __init__(self, tokens: Sequence[int], pieces: Sequence[str]) -> None:
        self._tokens = tokens[: len(pieces)]
        self._pieces = pieces

    def placements(self, phrase: ShownPhrase) -> list[tuple[Placed, ...]]:
        """Return the ways in which tokens may show a phrase, the first in the output first."""
        found: list[tuple[Placed, ...]] = []
        for placements in self._chains(phrase, ()):
            found.append(placements)
            if len(found) >= _MOST_STEPS:
                break
        return found

    def _chains(
        self, phrase: ShownPhrase, before: tuple[Placed, ...]
    ) -> Iterator[tuple[Placed, ...]]:
        if len(before) == len(phrase.parts):
            yield before
            return
        is_last = len(before) + 1 == len(phrase.parts)
        for placed in self._of_part(phrase.parts[len(before)], phrase.at_end and is_last):
            if not before or self._follows(before[-1], placed, phrase.within):
                yield from self._chains(phrase, (*before, placed))

    def _of_part(self, part: Sequence[Spelling], at_end: bool) -> list[Placed]:
        placed = [each for spelling in part for each in self._of_spelling(spelling)]
        size = len(self._pieces)
        fitting = [each for each in placed if not at_end or each.end == size]
        return sorted(fitting, key=lambda each: each[:2])

    def _of_spelling(self, spelling: Spelling) -> list[Placed]:
        """Return where a spelling occurs; only where it ends a word if it does so anywhere."""
        if spelling.begins or spelling.first:
            starts = [0] if tuple(self._tokens[: len(spelling.ids)]) == spelling.ids else []
        else:
            starts = find_subsequence(self._tokens, spelling.ids)
        if spelling.apart:
            starts = [start for start in starts if self._word_ended_before(start)]
        found = [Placed(start, start + len(spelling.ids), spelling) for start in starts]
        ending = [each for each in found if self._word_ends_at(each.end)]
        return ending or found

    def _word_ended_before(self, index: int) -> bool:
        before = self._pieces[index - 1] if index else ""
        return not before or not is_word_character(before[-1])

    def _word_ends_at(self, index: int) -> bool:
        return index == len(self._pieces) or begins_apart(self._pieces[index])

    def _follows(self, left: Placed, right: Placed, within: int | None) -> bool:
        if right.start < left.end:
            return False
        if within is None:
            return True
        between = "".join(self._pieces[left.end : right.start])
        words = between.split(SPACE)[1:]
        return sum(any(map(is_word_character, word)) for word in words) <= within


class _Problem:
    """An assignment that is looked for: ``order`` are the phrases that need tokens."""

    def __init__(
        self,
        phrases: Sequence[ShownPhrase],
        choices: Sequence[Sequence[tuple[Placed, ...]]],
        order: Sequence[int],
    ) -> None:
        self._choices = choices
        self._order = order
        self._equal = {
            number: [each for each in order[:index] if phrases[each] == phrases[number]]
            for index, number in enumerate(order)
        }
        self._assigned: Assignment = [None] * len(choices)

    def assign_all(self) -> Assignment | None:
        """Return an assignment in which every phrase gets tokens; None if none is found."""
        untried: list[Iterator[tuple[Placed, ...]]] = []
        for _ in range(_MOST_STEPS):
            if len(untried) == len(self._order):
                return self._assigned
            untried.append(self._fitting(len(untried)))
            while untried:
                number = self._order[len(untried) - 1]
                self._assigned[number] = next(untried[-1], None)
                if self._assigned[number] is not None:
                    break
                untried.pop()
            if not untried:
                return None
        return None

    def assign_some(self) -> Assignment:
        """Return an assignment in which each phrase gets the first tokens that are left for it."""
        self._assigned = [None] * len(self._choices)
        for depth, number in enumerate(self._order):
            self._assigned[number] = next(self._fitting(depth), None)
        return self._assigned

    def _fitting(self, depth: int) -> Iterator[tuple[Placed, ...]]:
        """Yield the choices of a phrase that agree with those before, those of its own first."""
        number = self._order[depth]
        before = [placed for each in self._order[:depth] for placed in self._assigned[each] or ()]
        taken = [placed for each in self._equal[number] if (placed := self._assigned[each])]
        agreeing = [
            each
            for each in self._choices[number]
            if all(_differ(each, other) for other in taken) and _all_agree(each, before)
        ]
        return iter(sorted(agreeing, key=lambda each: _overlap(each, before)))


def _differ(one: tuple[Placed, ...], other: tuple[Placed, ...]) -> bool:
    """Return whether two equal phrases are shown twice; those of several parts in succession."""
    if len(one) == 1:
        return one[0][:2] != other[0][:2]
    return one[-1].end <= other[0].start or other[-1].end <= one[0].start


def _overlap(placed: Sequence[Placed], others: Sequence[Placed]) -> bool:
    """Return whether any two of two groups share tokens."""
    return any(a.start < b.end and b.start < a.end for a in placed for b in others)


def _all_agree(placed: Sequence[Placed], others: Sequence[Placed]) -> bool:
    return all(_agree(one, other) for one in placed for other in others)


def _agree(one: Placed, other: Placed) -> bool:
    """Return whether two spellings can be shown by their tokens at the same time."""
    if one.end <= other.start or other.end <= one.start:
        return True
    if not (one.spelling.is_rewritten or other.spelling.is_rewritten):
        return True
    if one.spelling.written or other.spelling.written:
        outer, inner = sorted((one, other), key=lambda each: each.start - each.end)
        if outer.start > inner.start or inner.end > outer.end:
            return False
        if outer[:2] == inner[:2]:
            return outer.spelling.surface == inner.spelling.surface
        return contains(outer.spelling.surface, inner.spelling.surface)
    first, last = max(one.start, other.start), min(one.end, other.end)
    return _unknown(one, first, last) == _unknown(other, first, last)


def _unknown(placed: Placed, first: int, last: int) -> tuple[str, ...] | None:
    pieces = placed.spelling.pieces
    return pieces[first - placed.start : last - placed.start] if pieces else None


def outermost(placed: Sequence[Placed]) -> list[Placed]:
    """Return what is rewritten and not inside something else that is, from left to right."""
    found: list[Placed] = []
    for each in sorted(placed, key=lambda one: (one.start, -one.end)):
        if each.spelling.written and (not found or each.start >= found[-1].end):
            found.append(each)
    return found


def begins_apart(piece: str) -> bool:
    """Return whether a word has ended before a piece."""
    return bool(piece) and not are_glued("a", piece.replace(SPACE, " ")[0])

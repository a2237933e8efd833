r"""Whether a regular expression may take forever: ``(a+)+$`` does, on forty times an *a*.

It does if what it repeats can read the same text in two ways, and something behind it may fail:
then each way is tried, and they double with every repetition. The expression is read as an
automaton whose states are its characters; two ways are two cycles through one state on the same
text. What takes time by the square of a text, or its cube, is not looked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple, TypeVar

_LOOP = 8
"""What may be repeated so often may as well be repeated without end."""
_MOST = 100
"""Characters of an expression that are repeated together; with more it is not looked through."""
_EXAMPLES = "".join(map(chr, range(0x180))) + "\u0301\u0416\u0663\u2028\u65e5\U0001f600"

_State = TypeVar("_State")
_Pair = tuple[int, int]


class _Piece(NamedTuple):
    """A part of an expression: the states that it may begin and end with, each in some ways."""

    first: Counter[int]
    last: Counter[int]
    empty: int
    """The ways to read nothing."""
    may_fail: bool


_NOTHING = _Piece(Counter(), Counter(), 1, False)


def may_take_forever(pattern: re.Pattern[str]) -> bool:
    """Return whether an expression may try more ways to read a text than anybody can wait for."""
    try:
        parsed = import_module("re._parser").parse(pattern.pattern, pattern.flags)
        automaton = _Automaton(pattern)
        automaton.read(parsed, False)
    except (ImportError, AttributeError, RecursionError):  # these modules may change
        return False
    return automaton.is_ambiguous


class _Automaton:
    """The characters of an expression as states, and which of them may follow which."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._items: list[Any] = []
        """What each state reads; None: what is not looked into."""
        self._ways: Counter[_Pair] = Counter()
        """In how many ways a state follows another."""
        self.is_ambiguous = False
        """Whether something repeated was read that may take forever."""

    def read(self, items: Iterable[Any], behind: bool) -> _Piece:
        """Read a sequence; ``behind`` says whether something may fail behind it."""
        pieces = []
        for item in reversed(list(items)):
            pieces.append(self._item(item, behind))
            behind |= pieces[-1].may_fail
        whole = _NOTHING
        for piece in reversed(pieces):
            self._link(whole.last, piece.first)
            whole = _Piece(
                whole.first + _times(piece.first, whole.empty),
                piece.last + _times(whole.last, piece.empty),
                whole.empty * piece.empty,
                whole.may_fail or piece.may_fail,
            )
        return whole

    def _item(self, item: Any, behind: bool) -> _Piece:
        name, value = str(item[0]), item[1]
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeat(value[2], value[0], value[1] >= _LOOP, behind)
        if name == "SUBPATTERN":
            return self.read(value[-1], behind)
        if name in ("BRANCH", "GROUPREF_EXISTS"):
            ways = value[1] if name == "BRANCH" else [each or () for each in value[1:]]
            found = [self.read(each, behind) for each in ways]
            return _Piece(
                _together(each.first for each in found),
                _together(each.last for each in found),
                sum(each.empty for each in found),
                all(each.may_fail for each in found),
            )
        is_set = name in ("LITERAL", "NOT_LITERAL", "ANY", "IN")
        if name in ("ASSERT", "ASSERT_NOT", "ATOMIC_GROUP", "POSSESSIVE_REPEAT"):
            self.read(value if name == "ATOMIC_GROUP" else value[-1], False)
        if name in ("AT", "ASSERT", "ASSERT_NOT"):
            return _NOTHING._replace(may_fail=True)
        self._items.append(item if is_set else None)
        state = Counter([len(self._items) - 1])
        return _Piece(state, state, 0, True)

    def _repeat(self, body: Iterable[Any], least: int, is_loop: bool, behind: bool) -> _Piece:
        start = len(self._items)
        piece = self.read(body, behind)
        if is_loop:
            self._link(piece.last, piece.first)
            self.is_ambiguous |= behind and self._has_two_ways(range(start, len(self._items)))
        can_fail = piece.may_fail and least > 0
        return piece._replace(empty=piece.empty + (least == 0), may_fail=can_fail)

    def _link(self, last: Counter[int], first: Counter[int]) -> None:
        for one, other in product(last, first):
            self._ways[one, other] += last[one] * first[other]

    def _has_two_ways(self, states: range) -> bool:
        """Return whether states can read a text in two ways, and be where they were.

        All states of a cycle lead to each other. So it is enough that two ways part at one state
        and meet at another.
        """
        after = {one: {other for other in states if self._ways[one, other]} for one in states}
        reached = {state: _reach([state], after.__getitem__) for state in states}
        for state in states if len(states) <= _MOST else ():
            cycle = {each for each in reached[state] if state in reached[each]}
            pairs = [(one, other) for one in cycle for other in after[one] & cycle]
            if any(self._ways[pair] > 1 for pair in pairs):
                return True
            if cycle and min(cycle) == state and self._part_and_meet(cycle, after):
                return True
        return False

    def _part_and_meet(self, cycle: Collection[int], after: Mapping[int, set[int]]) -> bool:
        read = {state: self._characters(state) for state in cycle}
        before: dict[_Pair, set[_Pair]] = {}

        def follow(pair: _Pair) -> list[_Pair]:
            one, other = (after[state] & read.keys() for state in pair)
            found = [(a, b) for a in one for b in other if read[a] & read[b]]
            for each in found:
                before.setdefault(each, set()).add(pair)
            return found

        same = [(state, state) for state in cycle]
        parted, meeting = _reach(same, follow), _reach(same, lambda pair: before.get(pair, ()))
        return any(one != other for one, other in parted & meeting)

    def _characters(self, state: int) -> frozenset[str]:
        """Return the characters that a state reads, of some of each kind and those around it."""
        if self._items[state] is None:
            return frozenset()
        parser, compiler = import_module("re._parser"), import_module("re._compiler")
        single = parser.SubPattern(parser.State(), [self._items[state]])
        written = {*_EXAMPLES, *self._pattern.pattern}
        return frozenset(compiler.compile(single, self._pattern.flags).findall("".join(written)))


def _together(ways: Iterable[Counter[int]]) -> Counter[int]:
    """Return the ways of all; to add them up pair by pair would take the square of their number."""
    whole = Counter[int]()
    for each in ways:
        whole.update(each)
    return whole


def _times(ways: Counter[int], times: int) -> Counter[int]:
    return Counter({state: count * times for state, count in ways.items() if times})


def _reach(starts: Iterable[_State], follow: Callable[[_State], Iterable[_State]]) -> set[_State]:
    """Return all that can be reached in one step or more."""
    reached: set[_State] = set()
    waiting = list(starts)
    while waiting:
        new = set(follow(waiting.pop())) - reached
        reached |= new
        waiting += new
    return reached

"""Plans where what may not be said too often comes with something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from lexbeam.search import Form, Pattern, decode
from lexbeam.search.automaton import remaining
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.to_write import ToWrite
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.testing import TableScorer

SIZE, EOS = 30, 0


def exactly(*tokens: int, times: int = 1) -> list[Pattern]:
    return [Pattern(((Form(tokens),),), may_overlap=True, exact=True)] * times


def chain(*parts: tuple[int, ...], within: int | None = None) -> Pattern:
    return Pattern(tuple((Form(part),) for part in parts), within=within)


def suffix(*tokens: int) -> Pattern:
    return Pattern(((Form(tokens),),), last=True)


REQUESTS: dict[str, list[Pattern | tuple[int, ...]]] = {
    "a counted word in a phrase": [*exactly(2), (3, 2, 4)],
    "a counted word twice in a phrase": [*exactly(2, times=2), (3, 2, 4, 2, 5)],
    "once more than in the phrase": [*exactly(2, times=3), (3, 2, 4, 2, 5)],
    "in the end": [*exactly(2), *exactly(5), suffix(3, 2, 4, 5), chain((6,), (7,), within=2)],
    "in the end, once more": [*exactly(2, times=2), suffix(3, 2, 4)],
    "a phrase in the end": [*exactly(2), (2, 4), suffix(3, 2, 4, 5)],
    "an order in the end": [*exactly(2, times=2), chain((2,), (4,)), suffix(3, 2, 4, 2, 5)],
    "a gap in the end": [*exactly(2), chain((2,), (5,), within=1), suffix(3, 2, 4, 5)],
    "the rest of an order in the end": [*exactly(2), chain((6,), (2,)), suffix(3, 2, 4)],
    "inside of a part with a limit": [
        *exactly(2, 3),
        chain((3,), (4,), (5,), within=7),
        chain((6,), (7, 2, 3), (8,), within=4),
    ],
    "counted inside of counted": [*exactly(2, times=2), *exactly(2, 3), *exactly(2, 3, 2)],
    "two orders that share": [
        *exactly(2, times=2),
        chain((3, 2), (4,)),
        chain((2,), (5, 2)),
        chain((6,), (3, 2)),
    ],
}  # fmt: skip
HOPED_FOR: dict[str, list[Pattern | tuple[int, ...]]] = {
    "the rest of a gap in the end": [*exactly(4), chain((6,), (4,), within=2), suffix(3, 2, 4, 5)],
    "a gap that shares a token with the end": [
        *exactly(4),
        chain((6, 3), (2,), (4,), within=1),
        chain((3,), (4,)),
        suffix(3, 2, 8, 4, 5),
    ],
}
"""What has to stand near something comes with the end, if that follows soon enough."""

BOUNDARY = np.arange(SIZE) < 25
WORDS = WordBoundaries.of(BOUNDARY, None, SIZE, EOS)


def count(tokens: Sequence[int], phrase: Sequence[int]) -> int:
    """Count the occurrences of a phrase whose last word does not go on."""
    ends = range(len(phrase), len(tokens) + 1)
    return sum(
        list(tokens[end - len(phrase) : end]) == list(phrase)
        and (end == len(tokens) or tokens[end] < 25)
        for end in ends
    )


@pytest.mark.parametrize("name", [*REQUESTS, *HOPED_FOR])
@pytest.mark.parametrize("more", [0, 14])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_comes_along_is_not_written_besides(
    name: str, more: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remaining, "_MOST_STATES", 0)
    monkeypatch.setattr(remaining, "_MOST_BITS_OF_KEYS", -1)
    asked = [*(REQUESTS | HOPED_FOR)[name], *[(10 + number,) for number in range(more)]]
    table = np.random.default_rng(seed).normal(size=(SIZE, SIZE))
    table -= np.log(np.exp(table).sum(axis=1, keepdims=True))
    scorer = TableScorer(table, bos=1, eos=EOS, word_starts=BOUNDARY)
    best = decode(scorer, [0], [asked], max_length=60, boundary=BOUNDARY, beam_size=4)[0][0]
    tokens = best.tokens
    assert all(best.met)
    limited = [
        each.parts[0][0].tokens for each in asked if isinstance(each, Pattern) and each.exact
    ]
    for phrase, wanted in Counter(limited).items():
        assert count(tokens, phrase) == wanted, (tokens, phrase)


@pytest.mark.parametrize("name", REQUESTS)
def test_plans_are_found_by_what_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them needs a search among many states, which takes far longer."""
    monkeypatch.setattr(remaining, "_MOST_STATES", 0)
    monkeypatch.setattr(remaining, "_MOST_BITS_OF_KEYS", -1)
    automaton = Automaton([REQUESTS[name]], [[]], SIZE, WORDS, True, EOS)
    needs = RemainingTokens(automaton, SIZE, EOS)
    assert not needs.exact.any()
    assert needs.need_of(0, automaton.start()) < NEVER


def test_the_end_of_the_output_is_begun_when_all_else_comes_with_it() -> None:
    asked = [*exactly(2), chain((3,), (4,)), suffix(3, 2, 4, 5)]
    automaton = Automaton([asked], [[]], SIZE, WORDS, True, EOS)
    to_write = ToWrite.of(automaton, 0)
    assert to_write is not None
    states, missing = automaton.start(), []
    for token in (6, 3, 2, 4, 5):
        missing.append(int(to_write.missing(states)[0]))
        states = automaton.advance(states, np.array([token]))
    assert [*missing, int(to_write.missing(states)[0])] == [4, 4, 3, 2, 1, 0]


def test_hope_leads_to_where_a_gap_ends_inside_of_something_else() -> None:
    asked = HOPED_FOR["a gap that shares a token with the end"]
    automaton = Automaton([asked], [[]], SIZE, WORDS, True, EOS)
    missing = []
    for hopes in (False, True):
        guide, states = ToWrite.of(automaton, 0, hopeful=hopes), automaton.start()
        assert guide is not None
        missing.append([int(guide.missing(states)[0])])
        for token in (6, 3, 2, 8, 4, 5):
            states = automaton.advance(states, np.array([token]))
            missing[-1].append(int(guide.missing(states)[0]))
    without, with_hope = missing
    assert without[0] > 15  # "4" will be there twice.
    assert without[4] > without[3]
    assert with_hope == [7, 6, 4, 3, 2, 1, 0]


def test_what_will_be_there_too_often_weighs_more() -> None:
    automaton = Automaton([[*exactly(2), (3, 2, 4)]], [[]], SIZE, WORDS, True, EOS)
    to_write = ToWrite.of(automaton, 0)
    assert to_write is not None
    start = automaton.start()
    good, bad = (automaton.advance(start, np.array([token])) for token in (3, 2))
    assert to_write.missing(good)[0] == 2
    assert to_write.missing(bad)[0] > 3


def test_parts_of_two_ends_are_told_apart() -> None:
    """What has to stand near one end is not lost with the other."""
    near = Pattern(((Form((2, 3)),), (Form((4,)),), (Form((5,)),)), within=1, last=True)
    far = Pattern(((Form((6,)),), (Form((4, 5)),)), last=True)
    automaton = Automaton([[*exactly(2), far, near]], [[]], SIZE, WORDS, True, EOS)
    to_write = ToWrite.of(automaton, 0)
    assert to_write is not None
    states, missing = automaton.start(), []
    for token in (6, 2, 3, 4, 5):
        states = automaton.advance(states, np.array([token]))
        missing.append(int(to_write.missing(states)[0]))
    assert missing == [6, 5, 4, 3, 0]


@pytest.mark.parametrize("asked", [[(3, 2)], [*exactly(2), (3, 4)], [(2,), (3, 2)]])
def test_without_counted_things_in_others_all_is_written_side_by_side(
    asked: list[Pattern | tuple[int, ...]],
) -> None:
    automaton = Automaton([asked], [[]], SIZE, WORDS, True, EOS)
    assert ToWrite.of(automaton, 0) is None

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.brute_force import occurrences
from lexbeam.search.arrays import PAD
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trace import met_phrases, trace
from lexbeam.search.automaton.whole_words import WordBoundaries

A, B, C, D, X = 0, 1, 2, 3, 9

tokens = st.integers(0, 3)
phrase_lists = st.lists(st.lists(tokens, min_size=1, max_size=4), max_size=5)
outputs = st.lists(tokens, max_size=12)


@pytest.mark.parametrize(
    ("phrases", "output", "met"),
    [
        ([[A, B]], [A, A, B], [True]),
        ([[A, A, B]], [A, A, A, B], [True]),
        ([[A, B], [A, C]], [A, C, A, B], [True, True]),
        ([[A], [A, B]], [A, B, X, A], [True, True]),
        ([[A, B], [C]], [A, C, A, B], [True, True]),
        ([[A, B, C], [B, D]], [A, B, D, A, B, C], [True, True]),
        ([[A, B], [B, C]], [A, B, C], [True, True]),
        ([[A, B, C], [B]], [A, B, C], [True, True]),
        ([[A], [A]], [A], [True, False]),
        ([[A, B, A], [A, B, A]], [A, B, A, B, A], [True, True]),
        ([[A, B, A], [A, B, A]], [A, B, A, B], [True, False]),
        ([[A, B], [A, B]], [A, B, A], [True, False]),
        ([], [A, B], []),
        ([[A]], [], [False]),
    ],
)
def test_what_is_met(phrases: list[list[int]], output: list[int], met: list[bool]) -> None:
    assert trace(phrases=phrases, tokens=output).met == met


@pytest.mark.parametrize(
    ("phrases", "output", "banks"),
    [
        ([[1, 2]], [1, 1, 2], [1, 1, 2]),
        ([[A, A, B]], [A, A, A, B], [1, 2, 2, 3]),
        ([[A, B, C]], [A, B, X, A], [1, 2, 0, 1]),  # a broken phrase is unwound
        ([[A, B], [C]], [C, A, X], [1, 2, 1]),  # a met one never is
        ([[A, B, C], [B, D]], [A, B, D], [1, 2, 2]),
        ([[A, B, A]] * 2, [A, B, A, B, A], [1, 2, 4, 5, 6]),
        ([[A]], [A, A], [1, 1]),
    ],
)
def test_banks(phrases: list[list[int]], output: list[int], banks: list[int]) -> None:
    assert trace(phrases=phrases, tokens=output).banks == banks


def bank_by_definition(phrases: list[list[int]], output: list[int]) -> int:
    """Tokens of met phrases, and the longest suffix that begins an unmet one."""
    wanted = Counter(tuple(phrase) for phrase in phrases)
    met = {p: min(n, occurrences(p, output)) for p, n in wanted.items()}
    progress = [
        length
        for p, n in wanted.items()
        if met[p] < n
        for length in range(len(p))
        if length == 0 or tuple(output[-length:]) == p[:length]
    ]
    return sum(len(p) * n for p, n in met.items()) + max(progress, default=0)


@given(phrase_lists, outputs)
def test_banks_and_met_are_those_of_the_definition(
    phrases: list[list[int]], output: list[int]
) -> None:
    seen = trace(phrases=phrases, tokens=output)
    assert seen.banks == [bank_by_definition(phrases, output[: i + 1]) for i in range(len(output))]
    found: Counter[tuple[int, ...]] = Counter()
    for phrase, met in zip(phrases, seen.met, strict=True):
        found[tuple(phrase)] += met
    wanted = Counter(tuple(phrase) for phrase in phrases)
    for wanted_phrase, times in wanted.items():
        assert found[wanted_phrase] == min(times, occurrences(wanted_phrase, output))


def test_a_hundred_phrases() -> None:
    phrases = [[i, i + 1000] for i in range(100)]
    output = [token for phrase in phrases for token in phrase]
    result = trace(phrases=phrases, tokens=output)
    assert result.met == [True] * 100
    assert result.banks == list(range(1, 201))
    assert trace(phrases=phrases, tokens=output[:-1]).met == [True] * 99 + [False]


def test_a_hundred_long_phrases() -> None:
    random = np.random.default_rng(0)
    phrases = random.integers(0, 30_000, (100, 50)).tolist()
    output = [token for phrase in phrases for token in phrase]
    result = trace(phrases=phrases, tokens=output)
    assert all(result.met)
    assert all(later == earlier + 1 for earlier, later in pairwise(result.banks))


def test_a_phrase_given_more_often_than_an_array_has_bits() -> None:
    result = trace(phrases=[[A]] * 130, tokens=[A] * 129)
    assert result.met == [True] * 129 + [False]
    assert result.banks[-1] == 129


def test_deep_repetition() -> None:
    phrase = [A] * 50
    assert trace(phrases=[phrase], tokens=[A] * 49 + [B] + [A] * 49).met == [False]
    assert trace(phrases=[phrase, phrase], tokens=[A] * 51).met == [True, True]


def walk(automaton: Automaton, outputs_by_sentence: list[list[int]]) -> States:
    states = automaton.start()
    for column in np.array(outputs_by_sentence).T:
        states = automaton.advance(states, column)
    return states


@given(st.lists(st.tuples(phrase_lists, st.lists(tokens, min_size=6, max_size=6)), min_size=1))
def test_a_batch_is_its_sentences(batch: list[tuple[list[list[int]], list[int]]]) -> None:
    constraints = [[tuple(phrase) for phrase in phrases] for phrases, _ in batch]
    automaton = Automaton(constraints, [[] for _ in batch], 4)
    states = walk(automaton, [output for _, output in batch])
    for sentence, (phrases, output) in enumerate(batch):
        alone = trace(phrases=phrases, tokens=output)
        assert states.bank[sentence] == alone.banks[-1]
        assert met_phrases(automaton, sentence, states, sentence) == alone.met


@given(phrase_lists, outputs)
def test_asked_tokens_start_or_continue_an_unmet_phrase(
    phrases: list[list[int]], output: list[int]
) -> None:
    automaton = Automaton([[tuple(phrase) for phrase in phrases]], [[]], 4)
    states = automaton.start()
    for token in output:
        states = automaton.advance(states, np.array([token]))
    asked, targets = automaton.ask(states)
    wanted = Counter(tuple(phrase) for phrase in phrases)
    unmet = [p for p, n in wanted.items() if occurrences(p, output) < n]
    expected = {
        p[length]
        for p in unmet
        for length in range(len(p))
        if length == 0 or tuple(output[-length:]) == p[:length]
    }
    assert set(asked[0].tolist()) - {PAD} == expected
    real = asked[0] != PAD
    assert (targets[0][real] == automaton.follow(states.node, asked[0][real])).all()


@given(st.lists(st.lists(tokens, min_size=1, max_size=3), max_size=4), outputs)
def test_avoided_phrases_are_banned_just_before_they_end(
    avoid: list[list[int]], output: list[int]
) -> None:
    automaton = Automaton([[]], [[tuple(phrase) for phrase in avoid]], 4)
    states = automaton.start()
    for place, token in enumerate(output):
        so_far = output[:place]
        completes = any([*so_far, token][-len(p) :] == p for p in avoid)
        assert (token in automaton.ban(states)[0]) == completes
        if completes:
            return
        states = automaton.advance(states, np.array([token]))


def test_avoided_phrases_use_failure_links() -> None:
    automaton = Automaton([[]], [[(A, B, C), (B, D)]], 10)
    states = automaton.start()
    for token in (A, B):
        states = automaton.advance(states, np.array([token]))
    assert set(automaton.ban(states)[0].tolist()) - {PAD} == {C, D}


HAUS, TUER, DOT, THE, END = range(5)
WORDS = WordBoundaries(
    boundary=np.array([True, False, True, True, True]),
    closing=np.array([False, False, True, False, False]),
    starting=np.array([True, False, False, True, False]),
    joining=np.zeros(5, np.uint8),
)


@pytest.mark.parametrize(
    ("phrases", "output", "banks", "met"),
    [
        ([[HAUS]], [HAUS, TUER], [1, 0], [False]),
        ([[HAUS]], [HAUS, DOT], [1, 1], [True]),
        ([[HAUS]], [HAUS], [1], [True]),
        ([[HAUS]], [HAUS, TUER, HAUS, THE], [1, 0, 1, 1], [True]),
        ([[HAUS], [HAUS, TUER]], [HAUS, TUER], [2, 2], [False, True]),
        ([[HAUS, DOT]], [HAUS, DOT, TUER], [1, 2, 2], [True]),
        ([[HAUS], [HAUS]], [HAUS, HAUS, TUER], [1, 2, 1], [True, False]),
    ],
)
def test_whole_words(
    phrases: list[list[int]], output: list[int], banks: list[int], met: list[bool]
) -> None:
    result = trace(phrases, output, WORDS)
    assert (result.banks, result.met) == (banks, met)


def test_an_avoided_whole_word_holds_its_word_open() -> None:
    automaton = Automaton([[(THE,)]], [[(HAUS,)]], 5, WORDS)
    start = automaton.start()
    there = automaton.advance(start, np.array([HAUS]))
    hold = automaton.hold(there)
    assert hold is not None
    assert hold.tolist() == [True]
    assert HAUS not in automaton.ban(start)
    assert THE not in automaton.ask(there)[0], "a new word would end the avoided one"
    goes_on = automaton.hold(automaton.advance(there, np.array([TUER])))
    assert goes_on is not None
    assert goes_on.tolist() == [False]


def test_a_token_that_many_phrases_begin_with() -> None:
    """More than are compared one by one, in the second sentence of a batch only."""
    many = [[A, token] for token in range(10, 90)]
    found = trace(phrases=many, tokens=[A, 10, A, 89, 89, A, A, 50])
    assert [number for number, is_met in enumerate(found.met) if is_met] == [0, 40, 79]
    automaton = Automaton([[(A, B)], [(A, token) for token in range(10, 90)]], [[], []], 100)
    nodes = automaton.roots.repeat(2)
    after = automaton.follow(nodes, np.array([A, B, A, B]))
    assert automaton.follow(after, np.array([B, B, 11, 11])).tolist() == [
        automaton.follow(node, token).item()
        for node, token in zip(after[:, None], np.array([[B], [B], [11], [11]]), strict=True)
    ]
    assert len(set(automaton.follow(after, np.array([B, B, 11, 11])).tolist())) == 4

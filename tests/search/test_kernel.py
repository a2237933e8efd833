"""The compiled kernel and the NumPy code give the same, to the last digit."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from fuzz.token_drawing import draw
from fuzz.token_problems import arguments, make_scorer
from lexbeam.errors import LexbeamError, ScorerError
from lexbeam.search import decode, kernel
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import PAD, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.compiled import compile_requests
from lexbeam.search.request import read_requests
from lexbeam.search.scorer import Scores, read_scores, refuse_nonsense
from lexbeam.search.selection import Selection

needs_kernel = pytest.mark.skipif(kernel.compiled is None, reason="the kernel does not run")


@needs_kernel
@pytest.mark.parametrize("seed", range(8))
def test_searches_give_the_same(seed: int) -> None:
    random = Random(seed)
    for _ in range(12):
        problem = draw(random)
        found: list[object] = []
        for on in (True, False):
            with kernel.switched(on):
                try:
                    given = arguments(problem, problem.sentences)
                    found.append(decode(make_scorer(problem), **given))
                except LexbeamError as error:
                    found.append(str(error))
        assert found[0] == found[1], problem


def automata(count: int) -> Iterator[tuple[Automaton, int]]:
    """Yield the automata of drawn problems, each with the size of its vocabulary."""
    random = Random(11)
    while count:
        problem = draw(random)
        scorer, given = make_scorer(problem), arguments(problem, problem.sentences)
        words = None
        if problem.marks is not None:
            words = WordBoundaries(*(np.array(mark) for mark in vars(problem.marks).values()))
        try:
            asked = given["phrases"], given.get("avoid"), given.get("prefix")
            vocabulary = scorer.vocabulary_size, problem.ends
            requests = read_requests(len(problem.sentences), *asked, *vocabulary, words)
            limits = np.array(given["max_length"])
            automaton = compile_requests(scorer, requests, limits, words).automaton
        except LexbeamError:
            continue
        if automaton is not None:
            count -= 1
            yield automaton, scorer.vocabulary_size


def same_states(one: States, other: States) -> bool:
    """Return whether states are equal, in whatever shape their arrays are."""
    shape = one.node.shape
    left, right = (
        [*each.met, *each.seen, *(each.stages or ()), *each[:1], each[2], *each[4:6]]
        for each in (one, other)
    )
    pairs = zip(left, right, strict=True)
    return all(bool((np.broadcast_to(b, shape) == a).all()) for a, b in pairs)


@needs_kernel
def test_tokens_are_taken_the_same() -> None:
    random = np.random.default_rng(5)
    for automaton, size in automata(60):
        states = automaton.start()
        for _ in range(6):
            tokens = random.integers(PAD, size, (len(states.node), 3))
            next_ones = random.integers(0, size, len(states.node))
            nodes = automaton.follow(states.node, next_ones)
            rows = random.permutation(len(states.node))
            both = []
            for on in (True, False):
                with kernel.switched(on):
                    here = automaton.follow(states.node[rows], next_ones)
                    both.append(
                        (
                            automaton.advance(states.column(), tokens),
                            automaton.advance(states, next_ones, nodes),
                            automaton.branch(states, rows, next_ones, here),
                        )
                    )
            for one, other in zip(*both, strict=True):
                assert same_states(one, other)
            after = automaton.met_after(states, next_ones, nodes)
            assert [bits.tolist() for bits in after] == [bits.tolist() for bits in both[0][1].met]
            states = both[0][1]


@needs_kernel
def test_taking_tokens_refuses_arrays_that_do_not_fit() -> None:
    assert kernel.compiled is not None
    automaton = next(automata(1))[0]
    whole = np.zeros(1, np.int64)
    given = automaton.kernel_tables, -1, np.zeros(2, np.int64), None, *[whole] * 5
    kernel.compiled.take(*given, np.empty(14, np.int64))
    with pytest.raises(ValueError, match="fit together"):
        kernel.compiled.take(*given, np.empty(13, np.int64))
    with pytest.raises(ValueError, match="fit together"):
        kernel.compiled.take(None, *given[1:], np.empty(14, np.int64))


def draw_candidates(
    random: np.random.Generator, most: int
) -> tuple[IntArray, np.ndarray, IntArray]:
    """Return banks, scores and constraint tokens of some sentences; many scores are equal."""
    sentences, width = int(random.integers(1, 6)), int(random.integers(1, most))
    sizes = random.integers(0, 7, sentences)
    bank = random.integers(0, sizes[:, None] + 1, (sentences, width))
    score = -random.integers(0, 9, (sentences, width)) / 4
    score[random.random(score.shape) < 0.3] = -np.inf
    return bank, score, sizes


def chosen(selection: Selection) -> list[list[int]]:
    """Return the indices that were taken, in order."""
    pairs = zip(selection.indices, selection.taken, strict=True)
    return [indices[taken].tolist() for indices, taken in pairs]


@needs_kernel
@pytest.mark.parametrize("name", ["dba", "lookahead"])
def test_selections_are_the_same(name: str) -> None:
    random = np.random.default_rng(3)
    for _ in range(300):
        bank, score, sizes = draw_candidates(random, 60)
        policy = POLICIES[name](int(random.integers(1, 12)), sizes, np.ones_like(sizes))
        compiled = chosen(policy.select(bank, score))
        with kernel.switched(on=False):
            assert compiled == chosen(policy.select(bank, score))


@needs_kernel
def test_the_kernel_refuses_arrays_that_do_not_fit() -> None:
    assert kernel.compiled is not None
    bank, score = np.zeros(3, np.int64), np.zeros(3)
    out = 1, 2, 0.0, np.zeros(2, np.int64), np.zeros(2, np.bool_)
    assert kernel.compiled.select(bank, score, None, *out) == 2
    with pytest.raises(TypeError, match="kind"):
        kernel.compiled.select(score, score, None, *out)
    with pytest.raises(ValueError, match="fit together"):
        kernel.compiled.select(bank, score[:2], None, *out)
    with pytest.raises(ValueError, match="fit together"):
        kernel.compiled.select(bank, score, None, 1, 3, *out[2:])
    with pytest.raises(ValueError, match="contiguous"):
        kernel.compiled.select(bank, np.zeros(6)[::2], None, *out)
    with pytest.raises(TypeError, match="arguments"):
        kernel.compiled.select(1)


@needs_kernel
@pytest.mark.parametrize("left_out", range(8))
def test_a_step_refuses_to_do_without_what_it_needs(left_out: int) -> None:
    assert kernel.compiled is not None
    score, marks = np.zeros(1), np.ones(1, np.bool_)
    whole = np.zeros(1, np.int64)
    hypotheses = score, score, marks, ~marks, whole
    answer = np.full((1, 2), -1.0), np.array([[1, 2]]), np.full((1, 1), -2.0)
    out = np.empty(6, np.int64), np.empty(0, np.int64), np.empty(6), np.empty(6, np.bool_)
    numbers = kernel.numbers_of_step(2, kernel.KEEP_ALL)
    given = [*hypotheses, *answer, *kernel.UNCONSTRAINED, *out]
    assert kernel.compiled.advance(None, numbers, *given)[0] == 2
    given[left_out] = None
    with pytest.raises(ValueError, match="fit together"):
        kernel.compiled.advance(None, numbers, *given)


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("top_scores", 0.5), "log-probability is at most 0"),
        (("top_scores", np.nan), "NaN"),
        (("ask_scores", np.nan), "NaN"),
        (("ask_scores", 0.5), "log-probability is at most 0"),
        (("top_scores", -9.0), "not sorted"),
        (("top_ids", 4), "outside"),
        (("top_ids", -1), "outside"),
        (("top_ids", 0), "end of sentence"),
        (("top_ids", 3), "banned"),
    ],
)
def test_nonsense_is_found_with_and_without_the_kernel(
    on: bool, change: tuple[str, float], says: str
) -> None:
    arrays = {
        "top_scores": np.array([[-1.0, -2.0], [-1.0, -3.0]], np.float32),
        "top_ids": np.array([[1, 2], [2, 1]]),
        "ask_scores": np.array([[-1.0], [-1.0]], np.float16),
    }
    ban = np.array([[3], [3]])
    with kernel.switched(on):
        refuse_nonsense(read_scores(Scores(**arrays, state=None)), ban, 0, 4)
        arrays[change[0]][0, 0] = change[1]
        with pytest.raises(ScorerError, match=says):
            refuse_nonsense(read_scores(Scores(**arrays, state=None)), ban, 0, 4)


def test_users_can_see_what_runs() -> None:
    with kernel.switched(on=False):
        assert kernel.describe().startswith("NumPy")
        assert kernel.compiled is None

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.brute_force import best_output, keeps_to
from lexbeam.errors import ConstraintError, ScorerError
from lexbeam.search import kernel
from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam_search import decode
from lexbeam.testing import HistoryScorer, TableScorer

ASIDE: dict[str, Any] = {"aside": True, "cut": True, "prune": None}


def random_table(seed: int, size: int = 8) -> TableScorer:
    random = np.random.default_rng(seed)
    return TableScorer(np.log(random.dirichlet(np.full(size, 0.7), size)), bos=0, eos=1)


def reference(
    scorer: HistoryScorer, ends: list[int], k: int, limit: int, stop: str, power: float
) -> list[tuple[float, list[int]]]:
    """Search as ``generate`` of transformers does, one candidate after the other."""
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    done: list[tuple[float, list[int]]] = []
    for step in range(limit):
        candidates = sorted(
            (
                (log_prob + float(next_log_prob), [*tokens, token])
                for log_prob, tokens in live
                for token, next_log_prob in enumerate(scorer.next_log_probs("s", tokens))
            ),
            reverse=True,
        )[: k * (1 + len(ends))]
        ended = [c[1][-1] in ends or step == limit - 1 for c in candidates]
        length = (step + 1.0) ** power
        done += [
            (c[0] / length, c[1]) for c, end in zip(candidates[:k], ended, strict=False) if end
        ]
        done = sorted(done, reverse=True)[:k]
        live = [c for c, end in zip(candidates, ended, strict=True) if not end][:k]
        if not live:
            break
        hope = {
            "full": -np.inf,
            "now": live[0][0] / length,
            "bound": max(live[0][0] / (step + 2.0) ** power, live[0][0] / float(limit) ** power),
        }[stop]
        if len(done) == k and hope <= done[-1][0]:
            break
    return done


@given(
    seed=st.integers(0, 10_000),
    ends=st.sampled_from([[1], [1, 4], [1, 4, 6]]),
    k=st.integers(1, 6),
    limit=st.integers(1, 9),
    stop=st.sampled_from(["full", "now", "bound"]),
    power=st.sampled_from([-0.5, 0.0, 0.6, 1.0]),
)
@settings(deadline=None, max_examples=150)
def test_ends_set_aside_as_generate_does(
    seed: int, ends: list[int], k: int, limit: int, stop: str, power: float
) -> None:
    scorer: Any = HistoryScorer(8, eos=1, seed=seed)
    scorer.ends = ends
    found = decode(
        scorer,
        ["s"],
        beam_size=k,
        nbest=k,
        max_length=limit,
        stop=stop,
        length_penalty=power,
        **ASIDE,
    )[0]
    expected = reference(scorer, ends, k, limit, stop, power)
    assert len(found) == len(expected)
    for hypothesis, (score, tokens) in zip(found, expected, strict=True):
        assert hypothesis.score == pytest.approx(score)
        end = [] if hypothesis.end is None else [hypothesis.end]
        assert [*hypothesis.tokens, *end] == tokens
        assert hypothesis.finished == (tokens[-1] in ends)
        assert len(hypothesis.slots) == len(tokens)


@given(
    seed=st.integers(0, 10_000),
    phrases=st.lists(st.lists(st.sampled_from([0, 2, 3]), min_size=1, max_size=2), max_size=2),
    avoid=st.lists(st.lists(st.sampled_from([0, 2, 3]), min_size=2, max_size=2), max_size=1),
)
@settings(deadline=None, max_examples=60)
def test_a_wide_beam_finds_the_best_output(
    seed: int, phrases: list[list[int]], avoid: list[list[int]]
) -> None:
    scorer = HistoryScorer(4, eos=1, seed=seed)
    truth = best_output(
        scorer, 4, source="s", phrases=phrases, avoid=avoid, prefix=[], length_penalty=1.0,
        boundary=None,
    )  # fmt: skip
    wide: dict[str, Any] = {"beam_size": 500, "stop": "bound", "prune": None, "aside": True}
    if truth is None:
        with pytest.raises(ConstraintError):
            decode(scorer, ["s"], [phrases], [avoid], max_length=4, **wide)
        return
    found = decode(scorer, ["s"], [phrases], [avoid], max_length=4, **wide)[0][0]
    assert found.score == pytest.approx(truth[0])
    assert tuple(found.tokens) == truth[1]


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    limit=st.integers(5, 9),
    whole_words=st.booleans(),
)
@settings(deadline=None, max_examples=100)
def test_phrases_are_met_before_any_end(seed: int, k: int, limit: int, whole_words: bool) -> None:
    random = np.random.default_rng(seed)
    scorer: Any = random_table(seed)
    scorer.ends = [1, 4]
    scorer.word_starts = None
    if whole_words:
        scorer.word_starts = np.isin(range(8), [0, 2, 7]) | (random.random(8) < 0.3)
    phrases = [random.choice([0, 2, 3, 5], random.integers(1, 3)).tolist() for _ in range(2)]
    boundary = (
        None if scorer.word_starts is None else scorer.word_starts | np.isin(range(8), [1, 4])
    )
    avoid = [[6, 7]]
    found = decode(
        scorer, [None], [phrases], [avoid], beam_size=k, nbest=k, max_length=limit, stop="now",
        boundary=boundary, **ASIDE,
    )[0]  # fmt: skip
    for hypothesis in found:
        assert keeps_to(hypothesis.tokens, phrases, avoid, boundary=boundary)
        assert not {1, 4} & set(hypothesis.tokens)
        assert len(hypothesis.tokens) == limit or hypothesis.end in (1, 4)


class Stopping(TableScorer):
    """Stops at a token that does not end anything by itself."""

    def __init__(self, seed: int, token: int) -> None:
        super().__init__(random_table(seed).log_probs, bos=0, eos=1)
        self.token = token

    def stops(self, state: Any, parents: IntArray, tokens: IntArray) -> Any:  # noqa: ARG002
        assert parents.shape == tokens.shape
        return tokens == self.token


def test_a_scorer_may_stop_outputs() -> None:
    more: dict[str, Any] = {"beam_size": 3, "nbest": 3, "max_length": 8, "length_penalty": 0.0}
    found = decode(Stopping(1, 6), [None] * 2, **more, **ASIDE)
    assert found[0] == found[1]
    assert any(hypothesis.tokens[-1:] == [6] for hypothesis in found[0])
    for hypothesis in found[0]:
        assert 6 not in hypothesis.tokens[:-1]
        assert hypothesis.finished == (hypothesis.end == 1) == (6 not in hypothesis.tokens)


def test_a_scorer_does_not_stop_outputs_before_their_phrases_are_met() -> None:
    class StopAll(Stopping):
        def stops(self, state: Any, parents: IntArray, tokens: IntArray) -> Any:  # noqa: ARG002
            return np.ones_like(tokens, np.bool_)

    found = decode(StopAll(1, 5), [None] * 2, [[[2, 3]], []], beam_size=3, max_length=8, **ASIDE)
    assert found[0][0].tokens[-2:] == [2, 3]
    assert len(found[1][0].slots) == 1


def test_stops_must_have_the_shape_of_the_candidates() -> None:
    class Short(Stopping):
        def stops(self, state: Any, parents: IntArray, tokens: IntArray) -> Any:  # noqa: ARG002
            return np.zeros(1, np.bool_)

    with pytest.raises(ScorerError, match="stops has shape"):
        decode(Short(1, 5), [None], beam_size=3)


def test_an_output_pays_its_penalty_however_it_ends() -> None:
    scorer: Any = random_table(3)
    scorer.ends = [1, 4]
    dear, cheap = (Pattern(((Form((5,)),),), penalty=penalty) for penalty in (1e3, 1e-3))
    for cut in (False, True):
        for limit in (2, 6):
            more = ASIDE | {"cut": cut, "beam_size": 4, "nbest": 4, "max_length": limit}
            bought, saved = (decode(scorer, [None], [[p]], **more)[0] for p in (dear, cheap))
            assert 5 in bought[0].tokens
            free = decode(scorer, [None], **more)[0]
            assert saved[0].score == pytest.approx(free[0].score)
            for hypothesis in (*bought, *saved):
                assert hypothesis.met == [5 in hypothesis.tokens]
                log_prob, last = 0.0, scorer.bos
                for token in [*hypothesis.tokens, *([hypothesis.end] if hypothesis.end else [])]:
                    log_prob, last = log_prob + scorer.log_probs[last, token], token
                assert hypothesis.log_prob == pytest.approx(log_prob)
                assert hypothesis.score == pytest.approx(log_prob / len(hypothesis.slots))


def aside_by_hand(scorer: HistoryScorer, k: int, max_length: int) -> tuple[list[int], float]:
    """Search as with ``aside``, one hypothesis at a time; return tokens and score."""
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, list[int]]] = []
    for step in range(max_length + 1):
        candidates: list[tuple[float, list[int], bool]] = []
        for so_far, tokens in live:
            row = scorer.next_log_probs("s", tokens)
            candidates.append((so_far + row[scorer.eos], tokens, True))
            others = [t for t in range(scorer.vocabulary_size) if t != scorer.eos]
            candidates += [
                (so_far + row[t], [*tokens, t], False) for t in others if step < max_length
            ]
        candidates.sort(key=lambda candidate: -candidate[0])
        ended += [(score / (len(t) + 1), t) for score, t, end in candidates[:k] if end]
        live = [(score, t) for score, t, end in candidates if not end][:k]
    score, tokens = max(ended)
    return tokens, score


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("beam_size", [1, 2, 3])
def test_a_narrow_beam_with_what_has_ended_set_aside(seed: int, beam_size: int) -> None:
    scorer = HistoryScorer(4, eos=1, seed=seed)
    found = decode(scorer, ["s"], max_length=5, beam_size=beam_size, aside=True, prune=0)[0][0]
    tokens, score = aside_by_hand(scorer, beam_size, 5)
    assert found.tokens == tokens
    assert found.score == pytest.approx(score)


def _table(rows: list[list[float]]) -> np.ndarray:
    with np.errstate(divide="ignore"):
        table: np.ndarray = np.log(np.array(rows))
    return table


@pytest.mark.parametrize("algorithm", ["dba", "lookahead", "beam"])
@pytest.mark.parametrize(
    ("ends", "row", "beam_size"),
    [([1, 3], [0.1, 0.1, 0.1, 0.6, 0.1], 1), ([1, 3, 4], [0.05, 0.1, 0.05, 0.4, 0.3, 0.1], 2)],
)
def test_tokens_that_would_end_too_early_do_not_hide_the_others(
    algorithm: str, ends: list[int], row: list[float], beam_size: int
) -> None:
    scorer = TableScorer(_table([row] * len(row)), bos=0, eos=1)
    scorer.ends = ends  # type: ignore[attr-defined]
    found = decode(
        scorer,
        [[7]],
        [[[0]]],
        [[[2, 0]]],
        prefix=[[2]],
        max_length=10,
        beam_size=beam_size,
        algorithm=algorithm,
    )[0][0]
    assert found.tokens[0] == 2
    assert 0 in found.tokens[2:]


def test_an_end_that_is_ruled_out_is_taken_where_nothing_else_is_left() -> None:
    scorer = TableScorer(_table([[0, 0, 1.0], [0.4, 0.3, 0.3], [1.0, 0, 0]]), bos=2, eos=1)
    alone = decode(scorer, [[7]], [[[0]]], [[[0, 2]]], max_length=3, aside=True)
    assert alone[0][0].tokens == [0]
    prefixes = [None, [0, 2]]
    given = [[[0]], []], [[[0, 2]], []]
    both = decode(scorer, [[7], [7]], *given, prefix=prefixes, max_length=3, aside=True)
    assert both[0] == alone[0]


def test_what_is_set_aside_does_not_depend_on_the_prefix_of_another_sentence() -> None:
    scorer = TableScorer(_table([[0, 0, 1.0], [0.4, 0.3, 0.3], [1.0, 0, 0]]), bos=2, eos=1)
    alone = decode(scorer, [[7]], [[]], max_length=3, aside=True, nbest=3)
    prefixes = [None, [0]]
    both = decode(scorer, [[7], [7]], [[], []], prefix=prefixes, max_length=3, aside=True, nbest=3)
    assert both[0] == alone[0]


def test_log_probabilities_of_tokens_have_no_penalty_in_them() -> None:
    alignment = np.ones((3, 1))
    scorer = TableScorer(_table([[0.1, 0.6, 0.3]] * 3), bos=0, eos=1, alignment=alignment)
    soft = Pattern(((Form((2,)),),), penalty=0.5)
    found = decode(scorer, [[7]], [[soft]], ties=[{0: [0]}], max_length=3, length_penalty=0)[0][0]
    assert found.met == [False]
    assert found.log_probs == pytest.approx([found.log_prob])


@pytest.mark.parametrize("phrases", [[], [[2]]])
def test_a_scorer_does_not_stop_an_output_within_its_prefix(phrases: list[list[int]]) -> None:
    scorer = TableScorer(_table([[0.3, 0.2, 0.3, 0.2]] * 4), bos=0, eos=1)
    scorer.stops = lambda _, __, token: token == 2  # type: ignore[attr-defined]
    found = decode(scorer, [[7]], [phrases], prefix=[[2, 0]], max_length=4)[0][0]
    assert found.tokens[:2] == [2, 0]


@pytest.mark.parametrize("k", [1, 2, 100])
@pytest.mark.parametrize("phrases", [[], [[2]]])
def test_an_output_at_its_limit_ends_by_the_best_of_several_tokens(
    k: int, phrases: list[list[int]]
) -> None:
    table = _table([[0.1, 0.1, 0.8], [0.1, 0.1, 0.8], [1e-6, 0.98, 0.02]])
    scorer = TableScorer(table, bos=0, eos=0)
    scorer.ends = [0, 1]  # type: ignore[attr-defined]
    found = decode(scorer, [None], [phrases], prefix=[[2]], max_length=1, beam_size=k)[0][0]
    assert (found.tokens, found.end) == ([2], 1)
    assert found.log_prob == pytest.approx(np.log(0.8) + np.log(0.98), abs=1e-4)


def test_a_whole_prefix_may_end_by_any_of_several_tokens() -> None:
    table = _table([[0.1, 0.1, 0.8], [0.1, 0.1, 0.8], [1e-6, 0.98, 0.02]])
    scorer = TableScorer(table, bos=0, eos=0)
    scorer.ends = [0, 1]  # type: ignore[attr-defined]
    asked: dict[str, Any] = {"prefix": [[2]], "whole_prefix": [True], "boundary": [1, 0, 0]}
    assert decode(scorer, [None], max_length=1, **asked)[0][0].end == 1


@pytest.mark.parametrize(
    ("size", "seed", "ends", "pattern", "best"),
    [
        (6, 2060, (1, 5), Pattern(((Form((0,)),), (Form((0,)),)), last=True), [0, 0]),
        (4, 2598, (0, 1), Pattern(((Form((2,)),), (Form((3,)),)), within=1), [2, 3]),
    ],
)
def test_no_end_that_may_come_is_too_late(
    size: int, seed: int, ends: tuple[int, int], pattern: Pattern, best: list[int]
) -> None:
    table = np.log(np.random.default_rng(seed).dirichlet(np.full(size, 0.7), size))
    scorer: Any = TableScorer(table, bos=0, eos=ends[0])
    scorer.ends = ends
    wide: dict[str, Any] = {"prune": 0, "beam_size": 682, "length_penalty": 0.0}
    found = decode(scorer, [None], [[pattern]], max_length=3, **wide)[0][0]
    assert (found.tokens, found.end) == (best, ends[1])


def test_an_end_that_comes_too_early_is_not_at_hand() -> None:
    """Else the token that leads to the end in time would not be asked for."""
    table = np.log(np.random.default_rng(2610).dirichlet(np.full(5, 0.7), 5))
    scorer: Any = TableScorer(table, bos=0, eos=2, word_starts=[0, 1, 1, 0, 0])
    scorer.ends = (2, 0)
    inside = Pattern(((Form((3,), inside=True, goes_on=True),),), may_overlap=True)
    marks: dict[str, Any] = {
        "boundary": [0, 1, 1, 0, 0],
        "starting": [1, 0, 0, 1, 0],
        "joining": [4, 0, 1, 0, 6],
    }
    found = decode(scorer, [None], [[inside]], max_length=2, beam_size=1, **marks)[0][0]
    assert found.tokens == [4, 3]
    assert found.log_prob > -10


def test_the_limit_of_one_sentence_changes_nothing_in_another() -> None:
    scorer: Any = random_table(5)
    scorer.ends = [1, 4]
    limits = [1, 6]
    alone = [decode(scorer, [None], [[[2]]], max_length=limit)[0] for limit in limits]
    assert decode(scorer, [None, None], [[[2]], [[2]]], max_length=limits) == alone


@pytest.mark.parametrize(
    "asked", [{"prefix": [[3, 0]]}, {"phrases": [[[0, 3]]]}, {"avoid": [[[3]]]}]
)
def test_a_token_that_ends_an_output_is_in_nothing_that_is_asked_for(
    asked: dict[str, Any],
) -> None:
    scorer = TableScorer(_table([[0.3, 0.2, 0.3, 0.2]] * 4), bos=0, eos=1)
    scorer.ends = [1, 3]  # type: ignore[attr-defined]
    with pytest.raises(ConstraintError, match="has the end-of-sentence token 3 in it"):
        decode(scorer, [[7]], max_length=4, **asked)


class SinglePrecision(TableScorer):
    """Answers in 32 bits, as most models do."""

    def step(self, *args: Any, **more: Any) -> Any:
        """Score what may follow."""
        answer = super().step(*args, **more)
        return answer._replace(
            top_scores=answer.top_scores.astype(np.float32),
            ask_scores=answer.ask_scores.astype(np.float32),
        )


@pytest.mark.parametrize("compiled", [True, False])
def test_a_large_penalty_leaves_the_scores_of_a_model_in_32_bits_as_they_are(
    compiled: bool,
) -> None:
    table = np.log(np.array([[1e-6, 0.1, 0.9 - 1e-6], [0.3, 0.3, 0.4], [0.9, 0.05, 0.05]]))
    soft = [Pattern(((Form((1, token)),),), penalty=6e8) for token in (1, 2)]
    with kernel.switched(compiled):
        [found] = decode(
            SinglePrecision(table, bos=0, eos=0),
            [None],
            [soft],
            [[[1]]],
            max_length=3,
            beam_size=30,
            prune=0,
            length_penalty=0,
            nbest=4,
        )
    assert [each.tokens for each in found] == [[2], [2, 2], [2, 2, 2], []]
    for each in found:
        path = [0, *each.tokens, 0]
        expected = sum(table[a, b] for a, b in pairwise(path))
        assert each.log_prob == pytest.approx(expected, abs=1e-5)

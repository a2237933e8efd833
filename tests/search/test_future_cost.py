from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lexbeam.search.arrays import PAD
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam_search import decode
from lexbeam.search.candidates import Candidates
from lexbeam.search.future_cost import (
    AT_THE_START,
    TOKENS_A_SOURCE_TOKEN,
    FutureCost,
    expected_lengths,
)
from lexbeam.testing import HistoryScorer

EOS = 1
SOURCE = [0] * 10
STEPS = round(10 * TOKENS_A_SOURCE_TOKEN)


def make(*constraints: list[tuple[int, ...] | Pattern]) -> tuple[Automaton, FutureCost]:
    automaton = Automaton(list(constraints), [[] for _ in constraints], 12, eos=EOS)
    sources = [SOURCE] * len(constraints)
    expected = expected_lengths(sources, np.full(len(constraints), 60))
    return automaton, FutureCost(automaton, expected, EOS)


def candidates(automaton: Automaton, outputs: list[list[int]], score: float = -10.0) -> Candidates:
    """Return one candidate per sentence, at the end of an output."""
    states = automaton.start()
    for tokens in zip(*outputs, strict=True):
        states = automaton.advance(states, np.array(tokens))
    token = np.array([[output[-1] if output else 0] for output in outputs])
    slot = np.arange(len(outputs))[:, None]
    return Candidates(np.full(token.shape, score), slot, token, slot.ravel(), states)


def learn(automaton: Automaton, future_cost: FutureCost, cost: float, inner: float = -1.0) -> None:
    """Let the model answer what every first token costs, and every one after it."""
    nodes = np.arange(1, 1 + sum(len(trie.nodes) for trie in automaton.tries))
    sentence = np.searchsorted(automaton.roots, nodes, side="right") - 1
    depths = np.array([node.depth for trie in automaton.tries for node in trie.nodes])
    log_prob = np.where(depths > 1, inner, cost)[:, None]
    tokens = np.where(depths > 0, 5, PAD)[:, None]
    for _ in range(1000):
        future_cost.learn(sentence, tokens, nodes[:, None], log_prob)


def test_what_is_unmet_is_expected_to_cost_a_growing_part_of_its_mean_cost() -> None:
    automaton, future_cost = make([(2,), (3,)])
    learn(automaton, future_cost, -8.0)
    nothing_met = candidates(automaton, [[5]])
    at_start = AT_THE_START + (1 - AT_THE_START) / STEPS
    assert future_cost.add_to(nothing_met, 0) == pytest.approx(-10 - 2 * 8 * at_start)
    for late in (STEPS - 1, STEPS + 5):
        assert future_cost.add_to(nothing_met, late) == pytest.approx(-10 - 2 * 8)
    assert future_cost.add_to(candidates(automaton, [[3]]), STEPS) == pytest.approx(-10 - 8)
    assert future_cost.add_to(candidates(automaton, [[3, 2]]), STEPS) == pytest.approx(-10)


def test_a_phrase_that_has_begun_costs_what_continuing_costs() -> None:
    automaton, future_cost = make([(2, 3, 4), (6,)])
    learn(automaton, future_cost, -8.0, inner=-2.0)
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item()
        for output in ([5], [2], [2, 3], [2, 3, 4], [2, 5], [6, 2])
    ]
    assert worth == pytest.approx([-30, -22, -20, -18, -30, -14], abs=0.01)


def test_a_phrase_demanded_twice_is_paid_twice() -> None:
    automaton, future_cost = make([(2,), (2,), (3,)])
    learn(automaton, future_cost, -8.0)
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item()
        for output in ([5], [2], [2, 2], [2, 2, 2], [2, 2, 3])
    ]
    assert worth == pytest.approx([-34, -26, -18, -18, -10])


def test_what_may_be_given_up_costs_its_penalty_until_the_end_has_paid_it() -> None:
    automaton, future_cost = make([(2,), Pattern(((Form((3,)),),), penalty=1.5)])
    learn(automaton, future_cost, -8.0)
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item()
        for output in ([5], [2], [2, 3], [2, EOS])
    ]
    assert worth == pytest.approx([-10 - 8 - 1.5, -10 - 1.5, -10, -10])


def test_a_form_for_the_beginning_alone_has_a_first_token_like_any_other() -> None:
    forms = (Form((2, 3)), Form((4, 3), first=True))
    automaton, future_cost = make([Pattern((forms,))])
    tokens, targets = automaton.ask(automaton.start())
    assert sorted(tokens[0].tolist()) == [2, 4]
    future_cost.learn(np.zeros(1, np.int64), tokens, targets, np.full(tokens.shape, -8.0))
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item()
        for output in ([5], [4], [2])
    ]
    assert worth == pytest.approx([-10 - 8 - 0.8, -10.8, -10.8])


def test_one_impossible_position_does_not_make_all_impossible() -> None:
    automaton, future_cost = make([(2,)])
    learn(automaton, future_cost, -1e9)
    assert future_cost.add_to(candidates(automaton, [[5]]), STEPS).item() == -50


def test_an_entry_without_a_candidate_stays_without() -> None:
    automaton, future_cost = make([(2,)])
    learn(automaton, future_cost, -8.0)
    assert future_cost.add_to(candidates(automaton, [[5]], -np.inf), 0).item() == -np.inf


def test_costs_are_learnt_per_sentence_and_sentences_may_leave() -> None:
    automaton, future_cost = make([(2,)], [], [(3, 4)])
    learn(automaton, future_cost, -8.0)
    future_cost.learn(
        np.array([2] * 9), np.full((9, 1), 3), np.full((9, 1), 5), np.full((9, 1), -4.0)
    )
    before = future_cost.add_to(candidates(automaton, [[5]] * 3), 3)
    assert before[1].item() == -10
    future_cost.keep(np.array([2]))
    alone = candidates(automaton, [[5]] * 3).states
    assert alone is not None
    last = Candidates(
        np.array([[-10.0]]),
        np.array([[0]]),
        np.array([[5]]),
        np.array([0]),
        alone.take(np.array([2])),
    )
    assert future_cost.add_to(last, 3).tolist() == before[2:].tolist()


def test_lengths_are_expected_from_sources_that_have_one() -> None:
    limits = np.array([40, 40, 40])
    expected = expected_lengths([SOURCE, 7, []], limits) / TOKENS_A_SOURCE_TOKEN
    assert expected == pytest.approx([10, 20, 1 / TOKENS_A_SOURCE_TOKEN])


def test_a_narrow_beam_finds_better_outputs_than_with_equal_banks() -> None:
    """Many phrases for few slots: with equal banks they are all placed at once."""
    phrases = [[[3, 4], [5], [6, 7], [8]]] * 40
    log_prob = {}
    for algorithm in ("dba", "lookahead"):
        scorer = HistoryScorer(40, seed=7, spread=3.0)
        found = decode(
            scorer,
            [[i] * 10 for i in range(40)],
            phrases,
            algorithm=algorithm,
            beam_size=5,
            max_length=25,
        )
        log_prob[algorithm] = sum(result[0].log_prob for result in found)
    assert log_prob["lookahead"] > log_prob["dba"]


def worth_of(automaton: Automaton, future_cost: FutureCost, *outputs: list[int]) -> list[float]:
    """Return what outputs are worth at the end of a sentence, in log-probability."""
    return [future_cost.add_to(candidates(automaton, [output]), STEPS).item() for output in outputs]


def form(*tokens: int) -> tuple[Form, ...]:
    return (Form(tokens),)


def test_every_part_of_a_pattern_is_one_to_begin() -> None:
    automaton, future_cost = make([Pattern((form(2), form(3, 4), form(6)))])
    learn(automaton, future_cost, -8.0, inner=-1.0)
    outputs = [5], [3], [2], [2, 3], [2, 3, 5], [2, 3, 4], [2, 3, 4, 6]
    expected = [-25, -25, -17, -9, -17, -8, 0]
    found = worth_of(automaton, future_cost, *outputs)
    assert found == pytest.approx([-10 + cost for cost in expected], abs=0.05)


def test_a_part_that_shares_tokens_with_the_one_before_has_not_begun() -> None:
    automaton, future_cost = make([Pattern((form(2, 3), form(3, 4)))])
    learn(automaton, future_cost, -8.0, inner=-1.0)
    found = worth_of(automaton, future_cost, [2, 3], [2, 3, 3], [2, 3, 4])
    assert found == pytest.approx([-19, -11, -19], abs=0.05)


def test_parts_that_are_lost_in_a_gap_have_to_be_paid_again() -> None:
    automaton, future_cost = make([Pattern((form(2), form(3)), within=1)])
    learn(automaton, future_cost, -8.0)
    found = worth_of(automaton, future_cost, [5], [2], [2, 5], [2, 5, 5], [2, 5, 3])
    assert found == pytest.approx([-26, -18, -18, -26, -10])


def test_a_pattern_demanded_several_times_is_paid_as_often() -> None:
    twice = Pattern((form(2), form(3)))
    automaton, future_cost = make([twice, twice])
    learn(automaton, future_cost, -8.0)
    found = worth_of(automaton, future_cost, [5], [2], [2, 3], [2, 3, 2], [2, 3, 2, 3])
    assert found == pytest.approx([-42, -34, -26, -18, -10])


def test_a_longer_form_that_has_begun_costs_what_it_lacks() -> None:
    """Its first token is paid for, though it has not come nearer than a short one."""
    automaton, future_cost = make([Pattern(((Form((2,)), Form((3, 4, 6))),)), (9,)])
    learn(automaton, future_cost, -8.0, inner=-1.0)
    outputs = [5], [3], [3, 4], [3, 4, 6], [2], [3, 5], [3, 2]
    found = worth_of(automaton, future_cost, *outputs)
    assert found == pytest.approx([-26, -20, -19, -18, -18, -26, -18], abs=0.05)


def test_a_longer_form_that_would_cost_more_than_a_short_one_counts_as_that() -> None:
    automaton, future_cost = make([Pattern(((Form((2,)), Form((3, 4, 6))),))])
    learn(automaton, future_cost, -8.0, inner=-6.0)
    found = worth_of(automaton, future_cost, [5], [3], [3, 4])
    assert found == pytest.approx([-18, -18, -16], abs=0.05)


def test_the_end_of_an_output_is_not_said_before_all_else_is() -> None:
    automaton, future_cost = make([(2,), Pattern((form(3, 4),), last=True)])
    learn(automaton, future_cost, -8.0, inner=-1.0)
    outputs = [5], [3], [3, 4], [3, 4, 2], [2], [2, 3], [2, 3, 4], [2, 3, 4, 5]
    found = worth_of(automaton, future_cost, *outputs)
    assert found == pytest.approx([-27, -27, -27, -19, -19, -11, -10, -19], abs=0.05)


def test_what_may_be_given_up_costs_no_more_than_if_it_might_not() -> None:
    """At a high penalty it must not be hurried into the first place there is."""
    soft = Pattern((form(3), form(4)), penalty=40.0)
    automaton, future_cost = make([(2,), soft])
    learn(automaton, future_cost, -8.0)
    found = worth_of(automaton, future_cost, [5], [3], [3, 4], [2, 3], [2, EOS])
    assert found == pytest.approx([-34, -26, -18, -18, -10])


def test_progress_of_what_may_be_given_up_is_no_progress_of_anything_else() -> None:
    automaton, future_cost = make([(2, 6), Pattern((form(3, 4),), penalty=1.5)])
    learn(automaton, future_cost, -8.0, inner=-1.0)
    found = worth_of(automaton, future_cost, [5], [3], [3, 4], [2])
    assert found == pytest.approx([-20.5, -20, -19, -12.5], abs=0.05)


def test_what_outputs_are_worth_does_not_depend_on_the_batch() -> None:
    pattern = Pattern((form(2), form(3, 4)))
    constraints: list[list[tuple[int, ...] | Pattern]] = [
        [(2, 3), (4,)],
        [],
        [pattern, (7, 8), (9,)],
        [(3, 4, 6)],
    ]
    outputs = [[5, 2], [5, 2], [2, 7], [3, 4]]
    automaton, future_cost = make(*constraints)
    learn(automaton, future_cost, -8.0, inner=-1.0)
    together = future_cost.add_to(candidates(automaton, outputs), 3).ravel().tolist()
    for each, output, worth in zip(constraints, outputs, together, strict=True):
        automaton, future_cost = make(each)
        learn(automaton, future_cost, -8.0, inner=-1.0)
        assert future_cost.add_to(candidates(automaton, [output]), 3).item() == worth


def test_an_order_is_not_put_off_to_the_end_of_the_output() -> None:
    """Each of five words fits in one place, where it costs 1; later it costs 9 more."""
    words, other, length = [2, 3, 4, 5, 6], 7, 10

    class Places(HistoryScorer):
        def next_log_probs(self, source: object, prefix: Sequence[int]) -> NDArray[np.float64]:  # noqa: ARG002
            place = len(prefix)
            log_probs = np.full(8, -10.0)
            log_probs[other] = -0.1 if place < length else -3.0
            log_probs[EOS] = -0.1 if place >= length else -10.0
            if place % 2 == 0 and place < length:
                log_probs[words[place // 2]] = -1.0
            return log_probs

    right = [2, other, 3, other, 4, other, 5, other, 6, other]
    pattern = Pattern(tuple(form(word) for word in words))
    for beam_size in (2, 3, 5, 10):
        scorer = Places(8, eos=EOS, bos=0)
        asked: dict[str, Any] = {"algorithm": "lookahead", "beam_size": beam_size}
        (best, *_), *_ = decode(scorer, [[0] * 9], [[pattern]], max_length=30, **asked)
        assert best.tokens == right

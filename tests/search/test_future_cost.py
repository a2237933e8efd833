from __future__ import annotations

import numpy as np
import pytest

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
    assert future_cost.add_to(nothing_met, 0) * 8 == pytest.approx(-10 - 2 * 8 * at_start)
    for late in (STEPS - 1, STEPS + 5):
        assert future_cost.add_to(nothing_met, late) * 8 == pytest.approx(-10 - 2 * 8)
    assert future_cost.add_to(candidates(automaton, [[3]]), STEPS) * 8 == pytest.approx(-10 - 8)
    assert future_cost.add_to(candidates(automaton, [[3, 2]]), STEPS) * 8 == pytest.approx(-10)


def test_a_phrase_that_has_begun_costs_what_continuing_costs() -> None:
    automaton, future_cost = make([(2, 3, 4), (6,)])
    learn(automaton, future_cost, -8.0, inner=-2.0)
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item() * 8
        for output in ([5], [2], [2, 3], [2, 3, 4], [2, 5], [6, 2])
    ]
    assert worth == pytest.approx([-30, -22, -20, -18, -30, -14], abs=0.01)


def test_a_phrase_demanded_twice_is_paid_twice() -> None:
    automaton, future_cost = make([(2,), (2,), (3,)])
    learn(automaton, future_cost, -8.0)
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item() * 8
        for output in ([5], [2], [2, 2], [2, 2, 2], [2, 2, 3])
    ]
    assert worth == pytest.approx([-34, -26, -18, -18, -10])


def test_what_may_be_given_up_costs_its_penalty_until_the_end_has_paid_it() -> None:
    automaton, future_cost = make([(2,), Pattern(((Form((3,)),),), penalty=1.5)])
    learn(automaton, future_cost, -8.0)
    worth = [
        future_cost.add_to(candidates(automaton, [output]), STEPS).item() * 8
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
        future_cost.add_to(candidates(automaton, [output]), STEPS).item() * 8
        for output in ([5], [4], [2])
    ]
    assert worth == pytest.approx([-10 - 8 - 0.8, -10.8, -10.8])


def test_one_impossible_position_does_not_make_all_impossible() -> None:
    automaton, future_cost = make([(2,)])
    learn(automaton, future_cost, -1e9)
    assert future_cost.add_to(candidates(automaton, [[5]]), STEPS).item() > -5


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

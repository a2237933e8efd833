from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lexbeam.errors import ScorerError
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.parts import Part, find_parts
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam_search import decode
from lexbeam.search.draft import Draft, is_worth_a_draft, write_draft
from lexbeam.search.finishing import FinishingRules
from lexbeam.search.future_cost import LATENESS, SLACK, prices_by_place
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scores, WholeDraft
from lexbeam.testing import HistoryScorer, TableScorer

BOS, EOS = 0, 1


def chain(length: int, size: int = 8) -> TableScorer:
    """A model that says 2, 3, 4 … and ends after so many tokens."""
    table = np.full((size, size), -9.0)
    steps = [BOS, *range(2, 2 + length), EOS]
    for here, following in pairwise(steps):
        table[here, following] = -0.1
    table[3, 7] = -2.0
    return TableScorer(table, bos=BOS, eos=EOS)


def draft(
    scorer: TableScorer | HistoryScorer,
    phrases: list[list[tuple[int, ...] | Pattern]],
    prefix: list[tuple[int, ...]] | None = None,
    longest: int = 20,
) -> Draft:
    automaton = Automaton(phrases, [[] for _ in phrases], scorer.vocabulary_size, eos=EOS)
    given = prefix or [() for _ in phrases]
    requests = [Request(tuple(a), (), b) for a, b in zip(phrases, given, strict=True)]
    parts = [find_parts(layout) for layout in automaton.layouts]
    rules = FinishingRules.of(scorer, aside=False, cut=False)
    state = scorer.start([[0]] * len(phrases), [[]] * len(phrases))
    drafted = np.array([is_worth_a_draft(each) for each in parts])
    limits = np.full(len(phrases), longest)
    return write_draft(scorer, state, requests, parts, drafted, limits, rules)


def test_a_draft_says_what_first_tokens_cost_at_each_place() -> None:
    found = draft(chain(4), [[(4, 2), (7,)], [(5,), (2,)]])
    assert found.lengths.tolist() == [4, 4]
    assert found.per_token.tolist() == pytest.approx([-0.1, -0.1])
    # The places are before 2, 3, 4, 5 and the end; 7 costs less after 3.
    assert found.log_prob[:5, 0, 0].tolist() == [-9, -9, -0.1, -9, -9]
    assert found.log_prob[:5, 1, 0].tolist() == [-9, -9, -2, -9, -9]
    assert found.log_prob[:5, 0, 1].tolist() == [-9, -9, -9, -0.1, -9]
    assert np.isneginf(found.log_prob[5:]).all()


def test_of_several_forms_the_cheapest_counts() -> None:
    either = Pattern(((Form((7,)), Form((3, 7))),))
    found = draft(chain(4), [[either, (5,)]])
    assert found.log_prob[:5, 0, 0].tolist() == [-9, -0.1, -2, -9, -9]


def test_a_sentence_with_a_single_thing_to_say_is_not_drafted() -> None:
    found = draft(chain(4), [[(4,)], [(4,), (5,)], []])
    assert found.lengths.tolist() == [-1, 4, -1]


def test_a_draft_begins_with_the_prefix_and_ends_at_its_limit() -> None:
    found = draft(chain(4), [[(4,), (5,)]], prefix=[(6, 3)])
    assert found.lengths.tolist() == [4]
    assert found.log_prob[:5, 0, 0].tolist() == [-9, -9, -0.1, -9, -9]
    assert draft(chain(4), [[(4,), (5,)]], longest=2).lengths.tolist() == [2]


class AtOnce(TableScorer):
    """A scorer that takes all steps of a draft by itself."""

    cut = 0

    def draft(
        self, state: Any, ask: NDArray[np.int64], longest: int, attention: bool = False
    ) -> WholeDraft:
        assert not attention
        token = np.array([self.bos])
        steps: list[Sequence[Any]] = []
        asked = np.append(self.eos, ask)[None]
        none = np.zeros((1, 0), np.int64)
        while len(steps) <= longest:
            scores = self.step(state, token, np.array([0]), asked, none, 1)
            steps.append(scores[:3])
            state, token = scores.state, scores.top_ids[0]
            if scores.ask_scores[0, 0] >= scores.top_scores[0, 0]:
                break
        tables = [np.concatenate(column) for column in zip(*steps, strict=True)]
        return WholeDraft(*(table[self.cut :] for table in tables))


@pytest.mark.parametrize("longest", [2, 4, 20])
def test_a_scorer_may_take_all_steps_of_a_draft_at_once(longest: int) -> None:
    phrases: list[tuple[int, ...] | Pattern] = [Pattern(((Form((7,)), Form((3, 7))),)), (5,)]
    model = chain(4)
    expected = draft(model, [phrases], longest=longest)
    found = draft(AtOnce(model.log_probs, bos=BOS, eos=EOS), [phrases], longest=longest)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_draft_without_steps_is_refused() -> None:
    scorer = AtOnce(chain(4).log_probs, bos=BOS, eos=EOS)
    scorer.cut = 5
    with pytest.raises(ScorerError, match="0 steps, at most 21"):
        draft(scorer, [[(4,), (5,)]])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda _: 5, "draft must have top_scores, top_ids, ask_scores, attention, not 5"),
        (lambda whole: whole[:2], "draft must have"),
        (lambda whole: whole._replace(top_ids=whole.top_ids.tolist()), "top_ids must be"),
        (lambda whole: whole._replace(top_ids=np.int64(2)), "has shape"),
        (lambda whole: whole._replace(top_ids=np.array(2)), "has shape"),
        (lambda whole: whole._replace(top_scores=whole.top_scores.astype(str)), "top_scores must"),
    ],
)
def test_a_whole_draft_of_another_form_is_refused(change: Callable[[Any], Any], says: str) -> None:
    scorer = AtOnce(chain(4).log_probs, bos=BOS, eos=EOS)
    write = scorer.draft
    vars(scorer)["draft"] = lambda *given, **more: change(write(*given, **more))
    with pytest.raises(ScorerError, match=says):
        draft(scorer, [[(4,), (5,)]])


def test_a_whole_draft_may_have_any_precision() -> None:
    scorer = AtOnce(chain(4).log_probs, bos=BOS, eos=EOS)
    expected, write = draft(scorer, [[(4,), (5,)]]), scorer.draft

    def narrow(*given: Any, **more: Any) -> WholeDraft:
        whole = write(*given, **more)
        return whole._replace(top_ids=whole.top_ids.astype(np.int32))

    vars(scorer)["draft"] = narrow
    found = draft(scorer, [[(4,), (5,)]])
    assert found.lengths.tolist() == expected.lengths.tolist()
    assert found.tokens.tolist() == expected.tokens.tolist()


def prices(log_prob: list[list[float]], follows: list[bool] | None = None) -> NDArray[np.float64]:
    """Return the prices of parts by place, # shape: (parts, places), for a single sentence."""
    table = np.array(log_prob).T[:, :, None]
    marks = np.array(follows or [False] * len(log_prob))[:, None]
    found = prices_by_place(
        Draft(table, np.array([len(table) - 1]), np.zeros(1), np.zeros((0, 1), np.int64), None),
        marks,
    )
    return found[: len(table), :, 0].T


def test_a_word_costs_what_it_costs_at_the_best_place_to_come() -> None:
    (found,) = prices([[-9.0, -1.0, -8.0, -3.0, -9.0]])
    assert found[:2].tolist() == [-1, -1]


def test_a_place_that_has_been_passed_costs_more_with_every_token() -> None:
    (found,) = prices([[-1.0, *[-15.0] * 9]])
    late = np.maximum(np.arange(10) - SLACK, 0)
    assert found.tolist() == pytest.approx((-1 - LATENESS * late).tolist())


def test_the_words_of_an_order_are_placed_in_their_order() -> None:
    """The second fits best before the first: it has to take its second place."""
    first, second = [-9.0] * 10, [-9.0] * 10
    first[6], second[0], second[8] = -1.0, -1.0, -4.0
    assert prices([first, second])[:, 0].tolist() == [-1, -1]
    assert prices([first, second], [False, True])[:, 0].sum() == -5


def test_a_scorer_that_changes_its_state_in_place_is_searched_without_a_draft() -> None:
    class Counting(HistoryScorer):
        firsts = 0

        def start(self, sources: Sequence[Any], wanted: Sequence[Sequence[int]]) -> Any:
            self.first = super().start(sources, wanted)
            return self.first

        def step(self, state: Any, *arguments: Any, **named: Any) -> Scores:
            self.firsts += state is self.first
            return super().step(state, *arguments, **named)

    for restarts, algorithm, firsts in (
        (True, "lookahead", 2),
        (False, "lookahead", 1),
        (True, "dba", 1),
    ):
        scorer = Counting(20, seed=1)
        scorer.restarts = restarts
        decode(scorer, [[0] * 5], [[[3], [4]]], algorithm=algorithm, beam_size=3)
        assert scorer.firsts == firsts


def test_a_draft_finds_more_probable_outputs_and_does_not_depend_on_the_batch() -> None:
    sources = [[i] * 10 for i in range(30)]
    phrases = [[[3, 4], [5], [6, 7], [8]] if i % 5 else [[3, 4]] for i in range(30)]
    asked = {"algorithm": "lookahead", "beam_size": 5, "max_length": 25}
    scorer = HistoryScorer(40, seed=7, spread=3.0)
    together = decode(scorer, sources, phrases, **asked)  # type: ignore[arg-type]
    for i in (0, 1, 7, 20):
        (alone,) = decode(scorer, sources[i : i + 1], phrases[i : i + 1], **asked)  # type: ignore[arg-type]
        assert alone == together[i]
    scorer.restarts = False
    without = decode(scorer, sources, phrases, **asked)  # type: ignore[arg-type]
    # In log-probability: what runs on has a better score, but is no better.
    assert sum(r[0].log_prob for r in together) > sum(r[0].log_prob for r in without)


def test_parts_of_all_kinds() -> None:
    twice = Pattern(((Form((2,)),), (Form((3,)), Form((4, 5)))), penalty=2.0)
    phrases: list[tuple[int, ...] | Pattern] = [(6,), (6,), twice, twice]
    automaton = Automaton([phrases], [[]], 10, eos=EOS)
    found: list[Part] = find_parts(automaton.layouts[0])
    assert [(part.size, part.follows, part.soft) for part in found] == [
        (1, False, 0),
        (1, True, 0),
        (1, True, 1),
        (1, True, 1),
        (1, False, None),
        (1, False, None),
    ]
    assert found[1].first_tokens == [3, 4]


@pytest.mark.parametrize("longest", [3, 4, 20])
def test_a_draft_that_was_cut_off_is_no_finished_output(longest: int) -> None:
    found = draft(chain(4), [[(4, 2), (7,)]], longest=longest).hypothesis(0, 1.0)
    assert found.finished == (longest >= 4)
    assert found.tokens == [2, 3, 4, 5][:longest]


def test_a_prefix_counts_in_the_score_of_a_draft_as_it_is() -> None:
    found = draft(chain(4), [[(4, 2), (7,)], [(5,), (2,)]], prefix=[(3,), ()])
    forced, free = (found.hypothesis(i, 1.0) for i in (0, 1))
    assert forced.tokens == [3, 4, 5]
    assert forced.log_prob == pytest.approx(-9.0 - 3 * 0.1)
    assert free.log_prob == pytest.approx(-5 * 0.1)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_draft_costs_a_number_where_the_model_rules_everything_out(at_once: bool) -> None:
    scorer = TableScorer(np.full((8, 8), -np.inf), bos=BOS, eos=EOS)
    if at_once:
        scorer = AtOnce(np.full((8, 8), -np.inf), bos=BOS, eos=EOS)
    assert np.isfinite(draft(scorer, [[(4,), (7,)]]).per_token).all()

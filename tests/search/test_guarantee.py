"""As long as there is room, all that is demanded is in the output; each case has failed once."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ConstraintError
from lexbeam.search import Form, Pattern, decode
from lexbeam.search.automaton import followed_plans
from lexbeam.search.automaton.trace import trace
from lexbeam.search.scorer import Scores
from lexbeam.testing import HistoryScorer, TableScorer


def gap(*parts: tuple[int, ...], **settings: Any) -> Pattern:
    return Pattern(tuple((Form(tokens),) for tokens in parts), **settings)


def one_of(*forms: tuple[int, ...]) -> Pattern:
    return Pattern((tuple(map(Form, forms)),))


def test_chains_and_counts_with_room_side_by_side() -> None:
    demands = [gap((2,), (3,), (3, 1), within=5)] * 2
    demands += [gap((1, 2), (2,), within=0)] * 2 + [gap((2, 2), last=True)]
    scorer = HistoryScorer(4, eos=0, seed=160)
    found = decode(scorer, ["s"], [demands], max_length=18, beam_size=1)[0][0]
    assert all(trace(demands, found.tokens).met)


def test_chains_behind_a_strict_beginning_of_whole_words() -> None:
    table = np.log(np.random.default_rng(2170).dirichlet(np.full(6, 0.7), 6))
    begins = Pattern(((Form((0, 1, 3), first=True), Form((0,), first=True)),))
    either = Pattern(((Form((0,)), Form((4,), first=True)), (Form((2, 0)), Form((4, 1)))), within=5)
    demands = [gap((3, 2), (4, 1), (2,), within=5), begins, either]
    found = decode(
        TableScorer(table, bos=0, eos=5),
        ["s"],
        [demands],
        boundary=[0, 0, 1, 0, 1, 1],
        max_length=35,
        algorithm="beam",
        beam_size=3,
        prune=3,
        stop="bound",
        length_penalty=0,
    )[0][0]
    assert all(found.met)


@pytest.mark.parametrize("algorithm", ["beam", "dba", "lookahead", "gbs"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_more_than_can_be_worked_out_exactly(algorithm: str, beam_size: int) -> None:
    """Gaps that the output would lose one after the other, in as many tokens as they have."""
    demands = [gap((n,), (n + 1,), within=1) for n in range(1, 25, 2)] + [gap((25, 26), last=True)]
    scorer = HistoryScorer(40, eos=0, seed=1)
    found = decode(
        scorer, ["s"], [demands], max_length=26, beam_size=beam_size, algorithm=algorithm
    )[0][0]
    assert all(trace(demands, found.tokens).met)


def test_sharing_tokens_makes_room() -> None:
    """Phrases that only fit if they share tokens, too many to work out the need of each state."""
    phrases = [(n, n + 1) for n in range(1, 20)]
    scorer = HistoryScorer(30, eos=0, seed=1)
    found = decode(scorer, ["s"], [phrases], max_length=20, beam_size=1)[0][0]
    assert found.tokens == list(range(1, 21))
    with pytest.raises(ConstraintError, match="max_length is 19"):
        decode(scorer, ["s"], [phrases], max_length=19, beam_size=1)


def test_words_are_ended_between_phrases_though_the_model_would_not() -> None:
    """Between phrases that begin inside a word stands a token that the model hardly proposes."""
    table = np.full((60, 60), np.log(0.02))
    table[:, 1] = -50.0  # the only token, but for the end, that begins a word
    scorer = TableScorer(table, bos=0, eos=0)
    phrases = [(number,) for number in range(2, 20)]
    boundary = [True, True] + [False] * 58
    found = decode(scorer, ["s"], [phrases], boundary=boundary, max_length=35, beam_size=1)[0][0]
    assert found.tokens[1::2] == [1] * 17


def test_a_phrase_wanted_twice_that_begins_inside_a_word() -> None:
    scorer = TableScorer(np.log(np.full((4, 4), 0.25)), bos=0, eos=1)
    for length in range(3, 6):
        found = decode(
            scorer, [0], [[[2], [2]]], boundary=[1, 1, 0, 0], max_length=length, beam_size=1
        )
        assert found[0][0].tokens == [2, 0, 2]


def test_penalties_are_not_charged_for_the_tokens_of_a_prefix() -> None:
    scorer, soft = HistoryScorer(4, eos=0), Pattern(((Form((2,)),),), penalty=50.0)
    found = decode(scorer, ["a"], [[soft]], prefix=[[1]], max_length=1)[0][0]
    free = decode(scorer, ["a"], prefix=[[1]], max_length=1)[0][0]
    assert found.log_prob == pytest.approx(free.log_prob)


def test_two_demands_that_avoided_forms_make_alike_are_met_by_one_occurrence() -> None:
    demands = [one_of((2,)), one_of((1,), (2,)), one_of((2,), (1,))]
    found = decode(HistoryScorer(4, eos=0), ["a"], [demands], [[(1,)]], max_length=1)[0][0]
    assert (found.tokens, found.met) == ([2], [True] * 3)


def test_a_demand_given_twice_is_wanted_twice_though_forms_are_avoided() -> None:
    demands = [one_of((1,), (2,))] * 2
    found = decode(HistoryScorer(4, eos=0), ["a"], [demands], [[(1,)]], max_length=2)[0][0]
    assert found.tokens == [2, 2]


@pytest.mark.parametrize(("prefix", "avoid"), [((0, 2), (0, 2)), ((0, 2), (2,)), ((2, 0), (2,))])
def test_a_prefix_with_an_avoided_word_that_the_scorer_cannot_hold(
    prefix: tuple[int, ...], avoid: tuple[int, ...]
) -> None:
    scorer, boundary = HistoryScorer(3, eos=1), [True, True, False]
    with pytest.raises(ConstraintError, match="prefix"):
        decode(scorer, ["a"], avoid=[[avoid]], prefix=[prefix], max_length=4, boundary=boundary)


def test_a_whole_prefix_must_not_end_with_an_avoided_word() -> None:
    scorer = HistoryScorer(4, eos=1, word_starts=[1, 1, 0, 1])
    request: dict[str, Any] = {"avoid": [[(0,)]], "prefix": [[0]], "boundary": [1, 1, 0, 1]}
    assert decode(scorer, ["a"], **request, max_length=4)[0][0].tokens[:2] == [0, 2]
    with pytest.raises(ConstraintError, match=r"prefix \[0\] is also avoided"):
        decode(scorer, ["a"], **request, whole_prefix=[True], max_length=4)


def test_a_sentence_is_not_closed_earlier_because_of_another() -> None:
    """Whether a limit is near is known for each sentence by itself."""
    scorer = HistoryScorer(5, eos=0, seed=4)
    soft = Pattern(((Form((2,)), Form((3, 1))),), penalty=2.0)
    requests: list[list[Any]] = [[soft, (2, 2)], [(1,)] * 6, []]
    limits = [9, 6, 3]
    together = decode(scorer, ["a", "b", "c"], requests, max_length=limits, beam_size=2)
    for number, source in enumerate("abc"):
        alone = decode(scorer, [source], [requests[number]], max_length=limits[number], beam_size=2)
        assert together[number] == alone[0]


@pytest.mark.parametrize("beam_size", [17, 30])
def test_grid_beam_search_of_sentences_with_different_limits(beam_size: int) -> None:
    scorer, settings = HistoryScorer(4, eos=0), {"algorithm": "gbs", "beam_size": beam_size}
    together = decode(scorer, ["a", "b"], [[(1,)], []], max_length=[1, 2], **settings)  # type: ignore[arg-type]
    alone = decode(scorer, ["b"], [[]], max_length=2, **settings)  # type: ignore[arg-type]
    assert together[1] == alone[0]


def test_many_copies_are_quick_or_refused() -> None:
    scorer = HistoryScorer(9, eos=0)
    near, wide = one_of((3,), (5, 7)), gap((3,), (5,), within=50)
    started = time.process_time()
    found = decode(scorer, ["a"], [[near] * 100], max_length=110, beam_size=2)[0][0]
    assert found.met == [True] * 100
    assert time.process_time() - started < 10
    decode(scorer, ["a"], [[wide] * 10], max_length=40, beam_size=2)
    with pytest.raises(ConstraintError, match="may be 1024 at most"):
        decode(scorer, ["a"], [[wide] * 100], max_length=400, beam_size=2)


def test_what_was_not_found_is_named_with_the_reason() -> None:
    """A word has to end behind the prefix, but only the end of sentence ends words."""
    with pytest.raises(ConstraintError) as caught:
        decode(
            HistoryScorer(4, eos=1),
            ["a"],
            [[(3,)]],
            prefix=[[2]],
            whole_prefix=[True],
            boundary=[0, 1, 0, 0],
            max_length=5,
        )
    assert str(caught.value) == (
        "sentence 0: no output with the phrases [3] was found that keeps to max_length and to "
        "what is avoided; allow more tokens or avoid less"
    )


def test_what_needs_more_tokens_than_the_prefix_leaves_is_refused_with_both_numbers() -> None:
    with pytest.raises(ConstraintError) as caught:
        decode(HistoryScorer(5, eos=1), ["a"], [[(3, 4)]], prefix=[[2, 2]], max_length=3)
    assert str(caught.value) == (
        "sentence 0: phrases [3, 4] need 2 tokens after a prefix of 2, max_length is 3"
    )


def test_what_can_only_stand_at_the_beginning_is_placed_there() -> None:
    """A spelling that counts only where no word goes on, in a vocabulary where words always do."""
    table = np.full((4, 4), np.log(0.02))
    table[:, 3] = np.log(0.94)
    scorer = TableScorer(table, bos=0, eos=2, word_starts=[1, 1, 1, 1])
    apart = Pattern(((Form((1,), apart=True),),), may_overlap=True)
    marks: dict[str, Any] = {"boundary": [1, 1, 1, 1], "closing": [0, 0, 0, 0]}
    for algorithm in ("beam", "dba", "lookahead"):
        settings: dict[str, Any] = {"max_length": 2, "beam_size": 1, "algorithm": algorithm}
        found = decode(scorer, [0], [[apart]], **marks, **settings)[0][0]
        assert found.tokens[0] == 1


def test_a_beginning_that_something_else_has_to_share() -> None:
    """Of two beginnings that are allowed, only one leaves room for what must begin, too."""
    apart = Pattern(((Form((2,), apart=True),),), may_overlap=True)
    begins = Pattern(((Form((2, 2), first=True), Form((2,), first=True)),))
    marks: dict[str, Any] = {"boundary": [1, 0, 1], "closing": [0, 0, 0], "max_length": 5}
    for seed in range(5):
        scorer = HistoryScorer(3, eos=0, seed=seed, word_starts=[1, 0, 1])
        found = decode(scorer, ["s"], [[(1,), apart, begins]], beam_size=1, **marks)[0][0]
        assert found.tokens[:2] == [2, 2]


def test_a_word_that_would_be_one_too_many_is_not_begun_where_no_word_goes_on() -> None:
    begins = Pattern(((Form((1,), first=True),),))
    twice = Pattern(((Form((1,)),),), may_overlap=True, exact=True)
    marks: dict[str, Any] = {"boundary": [1, 1, 1], "closing": [0, 0, 0], "max_length": 5}
    for seed in range(20):
        scorer = HistoryScorer(3, eos=0, seed=seed, word_starts=[1, 1, 1])
        found = decode(scorer, ["s"], [[begins, twice, twice]], beam_size=1, **marks)[0][0]
        assert found.tokens.count(1) == 2


def test_a_plan_is_known_before_there_is_no_time_to_follow_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followed_plans, "_MOST_WORK", 0)
    phrases = [(3, 4), (4, 5), (5, 3, 3)] * 5  # more than has exact numbers
    scorer = HistoryScorer(8, eos=0, seed=3)
    for longest in (136, 138, 140):
        (found,) = decode(
            scorer, ["s"], [phrases], avoid=[[(4, 4)]], max_length=longest, beam_size=1
        )
        assert all(trace(phrases, found[0].tokens).met)


def test_near_its_limit_a_sentence_is_proposed_as_many_tokens_in_a_batch_as_alone() -> None:
    """More were proposed next to phrases with more tokens, and one of them kept out the end."""
    table = np.log(np.random.default_rng(6272).dirichlet(np.full(6, 0.7), 6))
    scorer = TableScorer(table, bos=0, eos=4)
    last = Pattern(parts=((Form(tokens=(2,)),),), last=True)
    soft = Pattern(parts=((Form(tokens=(0,)),),), penalty=2.0)
    other = Pattern(parts=((Form(tokens=(3, 1)), Form(tokens=(0, 5))),), penalty=2.0)
    sentences = [[last, soft], [other]]
    how: dict[str, Any] = {"beam_size": 1, "algorithm": "lookahead"}
    (alone,) = decode(scorer, ["s004"], sentences[:1], max_length=[2], **how)
    together, _ = decode(scorer, ["s004", "s005"], sentences, max_length=[2, 0], **how)
    assert [each.tokens for each in together] == [each.tokens for each in alone] == [[2]]


def test_plans_whose_fillers_lead_round_in_a_circle_end() -> None:
    """The search did not end: some gaps are open again after as many fillers as before."""
    table = np.log(np.random.default_rng(5612).dirichlet(np.full(10, 0.7), 10))
    near = Pattern(((Form((2,)), Form((6,))), (Form((1, 7)),)), within=1)
    other = Pattern(((Form((7,)), Form((9,)), Form((3, 9))), (Form((9,)),)), within=1)
    middle = (Form((7,)), Form((1,)), Form((5,)))
    last = Pattern(((Form((6, 9)),), middle, (Form((7, 5)),)), within=2, last=True)
    demands = [near, near, near, other, last, last, Pattern(((Form((4,)),),), may_overlap=True)]
    found = decode(
        TableScorer(table, bos=0, eos=0),
        ["s000"],
        [demands],
        prefix=[[1, 5, 3]],
        max_length=[46],
        boundary=[1, 1, 1, 1, 1, 1, 0, 1, 1, 1],
        closing=[0, 0, 1, 0, 0, 0, 0, 0, 0, 1],
        starting=[1, 1, 1, 0, 1, 1, 0, 1, 1, 1],
        joining=[0, 0, 0, 7, 2, 4, 6, 2, 0, 0],
        beam_size=3,
        algorithm="lookahead",
        prune=3.0,
        stop="likely",
        length_penalty=0.0,
    )
    assert all(found[0][0].met)


@pytest.mark.parametrize("longest", [41, 101, 150])
def test_more_room_does_not_hide_the_way(longest: int) -> None:
    """With room for 101 tokens the plan was looked for in a narrower beam, and not found."""
    first = (Form((3, 1)), Form((2, 9)), Form((5,), first=True))
    near = Pattern((first, (Form((0,)), Form((9,))), (Form((5,)),)), within=0)
    other = (Form((9, 5)), Form((6, 4, 5), first=True)), (Form((6, 1)), Form((10,))), (Form((8,)),)
    demands = [near] * 4 + [Pattern(other, within=5), gap((7,), (10, 8), (10, 8), within=0)]
    scorer = HistoryScorer(12, eos=11, seed=8526)
    found = decode(
        scorer, ["s000"], [demands], [[(9,)]], max_length=longest, beam_size=10, algorithm="gbs"
    )
    assert all(found[0][0].met)


@pytest.mark.parametrize("longest", [3, 8])
def test_a_beginning_behind_which_nothing_can_be_said_is_not_taken(longest: int) -> None:
    """With one hypothesis the beginning was 1, which no word can follow in this vocabulary."""
    table = np.log(np.random.default_rng(965).dirichlet(np.full(3, 0.7), 3))
    demands = [
        Pattern(((Form((1,)), Form((0,), first=True)), (Form((0,)),))),
        Pattern(((Form((1,), first=True), Form((0,), first=True)),)),
    ]
    found = decode(
        TableScorer(table, bos=0, eos=2),
        ["s000"],
        [demands],
        max_length=longest,
        boundary=[0, 0, 1],
        closing=[1, 0, 0],
        starting=[0, 0, 1],
        joining=[0, 4, 0],
        beam_size=1,
    )
    assert found[0][0].tokens[:1] == [0]
    assert all(found[0][0].met)


def test_a_sentence_is_planned_alike_whatever_the_bits_of_its_neighbours() -> None:
    """With more than 64 bits in the batch, plans were followed for half as long."""
    phrases = [[2], [2, 4], [3, 3], [3, 3], [4, 3, 3], [2], [2, 2], [3], [3, 3, 3], [3], [3, 3]]
    phrases += [[3], [2]]
    scorer = HistoryScorer(5, bos=0, eos=1, seed=64)
    [alone] = decode(scorer, [0], [phrases], [[[4, 3, 4]]], max_length=19)
    for number in (65, 129):
        beside, limits = [phrases, [[2]] * number], [19, number + 5]
        found, _ = decode(scorer, [0, 0], beside, [[[4, 3, 4]], []], max_length=limits)
        assert found == alone


def test_a_neighbour_that_may_be_late_gives_a_sentence_no_more_candidates() -> None:
    def ones(*parts: list[int], **more: Any) -> Pattern:
        """Return a pattern of nothing but token 1, each form so many times."""
        made = (tuple(Form((1,) * abs(n), first=n < 0) for n in forms) for forms in parts)
        return Pattern(tuple(made), **more)

    table = np.array([[0.0, -np.inf], [0.0, -np.inf]])
    scorer = TableScorer(table, bos=0, eos=0, word_starts=[True, True])
    chain = ones([2], [1, 2], [1, 3], within=3)
    spelled = ones([2, 2, 1], within=0, may_overlap=True)
    asked: list[Any] = [(1,), (1,), chain, (1,), (1, 1), spelled, chain, (1, 1)]
    asked += [ones([6], [-2, 1], last=True), spelled]
    late = [ones([1], [2])] * 3
    given: dict[str, Any] = {"beam_size": 2, "prune": None, "boundary": [True, True], "nbest": 10}
    [alone] = decode(scorer, [0], [asked], max_length=14, **given)
    _, found = decode(scorer, [0, 0], [late, asked], max_length=[9, 14], **given)
    assert found == alone


class Filled(HistoryScorer):
    """Names the same token wherever fewer are left than are asked for."""

    fill = 0

    def step(self, *args: Any, **more: Any) -> Scores:
        """Score what may follow."""
        scores = super().step(*args, **more)
        ids = np.where(scores.top_scores == -np.inf, self.fill, scores.top_ids)
        return scores._replace(top_ids=ids)


def test_it_does_not_matter_what_is_named_where_no_token_is_left() -> None:
    def once(*tokens: int) -> Pattern:
        return Pattern(((Form(tokens),),), may_overlap=True, exact=True)

    phrases: list[Any] = [(5, 3), (5, 4), (5,), (5, 5), *[once(5, 5, 5)] * 4, (5,), (3,), (3,)]
    phrases += [(5, 5), (5, 5, 5), (2, 5), once(4, 5), (4,)]
    found = []
    for fill in range(6):
        scorer = Filled(6, bos=0, eos=1, seed=7)
        scorer.fill = fill
        found.append(decode(scorer, [0], [phrases], [[(4, 2), (2, 2)]], max_length=19))
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("avoid", [[], [[4, 4, 4]]])
def test_patterns_that_a_caller_tells_apart_are_met_by_one_occurrence(avoid: Any) -> None:
    """They were given the same number where anything was avoided, and demanded twice."""
    scorer = HistoryScorer(5, bos=0, eos=1, seed=3)
    twice = [Pattern(((Form((3,)),),), demand=number) for number in (0, 1)]
    [[found]] = decode(scorer, [0], [twice], [avoid], max_length=1)
    assert found.tokens == [3]
    exact = [replace(each, may_overlap=True, exact=True) for each in twice]
    [[found]] = decode(scorer, [0], [exact], [avoid], max_length=8)
    assert found.tokens.count(3) == 1


def test_the_word_of_a_whole_prefix_has_to_end_before_anything_is_said() -> None:
    """That takes a token, and what goes on with the word does not count."""
    with pytest.raises(ConstraintError) as caught:
        decode(
            HistoryScorer(4, eos=0),
            ["a"],
            [[(1,)]],
            prefix=[[2]],
            whole_prefix=[True],
            boundary=[1, 0, 1, 1],
            max_length=2,
        )
    assert str(caught.value) == (
        "sentence 0: phrases [1] need 2 tokens after a prefix of 1, max_length is 2"
    )


@pytest.mark.parametrize("algorithm", ["dba", "gbs", "beam", "lookahead"])
def test_plans_behind_a_whole_prefix_begin_with_a_new_word(algorithm: str) -> None:
    def order(*parts: tuple[tuple[int, ...], ...]) -> Pattern:
        return Pattern(tuple(tuple(map(Form, forms)) for forms in parts))

    demands: list[Any] = [
        order(((1,),), ((11, 6),)),
        (10, 6),
        order(((7,), (3, 3, 3, 3))),
        (9, 10, 9, 10),
        order(((4, 5), (5,)), ((11, 6),)),
        (5, 5, 6, 7),
    ]
    given: dict[str, Any] = {
        "boundary": [1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1],
        "closing": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
        "whole_prefix": [True],
        "algorithm": algorithm,
        "beam_size": 3,
    }
    output = [1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 9, 10, 6, 11, 6]
    scorer = HistoryScorer(12, eos=0)
    as_prefix = decode(scorer, ["a"], [demands], prefix=[output], max_length=16, **given)
    assert all(as_prefix[0][0].met)
    for longest in range(16, 22):
        found = decode(scorer, ["a"], [demands], prefix=[output[:4]], max_length=longest, **given)
        assert all(found[0][0].met)
        assert len(found[0][0].tokens) <= longest


@pytest.mark.parametrize("algorithm", ["gbs", "cbs", "dba", "lookahead", "beam"])
def test_ends_that_are_closed_give_no_more_candidates_beside_a_late_neighbour(
    algorithm: str,
) -> None:
    for seed in range(40):
        logits = np.random.default_rng(seed).normal(scale=1.5, size=(7, 7))
        logits -= np.logaddexp.reduce(logits, axis=1, keepdims=True)
        scorer = TableScorer(logits, bos=0, eos=0)
        vars(scorer)["ends"] = [0, 1]
        how: dict[str, Any] = {"beam_size": 2, "algorithm": algorithm}
        alone = decode(scorer, [0], [[(2,), (3,)]], max_length=[12], **how)[0]
        both: Any = [[(2,), (3,)], [(4, 5)]]
        assert decode(scorer, [0, 1], both, max_length=[12, 2], **how)[0] == alone


@pytest.mark.parametrize("longest", [4, 12, 40])
def test_a_silent_token_is_no_way_to_end_the_word_of_a_prefix(longest: int) -> None:
    once = Pattern(((Form((3,)),),), may_overlap=True, exact=True)
    given: dict[str, Any] = {"prefix": [[2]], "whole_prefix": [True], "max_length": longest}
    given |= {"boundary": [1, 1, 1, 0, 1, 1, 1], "silent": [1, 0, 0, 0, 0, 0, 0]}
    found = decode(HistoryScorer(7, eos=1), ["a"], [[once]], [[[4, 4]]], **given)[0][0]
    assert found.met == [True]
    assert found.tokens[1] not in (0, 3)


def test_phrases_that_begin_with_silent_tokens_wait_until_a_word_has_ended() -> None:
    given: dict[str, Any] = {"prefix": [[2, 0]], "whole_prefix": [True], "max_length": 6}
    given |= {"boundary": [1] * 5, "silent": [1, 0, 0, 1, 0]}
    found = decode(HistoryScorer(5, eos=1), ["a"], [[(0, 0, 0), (0,)]], **given)[0][0]
    assert found.met == [True, True]
    assert found.tokens[2] in (2, 4)


@pytest.mark.parametrize("room", [0, 12, 60])
def test_what_stands_apart_begins_the_output_where_no_token_ends_a_word(room: int) -> None:
    first = Pattern(((Form((3, 5), apart=True),),), may_overlap=True, exact=True)
    either = Pattern(
        (
            (Form((3, 1)), Form((4, 2)), Form((5,), first=True)),
            (Form((2, 4)),),
        ),
        within=5,
    )
    near = Pattern(
        (
            (Form((2, 5)), Form((2,)), Form((1, 1))),
            (Form((4,)), Form((3, 1)), Form((5, 5))),
        ),
        within=0,
    )
    chain = Pattern(
        (
            (Form((4,)),),
            (Form((3,)), Form((4, 1))),
            (Form((3,)), Form((2, 4)), Form((2,))),
        ),
        within=5,
    )
    table = np.log(np.random.default_rng(7980).dirichlet(np.full(6, 0.7), 6))
    words: dict[str, Any] = {"boundary": [1, 0, 1, 1, 1, 1], "closing": [1, 0, 0, 0, 0, 0]}
    words |= {"starting": [0, 0, 1, 1, 1, 1], "silent": [0, 0, 1, 0, 0, 0]}
    demands = [chain, first, either, near, either]
    scorer = TableScorer(table, bos=0, eos=0)
    found = decode(scorer, ["s"], [demands], max_length=31 + room, beam_size=5, **words)[0][0]
    assert all(found.met)
    assert found.tokens[:2] == [3, 5]


@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
@pytest.mark.parametrize("room", [19, 60, 400])
@pytest.mark.parametrize("others", [4, 10, 14])
def test_a_pattern_whose_first_part_can_only_begin_the_output_is_met(
    others: int, room: int, algorithm: str
) -> None:
    pairs = [(x, y) for x in (3, 4, 6, 7) for y in (3, 4, 6, 7)][:others]
    parts = Pattern(((Form((5,), apart=True),), (Form((4, 5)),)))
    scorer = TableScorer(np.log(np.full((8, 8), 1 / 8)), bos=0, eos=1)
    given: dict[str, Any] = {"boundary": [0, *[1] * 7], "max_length": room, "algorithm": algorithm}
    found = decode(scorer, ["s"], [[parts, *pairs]], **given)[0][0]
    assert all(found.met)
    assert found.tokens[0] == 5


@pytest.mark.parametrize("room", [9, 14, 40, 100])
def test_a_beginning_and_patterns_that_begin_with_it_are_met_in_any_room(room: int) -> None:
    near = Pattern(((Form((3, 2, 8)),), (Form((8, 2)), Form((5,)))), within=5)
    first = Pattern(((Form((2, 4), first=True),),))
    chain = Pattern(((Form((6, 2)), Form((8, 7, 8, 8))), (Form((2, 8, 2)),)))
    apart = Pattern(((Form((2,), apart=True),), (Form((2, 3)),)))
    scorer = TableScorer(np.log(np.full((11, 11), 1 / 11)), bos=0, eos=1)
    given: dict[str, Any] = {"boundary": [each not in (1, 6) for each in range(11)]}
    given |= {"max_length": room, "beam_size": 2}
    found = decode(scorer, ["s"], [[near, first, chain, apart]], **given)[0][0]
    assert all(found.met)


@pytest.mark.parametrize("room", [11, 20, 132])
@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
def test_what_begins_a_phrase_is_no_word_of_its_own_there(room: int, algorithm: str) -> None:
    """The lone word is counted; at the beginning of another phrase it only may be one."""
    forms = (Form((3, 12, 7)), Form((9, 10, 9))), (Form((20, 16, 11)), Form((12, 3, 12)))
    gap = Pattern(forms, within=2)
    near = Pattern(((Form((3,)),), (Form((7, 7, 7, 12)), Form((15, 12, 2)))), within=3)
    end = Pattern(((Form((12, 12, 14)),),), last=True)
    lone = Form((17, 3)), Form((18, 16, 15)), Form((12,), apart=True)
    once = Pattern((lone,), may_overlap=True, exact=True)
    boundary = [each not in (0, 4, 6, 10, 16, 18, 19) for each in range(21)]
    starting = [each not in (1, 9) and ok for each, ok in enumerate(boundary)]
    table = np.log(np.full((21, 21), 1 / 21))
    scorer = TableScorer(table, bos=0, eos=1, word_starts=boundary)
    given: dict[str, Any] = {"boundary": boundary, "starting": starting, "max_length": room}
    given |= {"algorithm": algorithm, "beam_size": 1}
    found = decode(scorer, ["s"], [[gap, near, end, once]], **given)[0][0]
    assert all(found.met)


def test_where_what_ends_words_is_avoided_nothing_stands_apart_later() -> None:
    pairs = [(x, y) for x in (3, 4, 6, 7) for y in (3, 4, 6, 7)][:10]
    parts = Pattern(((Form((5,), apart=True),), (Form((4, 5)),)))
    scorer = TableScorer(np.log(np.full((8, 8), 1 / 8)), bos=0, eos=1)
    given: dict[str, Any] = {"boundary": [0, *[1] * 7], "closing": [0, 0, 1, 0, 0, 0, 0, 0]}
    given |= {"max_length": 60, "algorithm": "dba"}
    found = decode(scorer, ["s"], [[parts, *pairs]], [[(2,)]], **given)[0][0]
    assert all(found.met)
    assert found.tokens[0] == 5


def test_eleven_phrases_share_as_many_tokens_as_they_can() -> None:
    shortest = (4, 2, 5, 2, 3, 2, 3, 3, 2, 6, 4)
    spans = [(4, 6), (4, 7), (6, 10), (8, 10), (8, 11), (7, 11), (6, 9), (6, 11), (0, 4), (0, 1)]
    phrases = [shortest[start:end] for start, end in (*spans, (2, 4))]
    scorer = TableScorer(np.log(np.full((7, 7), 1 / 7)), bos=0, eos=1)
    found = decode(scorer, ["s"], [phrases], max_length=11, boundary=[0, 0, 0, 1, 1, 1, 1])[0][0]
    assert all(found.met)
    with pytest.raises(ConstraintError, match="need 11 tokens, max_length is 10"):
        decode(scorer, ["s"], [phrases], max_length=10, boundary=[0, 0, 0, 1, 1, 1, 1])


def test_plans_say_how_many_tokens_are_enough_not_how_many_are_needed() -> None:
    phrases = [(2 + i, 3 + i) for i in range(20)]
    scorer = TableScorer(np.log(np.full((30, 30), 1 / 30)), bos=0, eos=1)
    with pytest.raises(ConstraintError, match=r"need up to \d+ tokens, max_length is 5"):
        decode(scorer, ["s"], [phrases], max_length=5)


@pytest.mark.parametrize("limit", [13, 40, 80, 300])
@pytest.mark.parametrize("algorithm", ["dba", "lookahead"])
def test_a_token_that_is_known_late_in_a_step_is_at_hand(limit: int, algorithm: str) -> None:
    """Plans become known while tokens are looked at; then another token led to no candidate."""
    table = np.array(
        [
            [-34.442, -1.204, -1.094, -5.976, -1.161],
            [-33.015, -1.204, -6.535, -1.737, -0.696],
            [-33.422, -1.204, -0.936, -1.927, -2.276],
            [-33.555, -1.204, -4.279, -0.764, -1.728],
            [-31.793, -1.204, -1.166, -4.757, -1.002],
        ]
    )
    twice = Pattern(((Form((3, 4)), Form((2,))),), may_overlap=True, exact=True)
    demands: list[Any] = [
        twice,
        twice,
        Pattern(((Form((2,)),),), may_overlap=True),
        Pattern(((Form((2, 2, 4)),), (Form((3, 3, 4)),), (Form((4, 4)),))),
        Pattern(((Form((3,)),), (Form((4, 4)),))),
        Pattern(((Form((3, 3, 4)),), (Form((3,)),))),
        Pattern(((Form((4,)),), (Form((2, 3)),)), within=3),
        Pattern(((Form((3, 2)),), (Form((3, 4)), Form((3,), apart=True)))),
        (3, 2, 2, 4),
        (4, 4),
    ]
    given: dict[str, Any] = {"boundary": [1, 1, 1, 0, 0], "starting": [0, 0, 1, 0, 0]}
    given |= {"max_length": limit, "algorithm": algorithm, "beam_size": 1}
    scorer = TableScorer(table, bos=0, eos=1, word_starts=[1, 1, 1, 0, 0])
    found = decode(scorer, ["s"], [demands], [[(4, 3)]], **given)[0][0]
    assert all(found.met)


@pytest.mark.parametrize("beam_size", [1, 2])
@pytest.mark.parametrize("limit", [13, 43, 113, 313])
def test_a_word_that_may_neither_end_nor_go_on_is_no_way_however_much_room_there_is(
    limit: int, beam_size: int
) -> None:
    scores = np.random.default_rng(700064).normal(scale=2.0, size=(16, 16))
    table = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    table[:, 1] = np.log(0.005)
    scorer = TableScorer(np.minimum(table, 0), bos=0, eos=1, word_starts=np.ones(16, np.bool_))
    phrases = [(3, 6, 4, 3), (7, 3), (3, 3), (3,), (2, 3), (6, 2, 3, 7), (4, 4, 7)]
    given: dict[str, Any] = {"boundary": [1] * 16, "max_length": limit, "beam_size": beam_size}
    found = decode(scorer, ["s"], [phrases], [[(4, 7, 7)]], algorithm="dba", **given)[0][0]
    assert all(found.met)


def counted(token: int, times: int) -> list[Pattern]:
    return [Pattern(((Form((token,)),),), may_overlap=True, exact=True)] * times


@pytest.mark.parametrize("limit", [27, 57, 87, 327])
def test_plans_of_many_demands_are_found_with_much_room_as_with_little(limit: int) -> None:
    """Met by 7 4 3 2 4 3 3 2 5 7 6 7 2 7 4 4 5 2 3 2 6 4 3 4 3 7 2."""

    def chain(*parts: tuple[Form, ...], within: int | None = None) -> Pattern:
        return Pattern(parts, within=within)

    def one(*tokens: int) -> tuple[Form, ...]:
        return (Form(tokens),)

    demands: list[Any] = [
        (7,),
        chain(one(5), one(3, 2), (Form((6, 7)), Form((3, 4))), within=2),
        chain(one(4, 5, 2), one(3, 2, 6, 4), within=0),
        Pattern((one(2, 5),), may_overlap=True, exact=True),
        chain(one(4), one(2)),
        chain(
            (Form((2, 7)), Form((6,), apart=True)),
            one(2, 3),
            (Form((4,)), Form((5, 3))),
            within=3,
        ),
        chain(one(7, 4), one(3, 2), one(3), within=2),
        chain(one(3, 4), one(3, 7, 2), within=0),
        chain((Form((3,)), Form((4, 5, 2))), one(6, 4)),
        chain((Form((3,)), Form((6, 6))), one(7, 2), within=0),
        (3, 2),
        *counted(3, 6),
        chain((Form((4, 3)), Form((3,)), Form((4,))), one(4, 3, 7, 2), within=1),
        *counted(7, 5),
        (3, 3),
        (4, 5),
        chain(one(4, 3), one(3, 2, 5)),
        chain(one(6), one(4, 3, 4, 3), within=0),
        *counted(5, 2),
        (7,),
    ]
    scores = np.random.default_rng(5223).normal(scale=2.0, size=(8, 8))
    scores[:, 0] = -30
    table = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True) + np.log(0.95)
    table[:, 1] = np.log(0.05)
    given: dict[str, Any] = {"max_length": limit, "algorithm": "dba", "beam_size": 2}
    found = decode(TableScorer(table, bos=0, eos=1), [tuple(range(7))], [demands], **given)[0][0]
    assert all(found.met)

"""Constraints that are tied to source tokens, on toy models with a known alignment."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ConstraintError, InputError
from lexbeam.search import Hypothesis, Pattern, beam_search, decode, kernel
from lexbeam.search.arrays import PAD
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Form
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.ties import (
    ELSEWHERE,
    FORGIVEN,
    NARROW,
    PASSING,
    TiedStep,
    Ties,
    _charged_depth,
)
from lexbeam.testing import HistoryScorer, TableScorer, every_output

END, A, B, C, TERM, BEGIN = range(6)


def monotone(source: Sequence[int], prefix: Sequence[int]) -> Any:
    """Attend to the source tokens one after the other, as many times as there are."""
    weights = np.zeros(len(source))
    weights[min(len(prefix), len(source) - 1)] = 1.0
    return weights


def diagonal_model(term_log_prob: float) -> TableScorer:
    """Return a model that says A B C, one word per source token, and the term hardly ever."""
    rows = np.full((6, 6), 1e-4)
    for here, following in ((BEGIN, A), (A, B), (B, C), (C, END), (TERM, C)):
        rows[here, following] = 1.0
    rows[:, TERM] = np.exp(term_log_prob)
    rows[C, TERM] = np.exp(term_log_prob + 3)  # at the end it would fit a little better
    rows /= rows.sum(axis=1, keepdims=True)
    position = {BEGIN: 0, A: 1, B: 2, C: 3, TERM: 2, END: 3}
    table = np.zeros((6, 4))
    for token, index in position.items():
        table[token, index] = 1.0
    return TableScorer(np.log(rows), bos=BEGIN, eos=END, alignment=table)


def search(scorer: Any, source: list[int], **settings: Any) -> Hypothesis:
    return decode(scorer, [source], [[(TERM,)]], max_length=8, **settings)[0][0]


def test_a_tied_term_replaces_what_the_model_says_for_its_source() -> None:
    scorer = diagonal_model(-6.0)
    source = [1, 2, 3, 0]
    untied = search(scorer, source).tokens
    tied = search(scorer, source, ties=[{0: [1]}])
    assert untied == [A, B, C, TERM, C]  # added behind everything else
    assert tied.tokens == [A, TERM, C]


def test_penalties_are_no_part_of_the_score() -> None:
    scorer = diagonal_model(-6.0)
    cases: list[tuple[list[dict[int, list[int]]], list[int]]] = [
        ([{0: [1]}], []),
        ([{0: [3]}], []),
        ([{0: [0, 2]}], []),
        ([{0: [0]}], [A, B]),  # a forced token passes no source over
        ([{0: [3]}], [A, TERM]),
    ]
    for ties, prefix in cases:
        found = search(scorer, [1, 2, 3, 0], ties=ties, beam_size=3, prefix=[prefix])
        log_prob, before = 0.0, BEGIN
        for token in (*found.tokens, END):
            log_prob += float(scorer.log_probs[before, token])
            before = token
        assert found.log_prob == pytest.approx(log_prob)
        assert found.score == pytest.approx(log_prob / (len(found.tokens) + 1))


@pytest.mark.parametrize("seed", range(30))
def test_attention_that_points_nowhere_costs_no_promise(seed: int) -> None:
    random = np.random.default_rng(seed)

    def anywhere(source: Sequence[int], prefix: Sequence[int]) -> Any:
        generator = np.random.default_rng([seed, len(prefix), *map(int, prefix)])
        return generator.dirichlet(np.full(len(source), 0.3))

    scorer = HistoryScorer(6, bos=BEGIN, eos=END, seed=seed, alignment=anywhere)
    phrases: list[Any] = [(1, 2), Pattern(((Form((3,)), Form((4, 1))),)), (1, 2)]
    found = decode(
        scorer,
        [[1, 2, 3]],
        [phrases],
        ties=[{0: [0], 1: [1, 2], 2: [2]}],
        beam_size=int(random.integers(1, 6)),
        algorithm=str(random.choice(["dba", "lookahead", "beam", "gbs"])),
        max_length=12,
    )[0][0]
    output = found.tokens
    pairs = [tuple(output[i : i + 2]) for i in range(len(output))]
    assert pairs.count((1, 2)) >= 2
    assert 3 in output or (4, 1) in pairs


def test_a_batch_finds_what_each_finds_alone() -> None:
    scorer = HistoryScorer(6, bos=BEGIN, eos=END, seed=5, alignment=monotone)
    sources = [[1, 2, 3], [2, 1, 2, 3, 1], [3]]
    phrases: list[list[tuple[int, ...]]] = [[(TERM,)], [(TERM, A), (B,)], []]
    ties: list[dict[int, list[int]]] = [{0: [1]}, {0: [3], 1: [0]}, {}]
    together = decode(scorer, sources, phrases, ties=ties, max_length=9, align=True)
    for i in range(3):
        (alone,) = decode(
            scorer, [sources[i]], [phrases[i]], ties=[ties[i]], max_length=9, align=True
        )
        assert alone[0].tokens == together[i][0].tokens
        assert alone[0].log_prob == pytest.approx(together[i][0].log_prob)
        one, other = alone[0].attention, together[i][0].attention
        assert one is not None
        assert other is not None
        width = len(sources[i])
        np.testing.assert_allclose(one[:, :width], other[:, :width])


def paid_for_a_tie(scorer: HistoryScorer, source: list[int], tokens: Sequence[int]) -> float:
    """Return what an output pays for a term that is tied to its second source token."""
    paid = 0.0
    for place, token in enumerate(tokens):
        share = float(scorer.next_attention(source, tokens[:place])[1])
        if token == TERM:
            return paid + ELSEWHERE * (1.0 - share)
        paid += PASSING * share
    raise AssertionError("the term is not there")


@pytest.mark.parametrize("seed", range(12))
def test_the_best_output_is_found_and_small_penalties_do_not_count(seed: int) -> None:
    def anywhere(source: Sequence[int], prefix: Sequence[int]) -> Any:
        generator = np.random.default_rng([seed, len(prefix), *map(int, prefix)])
        return generator.dirichlet(np.full(len(source), 0.3))

    scorer, source = HistoryScorer(6, bos=BEGIN, eos=END, seed=seed, alignment=anywhere), [1, 2, 3]
    given: dict[str, Any] = {
        "beam_size": 4000,
        "prune": None,
        "lag": None,
        "stop": "bound",
        "algorithm": "beam",
    }
    found = decode(scorer, [source], [[(TERM,)]], ties=[{0: [1]}], max_length=4, **given)[0][0]

    def counted(tokens: tuple[int, ...], log_prob: float) -> float:
        left = max(paid_for_a_tie(scorer, source, tokens) - FORGIVEN, 0.0)
        return (log_prob - left) / (len(tokens) + 1)

    outputs = [each for each in every_output(scorer, 4, source) if TERM in each[0]]
    tokens, log_prob = max(outputs, key=lambda each: counted(*each))
    assert tuple(found.tokens) == tokens
    assert found.log_prob == pytest.approx(log_prob)


def test_what_stands_before_a_term_is_found_where_the_term_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The term fits only behind ARTICLE, which is less likely than the others before it is said.
    first, second, article, term, others, end, begin = 1, 2, 3, 4, [5, 6, 7], 0, 8
    rows = np.full((9, 9), 1e-5)
    rows[begin, first] = rows[first, second] = rows[term, end] = 1.0
    rows[second, others] = 0.4, 0.3, 0.2
    rows[second, article] = 0.01
    rows[others, end] = rows[article, term] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    looks = np.eye(5)[[3, 1, 2, 3, 4, 3, 3, 3, 0]]
    scorer = TableScorer(np.log(rows), bos=begin, eos=end, alignment=looks)

    def found() -> list[int]:
        given: dict[str, Any] = {"ties": [{0: [3]}], "beam_size": 4, "max_length": 8}
        return decode(scorer, [[1] * 5], [[(term,)]], **given)[0][0].tokens

    assert found() == [first, second, article, term]
    monkeypatch.setattr(beam_search, "WINDOWS", [NARROW._replace(wider=1)])
    assert found() != [first, second, article, term]


def test_a_thorough_search_looks_further_before_the_place_of_a_term() -> None:
    # The model says U1 U2 U3 OWN. The term fits only into another sentence, which begins with RARE,
    # three tokens before the term is due.
    end, rare, m, n, term, u1, u2, u3, own, begin = range(10)
    rows = np.full((10, 10), 1e-5)
    rows[begin, [u1, rare]] = 0.99, 0.01
    for here, following in ((u1, u2), (u2, u3), (u3, own), (rare, m), (m, n), (n, term)):
        rows[here, following] = 1.0
    rows[[own, term], end] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    looks = np.eye(5)[[4, 1, 2, 3, 4, 1, 2, 3, 4, 0]]
    scorer = TableScorer(np.log(rows), bos=begin, eos=end, alignment=looks)
    given: dict[str, Any] = {"ties": [{0: [3]}], "beam_size": 2, "max_length": 8}
    usually, further = (
        decode(scorer, [[1] * 5], [[(term,)]], thorough=thorough, **given)[0][0]
        for thorough in (False, True)
    )
    assert further.tokens == [rare, m, n, term]
    assert term in usually.tokens
    assert usually.log_prob < further.log_prob


def test_a_phrase_is_charged_for_its_last_word() -> None:
    # The article attends to the first source token, the noun behind it to the second, its own.
    end, article, noun, other, begin = range(5)
    rows = np.full((5, 5), 1e-4)
    rows[begin, [article, other]] = 0.4, 0.6
    rows[article, noun] = rows[noun, end] = rows[other, end] = 1.0
    rows[other, article] = 0.05
    rows /= rows.sum(axis=1, keepdims=True)
    looks = np.eye(3)[[2, 1, 2, 1, 0]]
    scorer = TableScorer(np.log(rows), bos=begin, eos=end, alignment=looks)
    given: dict[str, Any] = {"ties": [{0: [1]}], "beam_size": 2, "max_length": 4}
    for two_words, expected in ((True, [article, noun]), (False, [other, article, noun])):
        boundary = np.array([True, True, two_words, True, True])
        found = decode(scorer, [[1] * 3], [[(article, noun)]], boundary=boundary, **given)[0][0]
        assert found.tokens == expected


def test_the_mark_of_a_words_beginning_is_no_beginning_of_a_term() -> None:
    # Words are MARK and a letter. The model says MARK WORD for the first source token and MARK OWN
    # for the second; the term is MARK TERM.
    mark, word, own, term, other, end, begin = 1, 2, 3, 4, 5, 0, 6
    rows = np.full((7, 7), 1e-6)
    rows[begin, [mark, other]] = 0.9, 0.1
    rows[mark, [word, own, term]] = 0.45, 0.45, 0.1
    rows[[word, other], mark] = rows[[own, term], end] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    looks = np.array([[0.5, 0.5]] * 7)
    looks[begin] = 1.0, 0.0
    looks[[word, other]] = 0.0, 1.0
    scorer = TableScorer(np.log(rows), bos=begin, eos=end, alignment=looks)
    boundary = np.isin(np.arange(7), [end, mark, other])
    given: dict[str, Any] = {"ties": [{0: [1]}], "max_length": 4, "boundary": boundary}
    marking = np.arange(7) == mark
    found = decode(scorer, [[1, 2]], [[(mark, term)]], marking=marking, **given)[0][0]
    assert found.tokens == [mark, word, mark, term]
    # Taken for the beginning of the term, it would cost too much elsewhere.
    assert decode(scorer, [[1, 2]], [[(mark, term)]], **given)[0][0].tokens[0] == other


@pytest.mark.parametrize(("tokens", "depth"), [((A,), 1), ((A, B), 2), ((C, A), 2), ((C, B), 1)])
def test_a_mark_is_charged_if_nothing_follows_it(tokens: tuple[int, ...], depth: int) -> None:
    words: Any = SimpleNamespace(
        starting=[False, True, False, True], is_mark=lambda token: token == A
    )
    goal: Any = SimpleNamespace(tokens=tokens, led=0)
    assert _charged_depth(goal, words) == depth


def test_nothing_is_dropped_until_all_tokens_of_a_term_may_have_been_said() -> None:
    automaton = Automaton([[(A,), (A, B, C)]], [[]], 6)
    attention = np.zeros((9, 1, 2), np.float32)
    attention[4, 0, 1] = 1.0  # the draft reaches the source of either at its fifth token
    for phrase, more in ((0, 0), (1, 2)):
        ties = Ties([{phrase: [1]}], [2], automaton)
        draft: Any = SimpleNamespace(attention=attention)
        ties.use_draft(draft)
        spared = [step for step in range(12) if _any(ties.are_spared(step))]
        due = [step for step in range(12) if _any(ties.are_due(step))]
        assert spared == list(range(4 - NARROW.before, 4 + NARROW.after + more + 1))
        assert due == list(range(4 - NARROW.before, 4 + NARROW.after + more + 2))


def _any(marks: Any) -> bool:
    return marks is not None and bool(marks.any())


def test_marks_need_to_know_where_words_end() -> None:
    scorer = HistoryScorer(6, bos=BEGIN, eos=END)
    with pytest.raises(InputError, match="marking is given without boundary"):
        decode(scorer, [[1]], [[(TERM,)]], marking=[True] * 6)


def test_what_has_met_its_ties_is_compared_without_what_it_paid() -> None:
    # Both ways to say the term are as likely but for the article, which looks at the source of the
    # term and pays for it. A beam of one must not lose it when the term is said.
    article, term, tail, end, begin = 1, 2, 3, 0, 4
    rows = np.full((5, 5), 1e-6)
    rows[begin, [article, tail]] = 0.7, 0.3
    rows[[article, tail], term] = rows[term, end] = 1.0
    rows /= rows.sum(axis=1, keepdims=True)
    looks = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.4, 0.6]])
    scorer = TableScorer(np.log(rows), bos=begin, eos=end, alignment=looks)
    paid: list[float] = []

    def observe(step: ObservedStep) -> None:
        if step.step == 1:
            worth = step.chosen.worth
            assert worth is not None
            paid.append(float(worth.max()))

    given: dict[str, Any] = {"ties": [{0: [1]}], "max_length": 6, "algorithm": "lookahead"}
    found = decode(scorer, [[1, 2]], [[(term,)]], observer=observe, **given)[0][0]
    assert found.tokens == [article, term]
    assert paid == [pytest.approx(np.log(0.7), abs=1e-4)]


@pytest.mark.parametrize("algorithm", ["dba", "lookahead", "gbs", "beam"])
def test_ties_give_the_same_with_and_without_the_kernel(algorithm: str) -> None:
    for seed in range(6):
        scorer = HistoryScorer(7, bos=6, eos=END, seed=seed, spread=3.0, alignment=monotone)
        sources = [[1, 2, 3, 1], [2, 1, 2, 3, 1], [3, 2], [1, 1, 2]]
        phrases: list[list[tuple[int, ...]]] = [[(TERM,)], [(TERM, A), (B,)], [(C,)], [(B, C)]]
        ties: list[dict[int, list[int]]] = [{0: [3]}, {0: [4], 1: [0]}, {}, {0: [1]}]
        found = []
        for on in (True, False):
            with kernel.switched(on):
                given: dict[str, Any] = {
                    "ties": ties,
                    "max_length": 11,
                    "beam_size": 3,
                    "algorithm": algorithm,
                }
                found.append(decode(scorer, sources, phrases, **given))
        assert found[0] == found[1]


@pytest.mark.parametrize(
    ("seed", "terms", "sources", "limits"),
    [(162, (1, 2), (0, 1), (3, 4)), (545, (1, 1), (0, 3), (3, 5)), (823, (1, 2), (1, 2), (3, 5))],
)
def test_a_term_that_is_due_in_one_sentence_does_not_change_another(
    seed: int, terms: tuple[int, int], sources: tuple[int, int], limits: tuple[int, int]
) -> None:
    """The model's best is a term whose place is elsewhere; what is next must be seen, too."""
    random = np.random.default_rng(seed)
    table = np.log(random.dirichlet(np.full(5, 0.7), 5))
    alignment = random.dirichlet(np.full(4, 0.3), 5)
    scorer = TableScorer(table, bos=0, eos=3, alignment=alignment)

    def search(*numbers: int) -> list[list[int]]:
        found = decode(
            scorer,
            [[1, 2, 3, 4] for _ in numbers],
            [[(terms[i],)] for i in numbers],
            max_length=[limits[i] for i in numbers],
            ties=[{0: [sources[i]]} for i in numbers],
            beam_size=1,
            algorithm="beam",
        )
        return [each[0].tokens for each in found]

    assert search(0, 1) == search(0) + search(1)


def test_a_sentence_without_ties_has_the_candidates_that_it_has_alone() -> None:
    random = np.random.default_rng(5829)
    table = np.log(random.dirichlet(np.full(6, 0.7), 6))
    scorer = TableScorer(table, bos=0, eos=4, alignment=random.dirichlet(np.full(4, 0.3), 6))
    wanted: list[list[Any]] = [[Pattern(((Form((2,)),),), penalty=50.0)], [(2,)]]
    source = [1, 2, 3, 4]
    given: dict[str, Any] = {"beam_size": 1, "max_length": 1, "nbest": 4}
    for algorithm in ("gbs", "dba", "beam"):
        batch = decode(
            scorer, [source] * 2, wanted, ties=[{}, {0: [2]}], algorithm=algorithm, **given
        )
        alone = decode(scorer, [source], wanted[:1], algorithm=algorithm, **given)
        assert [one.tokens for one in batch[0]] == [one.tokens for one in alone[0]]


def test_a_sentence_without_ties_ends_its_words_as_it_does_alone() -> None:
    # Behind the phrase a word would go on; the token that ends it is the model's second choice.
    table = np.full((6, 6), 0.01)
    table[2, 5], table[2, 1], table[2, 4], table[1, 4] = 0.6, 0.3, 0.05, 1.0
    scorer = TableScorer(np.log(table), bos=0, eos=4, alignment=np.full((6, 4), 0.25))
    source, phrase = [1, 2, 3, 4], [(2,)]
    given: dict[str, Any] = {"beam_size": 1, "boundary": [1, 1, 1, 1, 1, 0]}
    for limit in (2, 3, 20):
        (alone,) = decode(scorer, [source], [phrase], max_length=limit, **given)
        ties: list[dict[int, list[int]]] = [{}, {0: [2]}]
        batch = decode(scorer, [source] * 2, [phrase] * 2, ties=ties, max_length=limit, **given)
        assert [one.tokens for one in batch[0]] == [one.tokens for one in alone]


def test_outputs_say_where_they_looked_only_if_asked() -> None:
    scorer = HistoryScorer(6, bos=BEGIN, eos=END, seed=5, alignment=monotone)
    (found,) = decode(scorer, [[1, 2, 3]], max_length=9, align=True)[0]
    assert found.attention is not None
    assert [int(row.argmax()) for row in found.attention] == [
        min(i, 2) for i in range(len(found.tokens) + 1)
    ]
    assert decode(scorer, [[1, 2, 3]], max_length=9)[0][0].attention is None


def test_a_model_that_cannot_attend_is_searched_without() -> None:
    scorer = HistoryScorer(6, bos=BEGIN, eos=END, seed=5)
    tied = decode(scorer, [[1, 2]], [[(TERM,)]], ties=[{0: [1]}], align=True, max_length=9)[0][0]
    assert tied.tokens == decode(scorer, [[1, 2]], [[(TERM,)]], max_length=9)[0][0].tokens
    assert tied.attention is None


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        ([{0: [7]}], "source token 7, but there are 3"),
        ([{3: [0]}], "no phrase 3"),
    ],
)
def test_wrong_ties_are_refused(ties: Any, message: str) -> None:
    scorer = HistoryScorer(6, bos=BEGIN, eos=END, alignment=monotone)
    with pytest.raises(ConstraintError, match=message):
        decode(scorer, [[1, 2, 3]], [[(TERM,)]], ties=ties, max_length=9)
    with pytest.raises(InputError, match="2 entries for 1 sentences"):
        decode(scorer, [[1, 2, 3]], [[(TERM,)]], ties=[{}, {0: [1]}], max_length=9)


def test_penalties_of_many_tokens_are_those_of_few() -> None:
    """From 64 asked tokens on they are looked up in a table; of equal tokens the first counts."""
    random = np.random.default_rng(2)
    for _ in range(20):
        tokens = np.array([random.permutation(300)[:100] for _ in range(3)])
        tokens[:, -20:][random.random((3, 20)) < 0.5] = PAD
        tokens[:, 5] = tokens[:, 4]
        step = TiedStep(tokens, random.random((3, 100)), random.random(3))
        row, token = random.integers(0, 3, 60), random.integers(0, 300, 60)
        row[0], token[0] = 1, tokens[1, 4]
        for found, r, t in zip(step.penalty(row, token), row, token, strict=True):
            columns = np.flatnonzero(tokens[r] == t)
            assert found == (step.asked[r, columns[0]] if len(columns) else step.passing[r])

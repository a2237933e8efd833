from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.brute_force import best_output, keeps_to, plain_beam_search
from lexbeam.errors import ConstraintError, InputError, LexbeamError, ScorerError, SettingError
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.beam_search import Hypothesis, decode
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.scorer import Scores
from lexbeam.testing import HistoryScorer, TableScorer

ALGORITHMS = sorted(POLICIES)
WIDE = {"dba": 2000, "lookahead": 2000, "beam": 2000, "gbs": 400, "cbs": 400}


def random_table(seed: int, size: int = 5, eos: int = 1) -> TableScorer:
    random = np.random.default_rng(seed)
    return TableScorer(np.log(random.dirichlet(np.full(size, 0.7), size)), bos=0, eos=eos)


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a small model, a request and a limit."""
    size = draw(st.integers(3, 5))
    eos = draw(st.integers(0, size - 1))
    seed = draw(st.integers(0, 10_000))
    boundary = draw(st.none() | st.lists(st.booleans(), min_size=size, max_size=size))
    if boundary is not None:
        boundary[eos] = True
    table = random_table(seed, size, eos).log_probs
    scorer = draw(
        st.sampled_from(
            [
                TableScorer(table, bos=0, eos=eos, word_starts=boundary),
                HistoryScorer(size, eos=eos, seed=seed, word_starts=boundary),
            ],
        )
    )
    tokens = st.sampled_from([token for token in range(size) if token != eos])
    return {
        "scorer": scorer,
        "phrases": draw(st.lists(st.lists(tokens, min_size=1, max_size=3), max_size=3)),
        "avoid": draw(st.lists(st.lists(tokens, min_size=1, max_size=3), max_size=2)),
        "prefix": draw(st.lists(tokens, max_size=2)),
        "max_length": draw(st.integers(1, 5 if size < 5 else 4)),
        "length_penalty": draw(st.sampled_from([0.0, 0.6, 1.0])),
        "boundary": boundary,
    }


def run(case: dict[str, Any], **changes: Any) -> Hypothesis:
    given_to_decode = {
        "phrases": [case["phrases"]],
        "avoid": [case["avoid"]],
        "prefix": [case["prefix"]],
        "max_length": case["max_length"],
        "length_penalty": case["length_penalty"],
        "boundary": case["boundary"],
    } | changes
    return decode(case["scorer"], ["source"], **given_to_decode)[0][0]


def truth(case: dict[str, Any]) -> tuple[float, tuple[int, ...]] | None:
    names = ("phrases", "avoid", "prefix", "length_penalty", "boundary")
    return best_output(
        case["scorer"],
        case["max_length"],
        source="source",
        **{name: case[name] for name in names},
    )


# --- against brute force -------------------------------------------------------------------


@settings(max_examples=60)
@given(cases(), st.sampled_from(ALGORITHMS), st.sampled_from(["all", "bound"]))
def test_a_wide_beam_finds_the_best_output(case: dict[str, Any], algorithm: str, stop: str) -> None:
    best = truth(case)
    wide = {"beam_size": WIDE[algorithm], "algorithm": algorithm, "stop": stop, "prune": 0}
    if best is None:
        with pytest.raises(ConstraintError):
            run(case, **wide)
        return
    hypothesis = run(case, **wide)
    assert hypothesis.score == pytest.approx(best[0], abs=1e-9)


@settings(max_examples=150)
@given(cases(), st.sampled_from(ALGORITHMS), st.integers(1, 6), st.sampled_from(["all", "first"]))
def test_a_narrow_beam_keeps_to_the_request_as_well(
    case: dict[str, Any], algorithm: str, beam_size: int, stop: str
) -> None:
    if truth(case) is None:
        with pytest.raises(ConstraintError):
            run(case, algorithm=algorithm, beam_size=beam_size, stop=stop)
        return
    hypothesis = run(case, algorithm=algorithm, beam_size=beam_size, stop=stop)
    assert keeps_to(hypothesis.tokens, case["phrases"], case["avoid"], case["boundary"])
    assert hypothesis.tokens[: len(case["prefix"])] == case["prefix"]
    assert len(hypothesis.tokens) <= case["max_length"]
    assert hypothesis.met == [True] * len(case["phrases"])
    assert hypothesis.finished
    assert case["scorer"].eos not in hypothesis.tokens


@settings(max_examples=60)
@given(cases(), st.integers(1, 6))
def test_scores_are_those_of_the_model(case: dict[str, Any], nbest: int) -> None:
    assume(truth(case) is not None)
    scorer = case["scorer"]
    found = decode(
        scorer,
        ["source"],
        [case["phrases"]],
        [case["avoid"]],
        prefix=[case["prefix"]],
        max_length=case["max_length"],
        length_penalty=case["length_penalty"],
        boundary=case["boundary"],
        nbest=nbest,
    )[0]
    assert 1 <= len(found) <= nbest
    assert len({tuple(hypothesis.tokens) for hypothesis in found}) == len(found)
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
    for hypothesis in found:
        tokens = hypothesis.tokens
        log_prob = sum(
            scorer.next_log_probs("source", tokens[:i])[token]
            for i, token in enumerate([*tokens, scorer.eos])
        )
        assert hypothesis.log_prob == pytest.approx(log_prob, abs=1e-9)
        normalised = log_prob / (len(tokens) + 1) ** case["length_penalty"]
        assert hypothesis.score == pytest.approx(normalised, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_a_wide_beam_finds_the_nbest(seed: int) -> None:
    scorer = HistoryScorer(4, seed=seed)
    found = decode(
        scorer, ["s"], [[[2, 3]]], beam_size=1000, prune=0, max_length=4, nbest=5, stop="bound"
    )
    outputs: set[tuple[int, ...]] = set()
    for hypothesis in found[0]:
        # Forbid what has been found, whole: the next best is the best of the rest.
        rest = [
            (score, tokens)
            for score, tokens in _all_outputs(scorer, 4, [[2, 3]])
            if tokens not in outputs
        ]
        assert hypothesis.score == pytest.approx(max(rest)[0], abs=1e-9)
        outputs.add(tuple(hypothesis.tokens))


def _all_outputs(
    scorer: HistoryScorer, max_length: int, phrases: list[list[int]]
) -> list[tuple[float, tuple[int, ...]]]:
    from lexbeam.testing import every_output  # noqa: PLC0415

    return [
        (log_prob / (len(tokens) + 1), tokens)
        for tokens, log_prob in every_output(scorer, max_length, "s")
        if keeps_to(tokens, phrases)
    ]


# --- against plain beam search, and against itself -----------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("beam_size", [1, 2, 3, 5, 8])
def test_without_constraints_every_algorithm_is_plain_beam_search(
    algorithm: str, beam_size: int
) -> None:
    for seed in range(25):
        scorer = HistoryScorer(8, seed=seed, spread=1.5)
        expected = plain_beam_search(scorer, seed, beam_size=beam_size, max_length=9)
        found = decode(
            scorer, [seed], [[]], algorithm=algorithm, beam_size=beam_size, max_length=9
        )[0][0]
        assert found.tokens == expected[0]
        assert found.score == pytest.approx(expected[1])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.lists(st.sampled_from([0, 2, 3]), min_size=1, max_size=2), max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.integers(1, 7),
    st.booleans(),
)
def test_a_batch_is_its_sentences_one_by_one(
    algorithm: str, phrases: list[list[list[int]]], beam_size: int, uniform: bool
) -> None:
    table = np.full((4, 4), np.log(0.25)) if uniform else random_table(3, 4).log_probs
    scorer = TableScorer(table, bos=0, eos=1)
    limits = [9 + i for i in range(len(phrases))]
    avoid = [[[2, 3]] if [2, 3] not in these else [] for these in phrases]
    avoid = [[a for a in these if not _contained(a, phrases[i])] for i, these in enumerate(avoid)]
    together = decode(
        scorer,
        range(len(phrases)),
        phrases,
        avoid,
        algorithm=algorithm,
        beam_size=beam_size,
        max_length=limits,
        nbest=3,
    )
    for i, one in enumerate(phrases):
        alone = decode(
            scorer,
            [i],
            [one],
            [avoid[i]],
            algorithm=algorithm,
            beam_size=beam_size,
            max_length=limits[i],
            nbest=3,
        )
        assert together[i] == alone[0]


def test_a_sentence_near_its_limit_does_not_change_the_others() -> None:
    scorer = TableScorer(np.full((4, 4), np.log(0.25)), bos=0, eos=1)
    phrases = [[], [[0, 0]] * 2, [], [[0, 0]] * 3]
    avoid, limits = [[[2, 3]]] * 4, [6, 7, 8, 9]
    for algorithm in ALGORITHMS:
        options: dict[str, Any] = {"algorithm": algorithm, "beam_size": 2, "nbest": 3}
        together = decode(scorer, range(4), phrases, avoid, max_length=limits, **options)
        for i in range(4):
            alone = decode(scorer, [i], [phrases[i]], [avoid[i]], max_length=limits[i], **options)
            assert alone[0] == together[i]


def _contained(avoided: list[int], phrases: list[list[int]]) -> bool:
    return any(not keeps_to(phrase, [], [avoided]) for phrase in phrases)


def test_sentences_that_end_at_different_times_do_not_disturb_each_other() -> None:
    scorer = HistoryScorer(12, seed=5, spread=3.0)
    sources = [f"sentence {i}" for i in range(30)]
    phrases = [[[2 + i % 9, 3]] * (i % 3) + [[4]] * (i % 2) for i in range(30)]
    together = decode(scorer, sources, phrases, beam_size=4, max_length=15)
    alone = [
        decode(scorer, [s], [p], beam_size=4, max_length=15)[0]
        for s, p in zip(sources, phrases, strict=True)
    ]
    assert together == alone
    assert len({len(result[0].tokens) for result in together}) > 3


# --- settings ------------------------------------------------------------------------------


def test_the_worked_example_of_the_interface() -> None:
    scorer = random_table(0, 9)
    results = decode(
        scorer,
        ["first", "second"],
        phrases=[[[4, 5], [7]], []],
        avoid=None,
        beam_size=10,
        algorithm="dba",
        prune=20.0,
        stop="all",
        max_length=60,
        nbest=1,
        length_penalty=1.0,
    )
    assert [len(result) for result in results] == [1, 1]
    assert keeps_to(results[0][0].tokens, [[4, 5], [7]])
    assert results[0][0].met == [True, True]
    assert results[1][0].met == []


def test_stopping_at_the_first_finished_is_earlier_and_not_better() -> None:
    steps: dict[str, int] = {}
    scores: dict[str, float] = {}
    for stop in ("all", "first", "likely", "bound"):
        scorer = CountingScorer(HistoryScorer(10, seed=7, spread=1.0))
        found = decode(scorer, ["s"], beam_size=5, stop=stop, prune=0, max_length=20)
        steps[stop], scores[stop] = scorer.steps, found[0][0].score
    assert steps["first"] < steps["likely"] < steps["bound"] <= steps["all"]
    assert scores["first"] <= scores["likely"] <= scores["bound"] == scores["all"]


def test_pruning_saves_rows_and_a_tight_one_more() -> None:
    rows = {}
    for prune in (0, None, 20.0, 1.0):
        scorer = CountingScorer(HistoryScorer(10, seed=4, spread=3.0))
        decode(scorer, ["s"], beam_size=8, prune=prune, max_length=30)
        rows[prune] = scorer.rows
    assert rows[0] == rows[None]
    assert rows[1.0] < rows[20.0] <= rows[0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_lag_saves_rows_and_meets_all_constraints(algorithm: str) -> None:
    phrases = [[[4, 5], [7], [2]]] * 4
    rows = {}
    for lag in (0, None, 6.0, 0.5):
        scorer = CountingScorer(HistoryScorer(10, seed=4, spread=3.0))
        found = decode(
            scorer, list("abcd"), phrases, beam_size=8, lag=lag, max_length=12, algorithm=algorithm
        )
        assert all(keeps_to(result[0].tokens, phrases[0]) for result in found)
        rows[lag] = scorer.rows / scorer.steps
    assert rows[0] == rows[None]
    assert rows[0.5] < rows[6.0] <= rows[0]


def test_the_best_of_each_bank_is_never_dropped_for_its_lag() -> None:
    """With the least lag the phrase is still reached through its own bank."""
    for seed in range(20):
        scorer = HistoryScorer(10, seed=seed, spread=3.0)
        found = decode(scorer, ["s"], [[[4, 5, 6]]], beam_size=8, lag=1e-9, max_length=12)
        assert keeps_to(found[0][0].tokens, [[4, 5, 6]])


class CountingScorer:
    """Passes everything on, and counts the rows and tokens that it is asked for."""

    def __init__(self, scorer: HistoryScorer | TableScorer) -> None:
        self.inner = scorer
        self.vocabulary_size, self.bos, self.eos = scorer.vocabulary_size, scorer.bos, scorer.eos
        self.steps = self.rows = 0
        self.asked: list[set[int]] = []
        self.wanted: list[list[int]] = []

    def start(self, sources: Any, wanted: Any) -> Any:
        self.wanted = [list(tokens) for tokens in wanted]
        return self.inner.start(sources, wanted)

    def step(
        self,
        state: Any,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
    ) -> Scores:
        self.steps += 1
        self.rows += len(tokens)
        self.asked.append(set(ask.ravel().tolist()))
        return self.inner.step(state, tokens, parents, ask, ban, top)


def test_only_announced_tokens_are_asked_for() -> None:
    scorer = CountingScorer(HistoryScorer(10, seed=1))
    decode(scorer, ["s"], [[[4, 5], [7]]], prefix=[[3]], max_length=12)
    assert scorer.wanted == [[3, 4, 5, 7]]
    assert set().union(*scorer.asked) <= {3, 4, 5, 7, scorer.eos, -1}


def test_rows_of_a_sentence_stand_together() -> None:
    class Watching(CountingScorer):
        sentence_of_row: list[int]

        def start(self, sources: Any, wanted: Any) -> Any:
            self.sentence_of_row = list(range(len(sources)))
            return super().start(sources, wanted)

        def step(
            self,
            state: Any,
            tokens: IntArray,
            parents: IntArray,
            ask: IntArray,
            ban: IntArray,
            top: int,
        ) -> Scores:
            self.sentence_of_row = [self.sentence_of_row[parent] for parent in parents]
            assert self.sentence_of_row == sorted(self.sentence_of_row)
            return super().step(state, tokens, parents, ask, ban, top)

    scorer = Watching(HistoryScorer(9, seed=3))
    decode(scorer, list("abcd"), [[[2]], [], [[3, 4]], [[5], [6]]], beam_size=3, max_length=10)
    assert scorer.steps > 3


def test_a_demanded_token_that_the_model_rules_out_is_placed_all_the_same() -> None:
    table = np.log(np.full((5, 5), 0.25))
    table[:, 4] = -np.inf
    found = decode(TableScorer(table, bos=0, eos=1), ["s"], [[[4]]], max_length=5)[0][0]
    assert 4 in found.tokens
    assert found.log_prob < -1e8


def test_whole_words_are_met_as_whole_words() -> None:
    house, door, the, end = 0, 1, 2, 3
    table = np.log(
        np.array(
            [
                [0.01, 0.97, 0.01, 0.01],  # after house the model wants door
                [0.1, 0.1, 0.2, 0.6],
                [0.6, 0.1, 0.2, 0.1],
                [0.25, 0.25, 0.25, 0.25],
            ]
        )
    )
    scorer = TableScorer(table, bos=the, eos=end)
    boundary = [True, False, True, True]
    plain = decode(scorer, ["s"], [[[house]]], max_length=6)[0][0].tokens
    assert plain == [house, door]
    whole = decode(scorer, ["s"], [[[house]]], max_length=6, boundary=boundary)[0][0].tokens
    assert any(token == house and whole[i + 1 : i + 2] != [door] for i, token in enumerate(whole))


# --- what goes wrong -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"phrases": [[[2], []]]}, ConstraintError, "sentence 0: phrase 1 is empty"),
        ({"phrases": [[[2, 9]]]}, ConstraintError, "phrase 0 [2, 9] has token 9, outside"),
        ({"phrases": [[[-1]]]}, ConstraintError, "outside the vocabulary"),
        ({"phrases": [[[2, 1]]]}, ConstraintError, "end-of-sentence token 1"),
        ({"phrases": [[[2.5]]]}, ConstraintError, "not a list of token ids"),
        ({"phrases": [[2, 3]]}, ConstraintError, "not a list of token ids: 2"),
        ({"phrases": ["word"]}, ConstraintError, "'word'"),
        ({"phrases": [[[2]], []]}, InputError, "phrases has 2 entries for 1 sentences"),
        ({"phrases": [[[2]]], "avoid": [[[2]]]}, ConstraintError, "is also avoided"),
        ({"phrases": [[[2, 3]]], "avoid": [[[3]]]}, ConstraintError, "contains what is avoided"),
        ({"prefix": [[2, 3]], "avoid": [[[3]]]}, ConstraintError, "prefix [2, 3] contains"),
        ({"phrases": [[[2] * 6]]}, ConstraintError, "has 6 tokens, more than max_length 5"),
        ({"phrases": [[[2, 2, 2], [3, 3, 3]]]}, ConstraintError, "need 6 tokens"),
        ({"prefix": [[2] * 6]}, ConstraintError, "prefix [2, 2, 2, 2, 2, 2] has 6 tokens"),
        ({"phrases": [[[2, 3, 2]]], "prefix": [[3, 3, 3]]}, ConstraintError, "after a prefix of 3"),
        ({"prefix": [[1]]}, ConstraintError, "prefix [1] has the end-of-sentence"),
        ({"beam_size": 0}, SettingError, "beam_size must be at least 1, not 0"),
        ({"beam_size": 2.5}, SettingError, "beam_size must be an integer"),
        ({"nbest": 0}, SettingError, "nbest must be at least 1"),
        ({"algorithm": "magic"}, SettingError, "unknown algorithm 'magic'; choose one of: dba"),
        ({"stop": "never"}, SettingError, "unknown stop 'never'"),
        ({"lag": -1}, SettingError, "lag must be at least 0 (0 turns it off), not -1"),
        ({"prune": -1}, SettingError, "prune must be at least 0"),
        ({"prune": float("nan")}, SettingError, "prune must be finite"),
        ({"length_penalty": "long"}, SettingError, "length_penalty must be a number"),
        ({"max_length": -1}, SettingError, "max_length must be at least 0"),
        ({"max_length": [3, 4]}, SettingError, "max_length has 2 entries for 1 sentences"),
        ({"max_length": 3.5}, SettingError, "max_length must be an integer"),
        ({"boundary": [True]}, InputError, "boundary has shape (1,)"),
        ({"closing": [True] * 4}, InputError, "closing is given without boundary"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], error: type, says: str) -> None:
    with pytest.raises(error) as caught:
        decode(random_table(0, 4), ["s"], **({"max_length": 5} | arguments))
    assert says in str(caught.value)
    assert isinstance(caught.value, LexbeamError)


def test_the_sentence_is_named() -> None:
    with pytest.raises(ConstraintError, match=r"^sentence 2: phrase 1 \[9\]"):
        decode(random_table(0, 4), "abc", [[], [[2]], [[2], [9]]])


def test_overlapping_phrases_fit_where_they_can_share_tokens() -> None:
    scorer = random_table(1, 5)
    found = decode(scorer, ["s"], [[[2, 3], [3, 4]]], max_length=3)[0][0]
    assert found.tokens == [2, 3, 4]
    with pytest.raises(ConstraintError, match="need 3 tokens, max_length is 2"):
        decode(scorer, ["s"], [[[2, 3], [3, 4]]], max_length=2)


def test_phrases_that_cannot_stand_together_are_refused() -> None:
    scorer = random_table(1, 3)  # tokens 0 and 2 besides the end
    with pytest.raises(ConstraintError, match="can't all be placed without"):
        decode(scorer, ["s"], [[[0], [2]]], [[[0, 2], [2, 0]]], max_length=9)


def test_cbs_refuses_too_many_sets() -> None:
    scorer = random_table(0, 40)
    with pytest.raises(SettingError, match="sentence 1: cbs would need 1048576 banks"):
        decode(scorer, ["s", "t"], [[], [[i] for i in range(2, 22)]], algorithm="cbs")


@pytest.mark.parametrize("where", ["top_scores", "ask_scores"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nonsense_from_a_scorer_is_an_error(where: str, value: float) -> None:
    class Broken(CountingScorer):
        def step(self, *arguments: Any) -> Scores:
            scores = super().step(*arguments)
            if self.steps == 3:
                getattr(scores, where)[0, -1] = value
            return scores

    with pytest.raises(ScorerError, match="NaN or plus infinity"):
        decode(Broken(HistoryScorer(6)), ["s"], [[[4]]], max_length=9)


def probabilities(scores: Scores) -> Scores:
    return scores._replace(top_scores=np.exp(scores.top_scores))


def with_the_end(scores: Scores) -> Scores:
    scores.top_ids[:, -1] = 1
    return scores


def backwards(scores: Scores) -> Scores:
    return scores._replace(top_scores=scores.top_scores[:, ::-1], top_ids=scores.top_ids[:, ::-1])


def with_what_is_banned(scores: Scores) -> Scores:
    scores.top_ids[:, 0] = 5
    return scores


def with_an_unknown_token(scores: Scores) -> Scores:
    scores.top_ids[:, 0] = 6
    return scores


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (probabilities, "top_scores has .* but a log-probability is at most 0"),
        (with_the_end, r"top_ids has the end of sentence \(1\) among the best"),
        (backwards, "top_scores are not sorted, the best first"),
        (with_what_is_banned, "top_ids has a banned token among the best"),
        (with_an_unknown_token, "top_ids has a token outside its vocabulary of 6"),
    ],
)
def test_what_the_protocol_forbids_is_named(mistake: Callable[[Scores], Scores], says: str) -> None:
    class Broken(CountingScorer):
        def step(self, *arguments: Any) -> Scores:
            return mistake(super().step(*arguments))

    with pytest.raises(ScorerError, match=says):
        decode(Broken(HistoryScorer(6)), ["s"], [[[4]]], [[[5]]], max_length=9, beam_size=3)


def test_a_plain_tuple_is_answer_enough() -> None:
    class Plain(CountingScorer):
        def step(self, *arguments: Any) -> Scores:
            answer = tuple(super().step(*arguments))
            assert type(answer) is tuple
            return cast(Scores, answer)

    plain = decode(Plain(HistoryScorer(6)), ["s"], [[[4]]], max_length=9)
    assert plain == decode(HistoryScorer(6), ["s"], [[[4]]], max_length=9)


def test_wrong_shapes_from_a_scorer_are_an_error() -> None:
    class Broken(CountingScorer):
        def step(self, *arguments: Any) -> Scores:
            scores = super().step(*arguments)
            return scores._replace(top_ids=scores.top_ids[:, :1])

    with pytest.raises(ScorerError, match="top_ids has shape"):
        decode(Broken(HistoryScorer(6)), ["s"], beam_size=3)


# --- odd sizes -----------------------------------------------------------------------------


def test_no_sentences() -> None:
    assert decode(random_table(0), []) == []


def test_an_empty_output() -> None:
    found = decode(random_table(0), ["s"], max_length=0)[0][0]
    assert found.tokens == []


def test_a_beam_smaller_than_the_constraints() -> None:
    phrases = [[2, 3], [4], [3, 3], [2], [4, 4, 2]]
    for beam_size in (1, 2, 3):
        found = decode(random_table(7), ["s"], [phrases], beam_size=beam_size, max_length=10)
        assert keeps_to(found[0][0].tokens, phrases)


def test_a_beam_larger_than_the_vocabulary() -> None:
    found = decode(random_table(7, 3), ["s"], [[[2]]], beam_size=50, max_length=6, nbest=50)
    assert len({tuple(h.tokens) for h in found[0]}) == len(found[0]) > 10


def test_many_constraints_within_a_short_limit() -> None:
    scorer = HistoryScorer(60, seed=9)
    phrases = [[2 + i, 30 + i % 20] for i in range(28)] + [[59]] * 4
    found = decode(scorer, ["s"], [phrases], beam_size=5, max_length=62)[0][0]
    assert keeps_to(found.tokens, phrases)


def test_numpy_tokens_are_taken() -> None:
    phrases: Any = [[np.array([2, 3])]]
    found = decode(random_table(2), ["s"], phrases, max_length=6)[0][0]
    assert keeps_to(found.tokens, [[2, 3]])
    assert all(type(token) is int for token in found.tokens)


@pytest.mark.parametrize("phrases", [[], [[2, 3]]])
def test_an_observer_sees_every_step_and_changes_nothing(phrases: list[list[int]]) -> None:
    scorer = random_table(3)
    steps: list[ObservedStep] = []
    watched = decode(scorer, [None] * 2, [phrases, []], max_length=6, observer=steps.append)
    assert watched == decode(scorer, [None] * 2, [phrases, []], max_length=6)
    assert [step.step for step in steps] == list(range(len(steps)))
    assert steps[0].sentences.tolist() == [0, 1]
    for step in steps:
        assert len(step.beam.token) == len(step.sentences)
        indices = step.chosen.indices
        if indices is not None:
            again = step.chosen.among.take(indices)
            assert again.token.tolist() == step.beam.token.tolist()


def test_the_states_that_are_worked_out_for_a_search_are_known() -> None:
    scorer = HistoryScorer(8, eos=0)
    free, one, two = (
        decode(scorer, ["a"], [phrases], max_length=30)[0][0].prepared
        for phrases in ([], [(2, 3)], [(2, 3), (4, 5)])
    )
    assert (free, one, two) == (0, 3, 5)
    near = Pattern(((Form((2,)),), (Form((3,)),)), within=2)
    once = Pattern(((Form((3,)),),), may_overlap=True, exact=True)
    limits = [near, once, Pattern(((Form((3,)),), (Form((4,)),)), within=1)]
    room, tight = (decode(scorer, ["a"], [limits], max_length=m)[0][0].prepared for m in (90, 12))
    assert 4 <= room <= tight

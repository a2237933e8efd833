from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.networks import TINY, VOCABULARY, Reference, random_weights
from lexbeam.errors import InputError, ModelError
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.positions import sinusoids
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import PAD
from lexbeam.search.beam_search import decode
from lexbeam.search.scorer import Scores

EOS = 0
SOURCES = [[5, 9, 3, EOS], [8, EOS], [11, 30, 2, 7, 7, 21, EOS], [4, 13, EOS]]
STARTS = np.arange(VOCABULARY) % 2 == 0
KINDS = ["ssru", "self-attention"]
NONE = np.zeros((1, 0), np.int64)


def make(kind: str = "ssru", shortlist: Shortlist | None = None) -> OnnxEngine:
    config = replace(TINY, decoder=kind)
    sample = () if shortlist is None else shortlist.sample.tolist()
    graphs = config.build(random_weights(config), shortlist=shortlist is not None, sample=sample)
    return OnnxEngine(graphs, TokenRules(VOCABULARY, EOS, word_starts=STARTS), shortlist=shortlist)


def lists(entries: dict[int, list[int]], first: int = 3, sample: Sequence[int] = ()) -> Shortlist:
    """Return a shortlist with the entries of some source tokens."""
    each = [entries.get(token, []) for token in range(VOCABULARY)]
    offsets = np.cumsum([0, *map(len, each)])
    flat = np.array([entry for some in each for entry in some], np.int64)
    return Shortlist(offsets, flat, first, VOCABULARY, sample)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(kind: str) -> OnnxEngine:
    return make(kind)


@pytest.fixture
def reference(kind: str) -> Reference:
    config = replace(TINY, decoder=kind)
    return Reference(config, random_weights(config))


def step(
    engine: OnnxEngine,
    state: Any,
    tokens: list[int],
    parents: list[int],
    *,
    ask: Any = None,
    ban: Any = None,
    top: int = 4,
    **hold: Any,
) -> Scores:
    none = np.zeros((len(tokens), 0), np.int64)
    return engine.step(
        state,
        np.array(tokens),
        np.array(parents),
        none if ask is None else np.array(ask),
        none if ban is None else np.array(ban),
        top,
        **hold,
    )


def begin(engine: OnnxEngine, sources: list[list[int]], top: int = 4) -> Scores:
    state = engine.start(sources, [[]] * len(sources))
    rows = len(sources)
    return step(engine, state, [engine.bos] * rows, list(range(rows)), top=top)


def test_the_best_tokens_without_the_end(engine: OnnxEngine, reference: Reference) -> None:
    scores = begin(engine, SOURCES[:1], top=6)
    expected = reference.log_probs(SOURCES[0], [])
    expected[EOS] = -np.inf
    best = np.argsort(-expected)[:6]
    assert scores.top_ids[0].tolist() == best.tolist()
    np.testing.assert_allclose(scores.top_scores[0], expected[best], atol=2e-4)


def test_rows_continue_their_parents(engine: OnnxEngine, reference: Reference) -> None:
    first = begin(engine, SOURCES[:1])
    second = step(engine, first.state, [7, 9, 12], [0, 0, 0])
    third = step(engine, second.state, [3, 4, 5, 6], [2, 0, 2, 1], ask=[[EOS, 8]] * 4)
    for row, output in enumerate([[12, 3], [7, 4], [12, 5], [9, 6]]):
        expected = reference.log_probs(SOURCES[0], output)
        np.testing.assert_allclose(third.ask_scores[row], expected[[EOS, 8]], atol=2e-4)


def test_a_state_can_be_continued_twice(engine: OnnxEngine) -> None:
    first = begin(engine, SOURCES[:1])
    once = step(engine, first.state, [7, 9], [0, 0])
    step(engine, once.state, [1, 2], [1, 0])
    again = step(engine, first.state, [7, 9], [0, 0])
    np.testing.assert_array_equal(once.top_scores, again.top_scores)
    after = step(engine, once.state, [4], [1])
    np.testing.assert_array_equal(after.top_scores, step(engine, again.state, [4], [1]).top_scores)


def test_banned_tokens_are_hidden_but_nothing_else_changes(engine: OnnxEngine) -> None:
    state = engine.start(SOURCES[:1], [[]])
    free = step(engine, state, [engine.bos], [0], top=6)
    first, second, third, fourth, *_ = free.top_ids[0]
    banned = step(engine, state, [engine.bos], [0], ban=[[first, PAD, third]], top=2)
    assert banned.top_ids[0].tolist() == [second, fourth]
    np.testing.assert_array_equal(banned.top_scores[0], free.top_scores[0, [1, 3]])


def test_bans_are_by_row(engine: OnnxEngine) -> None:
    first = begin(engine, SOURCES[:1])
    free = step(engine, first.state, [7, 7], [0, 0])
    best = int(free.top_ids[0, 0])
    scores = step(engine, first.state, [7, 7], [0, 0], ban=[[PAD], [best]])
    assert scores.top_ids[0, 0] == best
    assert scores.top_ids[1, 0] == free.top_ids[1, 1]


def test_padding_is_asked_in_vain(engine: OnnxEngine, reference: Reference) -> None:
    state = engine.start(SOURCES[:1], [[]])
    scores = step(engine, state, [engine.bos], [0], ask=[[PAD, EOS, PAD, 9]])
    expected = reference.log_probs(SOURCES[0], [])
    assert scores.ask_scores[0, [0, 2]].tolist() == [-np.inf, -np.inf]
    np.testing.assert_allclose(scores.ask_scores[0, [1, 3]], expected[[EOS, 9]], atol=2e-4)


def test_rows_on_hold_take_no_word_start(engine: OnnxEngine) -> None:
    first = begin(engine, SOURCES[:1])
    free = step(engine, first.state, [7, 7], [0, 0], top=8)
    held = step(engine, first.state, [7, 7], [0, 0], hold=np.array([False, True]), top=8)
    np.testing.assert_array_equal(held.top_ids[0], free.top_ids[0])
    assert not STARTS[held.top_ids[1]].any()
    inside = [token for token in free.top_ids[1] if not STARTS[token]]
    assert held.top_ids[1, : len(inside)].tolist() == inside


def test_more_than_there_is(engine: OnnxEngine) -> None:
    scores = begin(engine, SOURCES[:1], top=VOCABULARY + 5)
    assert scores.top_scores.shape == (1, VOCABULARY + 5)
    assert np.isfinite(scores.top_scores[0]).sum() == VOCABULARY - 1
    assert (scores.top_ids < VOCABULARY).all()


def test_a_batch_is_its_sentences(engine: OnnxEngine) -> None:
    together = begin(engine, SOURCES)
    for row, source in enumerate(SOURCES):
        alone = begin(engine, [source])
        np.testing.assert_allclose(together.top_scores[row], alone.top_scores[0], atol=1e-5)
        assert together.top_ids[row].tolist() == alone.top_ids[0].tolist()


def test_sentences_leave_a_batch(engine: OnnxEngine, reference: Reference) -> None:
    first = begin(engine, SOURCES)
    second = step(engine, first.state, [7, 8, 9, 10, 11], [0, 1, 1, 2, 3])
    # of five rows, those of sentences 1 and 3 go on, then that of 3 alone
    third = step(engine, second.state, [3, 4, 5], [2, 4, 4], ask=[[6]] * 3)
    fourth = step(engine, third.state, [2], [2], ask=[[6]])
    kept = [(SOURCES[1], [8, 3]), (SOURCES[3], [11, 4]), (SOURCES[3], [11, 5])]
    kept[0] = (SOURCES[1], [9, 3])
    for row, (source, output) in enumerate(kept):
        expected = reference.log_probs(source, output)[6]
        np.testing.assert_allclose(third.ask_scores[row, 0], expected, atol=2e-4)
    expected = reference.log_probs(SOURCES[3], [11, 5, 2])[6]
    np.testing.assert_allclose(fourth.ask_scores[0, 0], expected, atol=2e-4)


def test_a_shortlist_that_covers_all_changes_nothing(kind: str) -> None:
    whole, listed = make(kind), make(kind, lists({}, first=VOCABULARY))
    expected = decode(whole, SOURCES, beam_size=4, max_length=8, nbest=3)
    found = decode(listed, SOURCES, beam_size=4, max_length=8, nbest=3)
    assert [[h.tokens for h in each] for each in found] == [
        [h.tokens for h in each] for each in expected
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose([h.score for h in one], [h.score for h in other], atol=1e-4)


def test_only_what_is_listed_or_wanted_is_priced() -> None:
    engine = make(shortlist=lists({5: [20, 21], 8: [33]}, first=3))
    state = engine.start([[5, 9, EOS], [8, EOS]], [[], [17]])
    scores = step(
        engine, state, [engine.bos] * 2, [0, 1], ask=[[20, 17], [20, 17]], ban=[[2, 33]] * 2, top=9
    )
    first, second = (
        {int(i) for i, s in zip(ids, values, strict=True) if s > -np.inf}
        for ids, values in zip(scores.top_ids, scores.top_scores, strict=True)
    )
    assert first == {1, 20, 21}  # 0 is the end, 2 is banned, 33 is not listed here
    assert second == {1, 17}  # 33 is listed here and banned
    assert np.isfinite(scores.ask_scores).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("sentences", [1, 4])
def test_with_all_in_the_sample_scores_are_those_of_the_whole_vocabulary(
    kind: str, sentences: int
) -> None:
    some = SOURCES[:sentences]
    listed = make(kind, lists({5: [20, 21], 8: [33]}, sample=range(VOCABULARY)))
    wanted: list[list[int]] = [[] if i % 2 else [17, 25] for i in range(sentences)]
    asked = [[1, 2, EOS]] * sentences
    rows = list(range(sentences))
    found, expected = (
        step(engine, engine.start(some, wanted), [engine.bos] * sentences, rows, ask=asked)
        for engine in (listed, make(kind))
    )
    np.testing.assert_allclose(found.ask_scores, expected.ask_scores, atol=1e-4)


def test_a_sample_stands_for_what_is_not_listed() -> None:
    sample = range(1, VOCABULARY, 3)
    engine = make(shortlist=lists({5: [20, 21, 22]}, first=3, sample=sample))
    asked = [*range(VOCABULARY)]
    answer = step(make(), make().start([[5, EOS]], [[]]), [engine.bos], [0], ask=[asked])
    probabilities = np.exp(answer.ask_scores[0])
    listed = [0, 1, 2, 20, 21, 22]
    outside = [token for token in sample if token not in listed]
    share = probabilities[outside].sum() * (VOCABULARY - len(listed)) / len(outside)
    scores = step(
        engine, engine.start([[5, EOS]], [[]]), [engine.bos], [0], ask=[listed], top=VOCABULARY
    )
    expected = np.log(probabilities[listed] / (probabilities[listed].sum() + share))
    np.testing.assert_allclose(scores.ask_scores[0], expected, atol=1e-4)
    finite = scores.top_ids[scores.top_scores > -np.inf]
    assert sorted(finite.tolist()) == [1, 2, 20, 21, 22]  # none of the sample


def test_with_a_sample_a_batch_is_its_sentences(kind: str) -> None:
    engine = make(kind, lists({5: [20, 21], 8: [33], 11: [9]}, sample=range(0, VOCABULARY, 4)))
    together = decode(engine, SOURCES, beam_size=3, max_length=6, nbest=2)
    for source, found in zip(SOURCES, together, strict=True):
        (alone,) = decode(engine, [source], beam_size=3, max_length=6, nbest=2)
        assert [h.tokens for h in alone] == [h.tokens for h in found]
        np.testing.assert_allclose([h.score for h in alone], [h.score for h in found], atol=1e-4)


def test_hold_within_a_shortlist() -> None:
    engine = make(shortlist=lists({5: [20, 21], 8: [33, 36]}, first=3))
    state = engine.start([[5, EOS], [8, EOS]], [[], []])
    hold = np.array([True, True])
    scores = step(engine, state, [engine.bos] * 2, [0, 1], top=2, hold=hold)
    assert sorted(scores.top_ids[0]) == [1, 21]
    assert sorted(scores.top_ids[1]) == [1, 33]


def test_constraints_are_found_beyond_the_shortlist() -> None:
    engine = make(shortlist=lists({}, first=3))
    (found,), _ = decode(engine, SOURCES[:2], [[[25, 31]], []], beam_size=3, max_length=9)
    assert (25, 31) in zip(found.tokens, found.tokens[1:], strict=False)


def test_two_threads_give_the_same() -> None:
    graphs = TINY.build(random_weights(TINY), shortlist=False)
    engine = OnnxEngine(graphs, TokenRules(VOCABULARY, EOS), threads=2)
    found = begin(engine, SOURCES)
    np.testing.assert_allclose(found.top_scores, begin(make(), SOURCES).top_scores, atol=1e-5)


def test_source_tokens_from_elsewhere_are_named(engine: OnnxEngine) -> None:
    with pytest.raises(InputError, match="sentence 1: token 40"):
        engine.start([[5, EOS], [3, VOCABULARY, EOS]], [[], []])
    with pytest.raises(InputError, match="sentence 0: token -1"):
        engine.start([[-1]], [[]])


@pytest.mark.parametrize("name", ["Wemb", "encoder_l1_ffn_W2", "decoder_l2_ffn_b1"])
def test_weights_that_do_not_fit_together_are_refused(name: str) -> None:
    weights = random_weights(TINY)
    weights[name] = weights[name][:, :-1]
    with pytest.raises(ModelError, match=rf"the weight {name.replace('b1', 'W1')} has the shape"):
        TINY.build(weights, shortlist=False)


def test_weights_that_the_runtime_can_not_multiply_are_refused() -> None:
    weights = random_weights(TINY)
    weights["encoder_l1_ffn_W2"] = weights["encoder_l1_ffn_W2"][:-1]
    graphs = TINY.build(weights, shortlist=False)
    with pytest.raises(ModelError, match=r"ONNX Runtime refuses|does not run"):
        OnnxEngine(graphs, TokenRules(VOCABULARY, EOS))


def test_a_network_whose_scores_are_not_numbers_is_refused() -> None:
    weights = random_weights(TINY)
    weights["decoder_ff_logit_out_b"] = np.full_like(weights["decoder_ff_logit_out_b"], np.nan)
    graphs = TINY.build(weights, shortlist=False)
    with pytest.raises(ModelError, match="scores that are not numbers"):
        OnnxEngine(graphs, TokenRules(VOCABULARY, EOS))


def test_a_model_that_the_runtime_refuses() -> None:
    with pytest.raises(ModelError, match="ONNX Runtime"):
        OnnxEngine(Graphs(b"nonsense", b"nonsense"), TokenRules(4, 0))


def test_outputs_follow_their_start_and_leave_out_what_is_never_taken(kind: str) -> None:
    config = replace(TINY, decoder=kind)
    graphs = config.build(random_weights(config), shortlist=False)
    begun = OnnxEngine(graphs, TokenRules(VOCABULARY, EOS, output_start=(6, 4, 9), never=(7, 12)))
    plain = make(kind)
    scores = begin(begun, SOURCES, top=VOCABULARY)
    state: Any = plain.start(SOURCES, [[]] * 4)
    for token in (6, 4, 9):
        answer = step(plain, state, [token] * 4, [0, 1, 2, 3], top=VOCABULARY)
        state = answer.state
    for row in range(4):
        ids, taken = answer.top_ids[row], answer.top_scores[row] > -np.inf
        kept = taken & ~np.isin(ids, [7, 12])
        count = int(kept.sum())
        assert scores.top_ids[row, :count].tolist() == ids[kept].tolist()
        assert (scores.top_scores[row, count:] == -np.inf).all()


def test_what_is_never_taken_is_on_no_list() -> None:
    entries = lists({5: [7, 12, 20], 8: [7]})
    graphs = TINY.build(random_weights(TINY), shortlist=True)
    engine = OnnxEngine(graphs, TokenRules(VOCABULARY, EOS, never=(7, 12)), shortlist=entries)
    scores = begin(engine, SOURCES, top=VOCABULARY)
    assert not np.isin(scores.top_ids[scores.top_scores > -np.inf], [7, 12, EOS]).any()


def test_embeddings_of_positions_can_be_given(kind: str) -> None:
    tables = sinusoids(20, TINY.dim), sinusoids(20, TINY.dim)
    config = replace(TINY, decoder=kind)
    graphs = config.build(random_weights(config), shortlist=False)
    same = OnnxEngine(graphs, TokenRules(VOCABULARY, EOS), positions=tables)
    other = OnnxEngine(graphs, TokenRules(VOCABULARY, EOS), positions=(tables[0], -tables[1]))
    expected = begin(make(kind), SOURCES).top_scores
    np.testing.assert_array_equal(begin(same, SOURCES).top_scores, expected)
    assert np.abs(begin(other, SOURCES).top_scores - expected).max() > 0.01

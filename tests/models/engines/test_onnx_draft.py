"""A draft that the runtime writes in one call is what its steps say, to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.networks import TINY, VOCABULARY, random_weights
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs.weights import quantise
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import PAD
from lexbeam.search.beam_search import decode
from lexbeam.search.scorer import Scores, WholeDraft

SOURCES = [[5, 9, 3, 0], [8, 0], [11, 30, 2, 7, 7, 21, 0]]
ASK = np.array([7, PAD, 2, 30])
NONE = np.zeros((1, 0), np.int64)
VARIANTS: dict[str, dict[str, Any]] = {
    "ssru": {},
    "self-attention": {"decoder": "self-attention"},
    "distances": {"decoder": "self-attention", "positions": "distances"},
}


def make(
    variant: str = "ssru",
    listed: bool = False,
    rounded: bool = False,
    eos: int = 0,
    sample: Sequence[int] = (),
    **rules: Any,
) -> OnnxEngine:
    config = replace(TINY, **VARIANTS[variant])
    weights: dict[str, Any] = dict(random_weights(config))
    if config.positions == "distances":
        rng = np.random.default_rng(1)
        weights["encoder_Wdist"], weights["decoder_Wdist"] = rng.normal(
            size=(2, 5, config.heads)
        ).astype(np.float32)
    if rounded:
        for name, weight in weights.items():
            if 1 not in weight.shape:
                table = name.endswith("Wemb")
                weights[name] = quantise(weight.T, 24.0).T if table else quantise(weight, 24.0)
    none = np.zeros(VOCABULARY + 1, np.int64)
    few = Shortlist(none, np.zeros(0, np.int64), 20, VOCABULARY, sample)
    engine = OnnxEngine(
        config.build(weights, shortlist=listed, sample=sample),
        TokenRules(VOCABULARY, eos, **rules),
        shortlist=few if listed else None,
        make_attending=lambda single: config.build_attending(
            weights, single=single, shortlist=listed, sample=sample
        ),
        make_draft=lambda attends: config.build_draft(
            weights, attends=attends, shortlist=listed, sample=sample
        ),
    )
    for attends in (False, True):  # a single draft is not worth a graph
        assert engine.draft(engine.start(SOURCES[:1], [[]]), ASK, 1, attends) is None
    return engine


def step_by_step(engine: OnnxEngine, state: Any, longest: int, attention: bool) -> WholeDraft:
    """Take the steps of a draft one by one."""
    token, ask = np.array([engine.bos]), np.append(engine.eos, ASK)[None]
    found: list[Scores] = []
    while len(found) <= longest:
        scores = engine.step(state, token, np.array([0]), ask, NONE, 1, attention=attention)
        found.append(scores)
        state, token = scores.state, scores.top_ids[0]
        if scores.ask_scores[0, 0] >= scores.top_scores[0, 0]:
            break
    looks = [scores.attention for scores in found if scores.attention is not None]
    return WholeDraft(
        np.concatenate([scores.top_scores for scores in found]),
        np.concatenate([scores.top_ids for scores in found]),
        np.concatenate([scores.ask_scores for scores in found]),
        np.concatenate(looks) if looks else None,
    )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("listed", [False, True])
def test_a_draft_is_what_its_steps_say(variant: str, rounded: bool, listed: bool) -> None:
    engine = make(variant, listed, rounded, never=(12,), output_start=(6, 4))
    lengths = set()
    for source in SOURCES:
        state = engine.start([source], [[7, 2, 30]])
        for attention in (False, True):
            expected = step_by_step(engine, state, 12, attention)
            found = engine.draft(state, ASK, 12, attention=attention)
            assert found is not None
            lengths.add(len(found.top_ids))
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    assert min(lengths) > 1


def test_a_draft_with_a_sample_is_what_its_steps_say() -> None:
    engine = make(listed=True, rounded=True, sample=range(0, VOCABULARY, 3))
    state = engine.start(SOURCES[:1], [[7, 2, 30]])
    found = engine.draft(state, ASK, 12)
    assert found is not None
    for one, other in zip(found, step_by_step(engine, state, 12, False), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_draft_ends_where_no_token_is_better_than_the_end() -> None:
    engine = make("self-attention")
    for first in range(1, VOCABULARY):
        source = [first, 9, 0]
        whole = engine.draft(engine.start([source], [[]]), ASK, 9)
        assert whole is not None
        tokens = whole.top_ids[:, 0].tolist()
        last = next((token for token in tokens[1:] if token != tokens[0]), 0)
        if last:
            break
    assert last
    ending = make("self-attention", eos=last)
    state = ending.start([source], [[]])
    draft = ending.draft(state, ASK, 9)
    assert draft is not None
    assert len(draft.top_ids) == tokens.index(last) + 1
    for one, other in zip(draft, step_by_step(ending, state, 9, False), strict=True):
        np.testing.assert_array_equal(one, other)


def test_batches_and_networks_without_such_a_graph_have_none() -> None:
    engine = make()
    state = engine.start(SOURCES, [[]] * len(SOURCES))
    assert engine.draft(state, ASK, 5) is None
    plain = OnnxEngine(TINY.build(random_weights(TINY)), TokenRules(VOCABULARY, 0))
    for _ in range(3):
        assert plain.draft(plain.start(SOURCES[:1], [[]]), ASK, 5) is None


def test_a_search_is_the_same_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make(listed=True, rounded=True)
    phrases = [[[7, 2], [30]], [[3], [9]], [[5]]]
    written = []

    def write(state: Any, ask: Any, longest: int, attention: bool) -> WholeDraft | None:
        written.append(longest)
        return OnnxEngine.draft(engine, state, ask, longest, attention)

    def search() -> list[Any]:
        return [
            decode(engine, [source], [some], beam_size=4, algorithm="lookahead", max_length=12)
            for source, some in zip(SOURCES, phrases, strict=True)
        ]

    monkeypatch.setattr(engine, "draft", write)
    at_once = search()
    assert len(written) == 2  # a single phrase is searched without a draft
    monkeypatch.setattr(engine, "draft", None)
    assert search() == at_once


def test_lists_in_eight_bits_give_the_same_in_a_batch_as_one_by_one() -> None:
    engine = make(listed=True, rounded=True)
    rows, ask = np.arange(len(SOURCES)), np.array([[engine.eos, 7]] * len(SOURCES))
    none, begin = np.zeros((len(SOURCES), 0), np.int64), np.full(len(SOURCES), engine.bos)
    together = engine.step(engine.start(SOURCES, [[7]] * len(SOURCES)), begin, rows, ask, none, 4)
    for row, source in enumerate(SOURCES):
        state = engine.start([source], [[7]])
        alone = engine.step(state, begin[:1], rows[:1], ask[:1], NONE, 4)
        assert together.top_ids[row].tolist() == alone.top_ids[0].tolist()
        np.testing.assert_allclose(together.top_scores[row], alone.top_scores[0], atol=1e-5)
        np.testing.assert_allclose(together.ask_scores[row], alone.ask_scores[0], atol=1e-5)

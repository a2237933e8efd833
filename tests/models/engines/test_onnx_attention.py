from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.attention import attention_of
from helpers.networks import TINY, VOCABULARY, Reference, random_weights
from lexbeam.errors import ModelError
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs.weights import quantise
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.beam_search import decode
from lexbeam.search.scorer import can_attend

SOURCES = [[5, 9, 3, 0], [8, 0], [11, 30, 2, 7, 7, 21, 0], [4, 13, 0], [6, 0]]
OUTPUTS = [[7, 2, 30, 7, 4], [3], [12, 12, 5, 9], [], [8, 1]]
KINDS = ["ssru", "self-attention"]


def make(
    kind: str = "ssru",
    alignment: tuple[int, int] | None = None,
    shortlist: Shortlist | None = None,
    rounded: bool = False,
) -> OnnxEngine:
    config = replace(TINY, decoder=kind)
    weights: dict[str, Any] = dict(random_weights(config))
    if rounded:
        for name, weight in weights.items():
            if 1 not in weight.shape:
                table = name.endswith("Wemb")
                weights[name] = quantise(weight.T, 24.0).T if table else quantise(weight, 24.0)
    listed = shortlist is not None
    return OnnxEngine(
        config.build(weights, shortlist=listed),
        TokenRules(VOCABULARY, 0),
        shortlist=shortlist,
        make_attending=lambda single: config.build_attending(
            weights, single=single, shortlist=listed, alignment=alignment
        ),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alignment", [(0, 0), (0, 1), (1, 0), (1, 1), None])
def test_the_chosen_head_is_the_networks(kind: str, alignment: tuple[int, int] | None) -> None:
    config = replace(TINY, decoder=kind)
    reference = Reference(config, random_weights(config))
    found = attention_of(make(kind, alignment), SOURCES, OUTPUTS)
    for source, output, rows in zip(SOURCES, OUTPUTS, found, strict=True):
        for length, row in enumerate(rows):
            heads = reference.attention_to_source(source, output[:length])
            layer, head = alignment or (-1, None)
            expected = heads[layer].mean(axis=0) if head is None else heads[layer][head]
            np.testing.assert_allclose(row[: len(source)], expected, atol=2e-5)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_one_padding_is_zero_and_a_batch_is_its_sentences(
    kind: str, rounded: bool
) -> None:
    engine = make(kind, rounded=rounded)
    together = attention_of(engine, SOURCES, OUTPUTS)
    for source, output, rows in zip(SOURCES, OUTPUTS, together, strict=True):
        assert rows.shape == (len(output) + 1, max(map(len, SOURCES)))
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-6)
        assert not rows[:, len(source) :].any()
        (alone,) = attention_of(engine, [source], [output])
        np.testing.assert_allclose(rows[:, : len(source)], alone, atol=1e-5)


def test_a_shortlist_does_not_change_where_a_model_looks() -> None:
    everything = Shortlist(np.zeros(VOCABULARY + 1, np.int64), np.zeros(0, np.int64), 0, VOCABULARY)
    listed = attention_of(make(shortlist=everything), SOURCES, OUTPUTS)
    for rows, expected in zip(listed, attention_of(make(), SOURCES, OUTPUTS), strict=True):
        np.testing.assert_allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize("sources", [SOURCES[:1], SOURCES])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_same_with_and_without(kind: str, sources: list[list[int]]) -> None:
    engine, rows = make(kind), len(sources)
    ask, ban = np.full((rows, 1), 4), np.zeros((rows, 0), np.int64)
    first = np.full(rows, engine.bos), np.arange(rows), ask, ban, 5
    second = np.full(rows, 7), np.arange(rows), ask, ban, 5
    plain = engine.step(engine.step(engine.start(sources, [[]] * rows), *first).state, *second)
    state = engine.step(engine.start(sources, [[]] * rows), *first, attention=True).state
    attending = engine.step(state, *second, attention=True)
    assert plain.attention is None
    assert attending.attention is not None
    np.testing.assert_array_equal(plain.top_ids, attending.top_ids)
    np.testing.assert_allclose(plain.top_scores, attending.top_scores, atol=1e-6)
    np.testing.assert_allclose(plain.ask_scores, attending.ask_scores, atol=1e-6)


def test_nothing_is_made_until_it_is_asked_for() -> None:
    made: list[bool] = []
    weights = random_weights(TINY)

    def make_attending(single: bool) -> bytes:
        made.append(single)
        return TINY.build_attending(weights, single=single)

    engine = OnnxEngine(
        TINY.build(weights), TokenRules(VOCABULARY, 0), make_attending=make_attending
    )
    decode(engine, SOURCES, beam_size=3, max_length=5)
    decode(engine, SOURCES[:1], beam_size=3, max_length=5)
    assert not made
    for _ in range(2):
        attention_of(engine, SOURCES[:1], OUTPUTS[:1])
        assert made == [True]
    for _ in range(2):
        attention_of(engine, SOURCES, OUTPUTS)
        assert made == [True, False]


def test_an_engine_without_such_decoders_says_so() -> None:
    engine = OnnxEngine(TINY.build(random_weights(TINY)), TokenRules(VOCABULARY, 0))
    assert can_attend(make())
    assert not can_attend(engine)
    with pytest.raises(ModelError, match="can't say which source tokens"):
        attention_of(engine, SOURCES, OUTPUTS)

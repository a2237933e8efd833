"""The compiled decoder and output layer give what the graphs give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers import networks
from helpers.networks import TINY, VOCABULARY
from lexbeam.errors import ModelError
from lexbeam.models.engines import compiled_network
from lexbeam.models.engines.compiled_decoder import CompiledDecoder
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.onnx_decoder import OnnxDecoder
from lexbeam.models.engines.output import CompiledOutput
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs.ssru_decoder import SsruDecoder
from lexbeam.models.graphs.stored_arrays import from_bytes, to_bytes
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import quantise
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.arrays import PAD
from lexbeam.search.beam_search import decode
from lexbeam.search.scorer import Scores

SMALL = replace(TINY, dim=64, heads=2)
SOURCES = [
    [5, 9, 3, 0],
    [8, 0],
    [11, 30, 2, 7, 7, 21, 4, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0],
    [4, 13, 0],
]
STARTS = np.arange(VOCABULARY) % 2 == 0
LEVELS = range(1, compiled_network.LEVEL + 1)
pytestmark = pytest.mark.skipif(not LEVELS, reason="nothing is compiled for this processor")


@pytest.fixture(params=LEVELS, autouse=True)
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_network, "LEVEL", request.param)
    monkeypatch.setattr(networks, "FFN", 48)


def rounded(config: TransformerConfig, multiplier: float | None = 24.0) -> dict[str, Any]:
    weights: dict[str, Any] = dict(networks.random_weights(config))
    for name, weight in weights.items():
        if 1 not in weight.shape:
            by_row = name.endswith("Wemb")
            weights[name] = (
                quantise(weight.T, multiplier).T if by_row else quantise(weight, multiplier)
            )
    return weights


def shortlist(first: int = 20, sample: Sequence[int] = ()) -> Shortlist:
    none = np.zeros(VOCABULARY + 1, np.int64)
    return Shortlist(none, np.zeros(0, np.int64), first, VOCABULARY, sample)


def pair(
    config: TransformerConfig = SMALL,
    listed: Shortlist | None = None,
    multiplier: float | None = 24.0,
    attended: tuple[int, int] | None = None,
    **rules: Any,
) -> tuple[OnnxEngine, OnnxEngine]:
    """Return an engine that is compiled as far as it can be, and one that is not."""
    weights = rounded(config, multiplier)
    options = {
        "shortlist": listed is not None,
        "sample": [] if listed is None else listed.sample.tolist(),
    }

    def make(bare: bool) -> OnnxEngine:
        return OnnxEngine(
            config.build(weights, bare=bare, **options),
            TokenRules(VOCABULARY, 0, word_starts=STARTS, **rules),
            shortlist=listed,
            make_attending=lambda single: config.build_attending(
                weights, single=single, bare=bare, alignment=attended, **options
            ),
            alignment=attended,
        )

    return make(True), make(False)


def some_steps(
    engine: OnnxEngine, sources: Sequence[Sequence[int]], attention: bool = False
) -> list[Scores]:
    """Take three steps, with several rows per sentence after the first."""
    count = len(sources)
    state = engine.start(sources, [[25, 3]] * count)
    tokens, parents, none = (
        np.full(count, engine.bos),
        np.arange(count),
        np.zeros((count, 0), np.int64),
    )
    found = []
    for step in range(3):
        rows = len(tokens)
        ask = np.tile([0, 25, PAD, 3], (rows, 1))
        ban = none[:rows] if step == 0 else np.tile([4, PAD, 7, 25], (rows, 1))
        hold = None if step < 2 else np.arange(rows) % 3 == 1
        scores = engine.step(state, tokens, parents, ask, ban, 9, hold, attention)
        found.append(scores)
        parents = np.repeat(np.arange(rows), 3 if step == 0 else 1)[:-1]
        tokens, state = (parents * 5 + np.arange(len(parents))) % VOCABULARY, scores.state
        none = np.zeros((len(tokens), 0), np.int64)
    return found


def assert_alike(
    found: Sequence[Scores], expected: Sequence[Scores], tolerance: float = 2e-5
) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.ask_scores, other.ask_scores, atol=tolerance)
        np.testing.assert_allclose(one.top_scores, other.top_scores, atol=tolerance)
        best = np.maximum(other.top_scores, -1e9)
        known = (best > -1e9) & (np.diff(best, append=-2e9) < -1e-4)
        known[:, 1:] &= known[:, :-1]
        assert known.any()
        assert (one.top_ids == other.top_ids)[known].all()
        if other.attention is not None:
            assert one.attention is not None
            np.testing.assert_allclose(one.attention, other.attention, atol=tolerance)


def kinds(engine: OnnxEngine) -> tuple[type, type]:
    return type(engine._decoder), type(engine._output)


LISTS = {
    "all": None,
    "listed": shortlist(),
    "few": shortlist(3),
    "sampled": shortlist(20, [1, 3, 18, 22, 26, 31, 39]),
    "all listed": shortlist(VOCABULARY, [1, 3]),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("sources", [SOURCES, SOURCES[2:3]], ids=["batch", "single"])
def test_steps_are_those_of_the_graph(name: str, sources: Sequence[Sequence[int]]) -> None:
    compiled, graph = pair(listed=LISTS[name])
    assert kinds(compiled) == (CompiledDecoder, CompiledOutput)
    assert kinds(graph)[0] is OnnxDecoder
    assert_alike(some_steps(compiled, sources), some_steps(graph, sources))


@pytest.mark.parametrize("name", ["all", "listed"])
def test_tokens_that_are_never_proposed(name: str) -> None:
    compiled, graph = pair(listed=LISTS[name], never=(7, 12), output_start=(6, 4))
    assert_alike(some_steps(compiled, SOURCES), some_steps(graph, SOURCES))


@pytest.mark.parametrize("attended", [None, (0, 1), (1, 0)])
@pytest.mark.parametrize("sources", [SOURCES, SOURCES[:1]], ids=["batch", "single"])
def test_it_says_where_it_looks(
    attended: tuple[int, int] | None, sources: Sequence[Sequence[int]]
) -> None:
    compiled, graph = pair(attended=attended)
    assert_alike(some_steps(compiled, sources, True), some_steps(graph, sources, True))


@pytest.mark.parametrize(
    "change", [{"decoder": "self-attention"}, {"preprocess": "n"}, {"tied_layers": (1, 1)}], ids=str
)
def test_networks_of_other_kinds_keep_their_graphs(change: dict[str, Any]) -> None:
    """The output layer is compiled for all."""
    compiled, graph = pair(replace(SMALL, **change), listed=LISTS["listed"])
    usual = CompiledDecoder if "tied_layers" in change else OnnxDecoder
    assert kinds(compiled) == (usual, CompiledOutput)
    assert_alike(some_steps(compiled, SOURCES), some_steps(graph, SOURCES))


@pytest.mark.parametrize("rounding", ["rows", "rows down"])
def test_rows_that_are_rounded_by_themselves(rounding: str) -> None:
    compiled, graph = pair(replace(SMALL, rounding=rounding), multiplier=None)
    assert kinds(compiled) == (OnnxDecoder, CompiledOutput)
    assert_alike(some_steps(compiled, SOURCES), some_steps(graph, SOURCES))


def test_a_sentence_gets_the_same_in_any_batch() -> None:
    compiled, _ = pair(listed=LISTS["listed"])
    together = some_steps(compiled, SOURCES)[0]
    for number, source in enumerate(SOURCES):
        alone = some_steps(compiled, [source])[0]
        assert (alone.top_scores[0] == together.top_scores[number]).all()
        assert (alone.ask_scores[0] == together.ask_scores[number]).all()


@pytest.mark.parametrize("name", ["all", "listed"])
def test_drafts_are_what_steps_say(name: str) -> None:
    compiled, _ = pair(listed=LISTS[name])
    for attention in (False, True):
        state = compiled.start(SOURCES[:1], [[25]])
        draft = compiled.draft(state, np.array([25, PAD]), 6, attention)
        assert draft is not None
        tokens, row, none = (
            np.array([compiled.bos]),
            np.zeros(1, np.int64),
            np.zeros((1, 0), np.int64),
        )
        for place in range(len(draft.top_ids)):
            ask = np.array([[0, 25, PAD]])
            scores = compiled.step(state, tokens, row, ask, none, 1, attention=attention)
            assert (scores.ask_scores[0] == draft.ask_scores[place]).all()
            assert scores.top_scores[0] == draft.top_scores[place]
            if attention:
                assert scores.attention is not None
                assert draft.attention is not None
                assert (scores.attention[0] == draft.attention[place]).all()
            tokens, state = scores.top_ids[0], scores.state


def test_searches_with_constraints_give_the_same() -> None:
    compiled, graph = pair(listed=LISTS["listed"])
    phrases = [[[25], [3, 18]], [[19]], [[11], [12], [13]], []]
    found = [decode(engine, SOURCES, phrases, max_length=12) for engine in (compiled, graph)]
    for one, other in zip(*found, strict=True):
        assert one[0].tokens == other[0].tokens
        assert abs(one[0].score - other[0].score) < 1e-4


def test_weights_that_are_no_numbers_are_refused() -> None:
    weights = rounded(SMALL)
    weights["decoder_l1_context_bo"] = np.full((1, SMALL.dim), np.nan, np.float32)
    graphs = SMALL.build(weights, bare=True)
    with pytest.raises(ModelError, match="not numbers"):
        OnnxEngine(graphs, TokenRules(VOCABULARY, 0))


@pytest.mark.parametrize("name", ["rnn_Wf", "context_Wq", "ffn_W2", "rnn_bf", "ffn_ffn_ln_scale"])
def test_weights_that_do_not_fit_together_are_refused(name: str) -> None:
    weights = rounded(SMALL)
    weight = networks.random_weights(SMALL)[f"decoder_l1_{name}"][:, :-16]
    weights[f"decoder_l1_{name}"] = quantise(weight, 24.0) if len(weight) > 1 else weight
    with pytest.raises(ModelError):
        OnnxEngine(SMALL.build(weights, bare=True), TokenRules(VOCABULARY, 0))


def test_arrays_that_do_not_fit_are_refused() -> None:
    compiled, _ = pair()
    state = compiled.start(SOURCES[:1], [[]])
    one, none = np.zeros(1, np.int64), np.zeros((1, 0), np.int64)
    for tokens, parents in (([VOCABULARY + 1], [0]), ([3], [1]), ([-1], [0])):
        with pytest.raises(ValueError, match="fit together"):
            compiled.step(state, np.array(tokens), np.array(parents), none, none, 1)
    with pytest.raises(ValueError, match="fit together"):
        compiled_network.compiled.pack(
            np.zeros(8, np.int8), 3, one, np.zeros(3, np.int8), np.zeros(1, np.int32)
        )


def test_decoders_can_be_kept_as_bytes() -> None:
    weights = rounded(SMALL)
    graphs = SMALL.build(weights, bare=True)
    assert graphs.ssru is not None
    again = SsruDecoder(**from_bytes(to_bytes(graphs.ssru._asdict())))
    for one, other in zip(again, graphs.ssru, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))

"""Groups of like length: fewer tokens to encode, the same result for each sentence."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.networks import TINY, VOCABULARY, random_weights
from lexbeam.models.engines.encoding import group_by_length
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.shortlist import Shortlist
from lexbeam.search.beam_search import decode

LENGTHS = np.array([3, 30, 29, 9, 10, 4, 31, 28, 11, 12, 3, 2])


def test_groups_hold_everybody_once() -> None:
    groups = group_by_length(LENGTHS)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(LENGTHS)))
    assert [LENGTHS[group].max() for group in groups] == [31, 12, 4]
    assert [len(group) for group in groups] == [4, 4, 4]


def test_sentences_of_like_length_stay_together() -> None:
    assert len(group_by_length(np.array([20, 19, 18, 20, 17, 20, 19, 18]))) == 1
    assert len(group_by_length(np.array([30, 3, 3]))) == 1
    assert len(group_by_length(np.array([5]))) == 1


@pytest.mark.parametrize("listed", [False, True])
def test_a_batch_of_several_groups_gives_what_its_sentences_give(listed: bool) -> None:
    random = np.random.default_rng(5)
    sources = [[*random.integers(1, VOCABULARY, length).tolist(), 0] for length in LENGTHS]
    entries = random.integers(0, VOCABULARY, 5 * VOCABULARY)
    offsets = np.arange(VOCABULARY + 1) * 5
    shortlist = Shortlist(offsets, entries, 3, VOCABULARY) if listed else None
    graphs = TINY.build(random_weights(TINY), shortlist=listed)
    engine = OnnxEngine(graphs, TokenRules(VOCABULARY, 0), shortlist=shortlist)
    together = decode(engine, sources, beam_size=3, max_length=12)
    for source, (best, *_) in zip(sources, together, strict=True):
        alone = decode(engine, [source], beam_size=3, max_length=12)[0][0]
        assert best.tokens == alone.tokens
        assert best.score == pytest.approx(alone.score, abs=1e-5)

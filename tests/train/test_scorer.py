from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lexbeam.search.arrays import PAD  # noqa: E402
from lexbeam.search.beam_search import decode  # noqa: E402
from lexbeam.train.config import NetworkConfig  # noqa: E402
from lexbeam.train.rnn import RecurrentNetwork  # noqa: E402
from lexbeam.train.scorer import NetworkScorer  # noqa: E402
from lexbeam.train.transformer import Transformer  # noqa: E402

VOCABULARY = 12
SOURCES = [[3, 4, 5, 0], [7, 0], [2, 9, 0]]


@pytest.fixture(params=["ssru", "self-attention", "rnn"])
def scorer(request: pytest.FixtureRequest) -> NetworkScorer:
    torch.manual_seed(1)
    config = NetworkConfig(
        dim=16,
        ffn=16,
        heads=2,
        encoder_layers=2,
        decoder_layers=2,
        decoder="ssru" if request.param == "rnn" else request.param,
    )
    kind = RecurrentNetwork if request.param == "rnn" else Transformer
    return NetworkScorer(kind(config, VOCABULARY).eval(), VOCABULARY)


def test_a_step_keeps_the_protocol(scorer: NetworkScorer) -> None:
    state = scorer.start(SOURCES, [[], [], []])
    rows = np.arange(3)
    ask = np.array([[0, 5], [5, PAD], [PAD, PAD]])
    ban = np.array([[3], [PAD], [4]])
    scores = scorer.step(state, np.full(3, scorer.bos), rows, ask, ban, 20)
    assert scores.top_scores.shape == scores.top_ids.shape == (3, 20)
    falling = np.diff(scores.top_scores[:, :10], axis=1)
    assert (falling <= 0).all()
    finite = np.isfinite(scores.top_scores)
    assert finite.sum(axis=1).tolist() == [10, 11, 10]
    assert 3 not in scores.top_ids[0][finite[0]]
    assert not (scores.top_ids[finite] == scorer.eos).any()
    assert np.isneginf(scores.ask_scores[1:, 1]).all()
    # nothing is renormalised: the visible, the end and the banned token make up the whole
    everything = scorer.step(state, np.full(3, scorer.bos), rows, ban * 0, ban * 0 + PAD, 20)
    total = np.exp(everything.top_scores).sum(axis=1) + np.exp(everything.ask_scores[:, 0])
    np.testing.assert_allclose(total, 1, rtol=1e-5)


def test_a_batch_is_its_sentences(scorer: NetworkScorer) -> None:
    phrases = [[[6, 8]], [], [[2]]]
    together = decode(scorer, SOURCES, phrases, beam_size=4, max_length=8)
    for i, found in enumerate(together):
        alone = decode(scorer, [SOURCES[i]], [phrases[i]], beam_size=4, max_length=8)[0]
        assert found[0].tokens == alone[0].tokens
        assert found[0].log_prob == pytest.approx(alone[0].log_prob, abs=1e-4)
        assert all(found[0].met)

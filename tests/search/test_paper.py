"""The paper's search, held against a literal reading of Algorithms 1 and 2."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.paper_search import search
from lexbeam.errors import SettingError
from lexbeam.search import decode
from lexbeam.search.settings import PAPER, Settings
from lexbeam.testing import HistoryScorer
from lexbeam.translation.settings import TextSettings

VOCABULARY, EOS, BOS, LONGEST = 12, 0, 1, 60


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_search_is_the_papers(first: int) -> None:
    compared = sum(compare(seed) for seed in range(first, first + 50))
    assert compared >= 35  # the literal search ran into its limit in the others


def compare(seed: int) -> bool:
    """Compare both searches for a random problem; return whether there was something to compare."""
    draw = np.random.default_rng(seed)
    scorer = HistoryScorer(VOCABULARY, bos=BOS, eos=EOS, seed=seed)
    tokens = iter(draw.permutation(np.arange(2, VOCABULARY)).tolist())
    lengths = draw.integers(1, 4, size=int(draw.integers(0, 4))).tolist()
    phrases = [[next(tokens) for _ in range(length)] for length in lengths]
    k, threshold = int(draw.choice([1, 2, 3, 5, 10, 20])), float(draw.choice([3.0, 20.0]))
    expected = search(
        lambda prefix: scorer.next_log_probs("source", prefix).tolist(),
        phrases,
        VOCABULARY,
        EOS,
        k,
        LONGEST // 2,  # far from where ours would begin to hurry
        threshold,
    )
    if expected is None:
        return False
    (found,) = decode(
        scorer, ["source"], [phrases], max_length=LONGEST, paper=True, beam_size=k, prune=threshold
    )
    assert [*found[0].tokens, EOS] == list(expected.tokens), seed
    assert found[0].score == pytest.approx(expected.score)
    return True


def test_paper_fixes_what_the_paper_fixes() -> None:
    settings = Settings(paper=True, beam_size=5)
    assert {name: getattr(settings, name) for name in PAPER} == dict(PAPER)
    assert (settings.beam_size, settings.prune) == (5, 20.0)
    with pytest.raises(SettingError, match="paper fixes algorithm at 'dba'"):
        Settings(paper=True, algorithm="gbs")
    with pytest.raises(SettingError, match="paper fixes lag at None"):
        Settings(paper=True, lag=2.0)


def test_paper_fixes_the_search_of_texts() -> None:
    settings = TextSettings(paper=True)
    assert settings.ties == "off"
    assert settings.of_search == Settings(word_end=False)
    assert settings.of_drafts.stop == "first"

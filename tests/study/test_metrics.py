from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from lexbeam.errors import MissingExtraError
from lexbeam.study.metrics import Metrics, pearson, slope


def test_a_perfect_text_scores_a_hundred() -> None:
    texts = ["O gato preto sentou no tapete."]
    assert Metrics().score(texts, texts) == (100.0, 100.0)
    quality = Metrics().score(["O cão sentou no tapete."], texts)
    assert 0 < quality.bleu < quality.chrf < 100


def test_the_signatures_say_how_it_is_computed() -> None:
    bleu, chrf = Metrics("pt").signatures(["O gato"])
    assert bleu.startswith("BLEU|")
    assert "tok:13a" in bleu
    assert "smooth:exp" in bleu
    assert chrf.startswith("chrF2|")


@pytest.mark.parametrize(
    ("language", "tokenizer"), [("zh-Hans", "zh"), ("ja", "char"), (None, "13a")]
)
def test_languages_without_spaces_are_cut_otherwise(language: str | None, tokenizer: str) -> None:
    assert f"tok:{tokenizer}" in Metrics(language).signatures(["猫が好き"])[0]


def test_without_sacrebleu_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(MissingExtraError, match=r"lexbeam\[study\]"):
        Metrics()


def test_correlation_and_slope_are_numpys() -> None:
    random = np.random.default_rng(0)
    xs, ys = random.random(20).tolist(), random.random(20).tolist()
    assert pearson(xs, ys) == pytest.approx(np.corrcoef(xs, ys)[0, 1])
    assert slope(xs, ys) == pytest.approx(np.polyfit(xs, ys, 1)[0])


def test_what_does_not_vary_correlates_with_nothing() -> None:
    assert math.isnan(pearson([1.0, 1.0], [1.0, 2.0]))
    assert math.isnan(pearson([1.0], [1.0]))
    assert math.isnan(slope([1.0, 1.0], [1.0, 2.0]))


def test_a_difference_may_be_chance_or_not() -> None:
    references = [f"a sentence number {i} with some words in it" for i in range(30)]
    worse = [reference.replace("some words", "other things") for reference in references]
    nearly = [references[0].replace("some", "a few"), *references[1:]]
    assert Metrics().p_value(worse, references, references) < 0.01
    assert Metrics().p_value(nearly, references, references) > 0.05
    assert Metrics().p_value(worse, nearly, references) == Metrics().p_value(
        worse, nearly, references
    )

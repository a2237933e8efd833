"""BLEU and chrF by sacreBLEU, with the signatures that say how they were computed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from lexbeam.errors import MissingExtraError
from lexbeam.text.languages import UNSPACED_LANGUAGES


class Quality(NamedTuple):
    """BLEU and chrF of a text, from 0 to 100."""

    bleu: float
    chrf: float


class Metrics:
    """sacreBLEU with the tokenizer that suits a target language."""

    def __init__(self, language: str | None = None) -> None:
        try:
            from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415
            from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("measuring BLEU", "study") from error
        base = (language or "").replace("_", "-").split("-")[0].lower()
        # 13a is the default and the paper's, but it can't split text that has no spaces.
        tokenizer = "char" if base in UNSPACED_LANGUAGES else "13a"
        self._make_bleu: Any = partial(BLEU, tokenize="zh" if base == "zh" else tokenizer)
        self._bleu: Any = self._make_bleu()
        self._chrf: Any = CHRF()

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Quality:
        """Return the scores of a whole text, rounded to two decimals."""
        bleu, chrf = (
            metric.corpus_score(list(outputs), [list(references)]).score
            for metric in (self._bleu, self._chrf)
        )
        return Quality(round(bleu, 2), round(chrf, 2))

    def p_value(
        self, outputs: Sequence[str], others: Sequence[str], references: Sequence[str]
    ) -> float:
        """Return the probability that the choice of sentences explains the difference in BLEU.

        By paired bootstrap resampling with 1,000 samples and sacreBLEU's seed.
        """
        from sacrebleu.significance import PairedTest  # noqa: PLC0415

        systems: Any = [("others", list(others)), ("outputs", list(outputs))]
        test = PairedTest(systems, {"BLEU": self._make_bleu()}, [list(references)], "bs", 1000)
        _, scores = test()
        return round(float(scores["BLEU"][1].p_value), 4)  # type: ignore[union-attr,arg-type]

    def signatures(self, references: Sequence[str]) -> list[str]:
        """Return sacreBLEU's signatures of BLEU and chrF."""
        line = list(references[:1]) or [""]
        signatures = []
        for metric in (self._bleu, self._chrf):
            name = metric.corpus_score(line, [line]).name  # a signature exists after the first use
            signatures.append(f"{name}|{metric.get_signature().format()}")
        return signatures


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Pearson's correlation, or NaN if a row is constant or has fewer than two numbers."""
    try:
        return statistics.correlation(xs, ys)
    except statistics.StatisticsError:
        return math.nan


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return how much y grows with x, by least squares, or NaN if x is constant."""
    try:
        return statistics.linear_regression(xs, ys).slope
    except statistics.StatisticsError:
        return math.nan

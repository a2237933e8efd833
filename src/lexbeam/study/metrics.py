"""BLEU and chrF by sacreBLEU, with the signatures that say how they were computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from lexbeam.errors import MissingExtraError
from lexbeam.text.spelling import UNSPACED_LANGUAGES


class Quality(NamedTuple):
    """How near outputs are to their references, in the usual points from 0 to 100."""

    bleu: float
    chrf: float


class Metrics:
    """sacreBLEU, set up for a target language."""

    def __init__(self, language: str | None = None) -> None:
        try:
            from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415
            from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError("measuring BLEU", "study") from error
        base = (language or "").replace("_", "-").split("-")[0].lower()
        # 13a is sacreBLEU's and the paper's; it can't part words that are not apart.
        tokenizer = "char" if base in UNSPACED_LANGUAGES else "13a"
        self._make_bleu: Any = partial(BLEU, tokenize="zh" if base == "zh" else tokenizer)
        self._bleu: Any = self._make_bleu()
        self._chrf: Any = CHRF()

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Quality:
        """Return the scores of a whole text, rounded as they are printed."""
        bleu, chrf = (
            metric.corpus_score(list(outputs), [list(references)]).score
            for metric in (self._bleu, self._chrf)
        )
        return Quality(round(bleu, 2), round(chrf, 2))

    def p_value(
        self, outputs: Sequence[str], others: Sequence[str], references: Sequence[str]
    ) -> float:
        """Return how likely so great a difference in BLEU is by the choice of sentences.

        Paired bootstrap resampling, 1,000 samples, sacreBLEU's seed.
        """
        from sacrebleu.significance import PairedTest  # noqa: PLC0415

        systems: Any = [("others", list(others)), ("outputs", list(outputs))]
        test = PairedTest(systems, {"BLEU": self._make_bleu()}, [list(references)], "bs", 1000)
        _, scores = test()
        return round(float(scores["BLEU"][1].p_value), 4)  # type: ignore[union-attr,arg-type]

    def signatures(self, references: Sequence[str]) -> list[str]:
        """Return what sacreBLEU says about how it computes the two."""
        line = list(references[:1]) or [""]
        signatures = []
        for metric in (self._bleu, self._chrf):
            name = metric.corpus_score(line, [line]).name  # a signature is known after use only
            signatures.append(f"{name}|{metric.get_signature().format()}")
        return signatures


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Pearson's correlation of two rows of numbers; NaN where one of them is constant."""
    count = len(xs)
    if count < 2:
        return math.nan
    mean_x, mean_y = math.fsum(xs) / count, math.fsum(ys) / count
    spread_x = math.fsum((x - mean_x) ** 2 for x in xs)
    spread_y = math.fsum((y - mean_y) ** 2 for y in ys)
    both = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return both / math.sqrt(spread_x * spread_y) if spread_x and spread_y else math.nan


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return by how much y grows with x, by least squares; NaN where x is constant."""
    count = len(xs)
    mean_x, mean_y = math.fsum(xs) / max(count, 1), math.fsum(ys) / max(count, 1)
    spread = math.fsum((x - mean_x) ** 2 for x in xs)
    both = math.fsum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return both / spread if spread else math.nan

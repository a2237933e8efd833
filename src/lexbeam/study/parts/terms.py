"""Terms that compete with the model's own words: do they replace them, or stand beside them?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexbeam.study.competing_terms import (
    CompetingTerm,
    TermCounts,
    count_terms,
    read_competing_terms,
)
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.plan import Plan, signed
from lexbeam.study.report.blocks import Figure, Section, Table, Text, Value
from lexbeam.study.store import Result, digest

WAYS = {"free": "free", "off": "terms, ties off", "ties": "tied terms"}
"""Ways to translate: without the terms, with them as phrases, and tied to their source words."""


@dataclass(frozen=True)
class TranslatedWithTerms:
    """The sentences that have terms, translated in one way with the search of `translate`."""

    path: Path
    way: str
    beam_size: int

    @property
    def name(self) -> str:
        """The way, and the beam."""
        return f"terms-{self.way}-k{self.beam_size}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        terms = digest([self.path.read_bytes()])
        return {"terms": terms, "way": self.way, "beam_size": self.beam_size}

    def terms(self, experiment: Experiment) -> dict[int, list[CompetingTerm]]:
        """The terms of each sentence of the test set that has any."""
        return read_competing_terms(self.path, experiment.text.sources, partly=True)

    def work(self, experiment: Experiment) -> float:
        """Estimate the hypotheses to score; ties take a draft and a beam that is kept wider."""
        share = 1.0 if self.way == "free" else 2.0
        return share * self.beam_size * len(self.terms(experiment))

    def run(self, experiment: Experiment) -> Result:
        """Translate, count and score."""
        terms, text = self.terms(experiment), experiment.text
        asked: list[list[Any]] = [
            [] if self.way == "free" else [{"text": t.term, "source": list(t.span)} for t in these]
            for these in terms.values()
        ]
        experiment.counter.take_counts()
        began = time.process_time()
        outputs = experiment.translator.translate(
            [text.sources[i] for i in terms],
            asked,
            split=False,
            beam_size=self.beam_size,
            ties="on" if self.way == "ties" else "off",
        )
        seconds = time.process_time() - began
        counts, language = TermCounts(), experiment.model.info.get("target_language")
        for (i, these), output in zip(terms.items(), outputs, strict=True):
            counts += count_terms(output.text, text.references[i], these, language)
        texts = [output.text for output in outputs]
        quality = experiment.metrics.score(texts, [text.references[i] for i in terms])
        return {
            "texts": texts,
            "scores": [round(output.score, 6) for output in outputs],
            "rows": experiment.counter.take_counts()[1],
            "seconds": seconds,
            "bleu": quality.bleu,
            "chrf": quality.chrf,
            **counts._asdict(),
        }


class Terms:
    """What ties do: free, terms as phrases, tied terms. Only with a file of terms."""

    name = "terms"

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return the sentences with terms, translated in each way; none without a file."""
        return list(self._cells(plan).values())

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return a comparison of the ways."""
        results = {way: experiment.result(cell) for way, cell in self._cells(plan).items()}
        rows: list[list[Value]] = [
            [
                WAYS[way],
                each["bleu"],
                each["chrf"],
                each["met"],
                _share(each["doubled"], each["terms"]),
                _share(each["agreeing"], each["gendered"]),
                _mean(each["scores"]),
                each["rows"] / max(len(each["texts"]), 1),
            ]
            for way, each in results.items()
        ]
        columns = ["", "BLEU", "chrF", "met", "doubled, %", "right gender, %", "score"]
        columns.append("hypotheses a sentence")
        return Section(
            self.name,
            "Terms that compete with the model's own words",
            [
                Text(_say(results)),
                Table("terms", "Terms and ties", columns, rows, 2),
                Figure("terms", "Terms beside the word they were to replace", _drawer(results)),
            ],
        )

    def show_times(self, plan: Plan, experiment: Experiment) -> Section:
        """Return the time that a sentence takes in each way."""
        rows: list[list[Value]] = []
        for way, cell in self._cells(plan).items():
            result = experiment.result(cell)
            each = 1000 * result["seconds"] / max(len(result["texts"]), 1)
            rows.append([WAYS[way], len(result["texts"]), each])
        table = Table("terms-times", "In batches", ["", "sentences", "ms a sentence"], rows)
        about = "Processor time of a sentence with terms that compete with the model's own words."
        return Section("terms-times", "Terms and ties", [Text(about), table])

    def _cells(self, plan: Plan) -> dict[str, TranslatedWithTerms]:
        if plan.terms is None:
            return {}
        return {way: TranslatedWithTerms(plan.terms, way, plan.usual_beam) for way in WAYS}


def _say(results: Mapping[str, Result]) -> str:
    off, ties = results["off"], results["ties"]
    return (
        f"{off['terms']:,} terms in {len(off['texts']):,} sentences are words of the reference "
        "that the model would not have used. A term that stands beside the model's own word, "
        f"which the reference does not have, is doubled: {off['doubled']:,} of the terms as "
        f"phrases, {ties['doubled']:,} of those that are tied to their source words. Ties change "
        f"BLEU by {signed(ties['bleu'] - off['bleu'])}. Gender is that of the Portuguese word "
        "before a term, where output and reference both show one. The search is that of "
        "`translate`, not the paper's; scores are mean log-probabilities."
    )


def _drawer(results: Mapping[str, Result]) -> Any:
    def draw(axes: Any) -> None:
        names = [WAYS[way] for way in results]
        axes.bar(
            names, [_share(each["doubled"], each["terms"]) or 0.0 for each in results.values()]
        )
        axes.set_ylabel("doubled, %")

    return draw


def _share(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None

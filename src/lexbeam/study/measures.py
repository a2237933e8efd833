"""What is measured of a model: a set translated with one setting, its time, its references."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lexbeam.errors import SettingError
from lexbeam.search.allocation import POLICIES
from lexbeam.search.beam_search import decode
from lexbeam.study import sets
from lexbeam.study.bench import Bench
from lexbeam.study.store import Result
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import SettingsArguments

GROWING = tuple(name for name, policy in POLICIES.items() if policy.beam_per_bank)
"""Algorithms whose beam size is that of each bank; the beam grows with the constraints."""


@dataclass(frozen=True)
class Setting:
    """How to search. The defaults are the paper's."""

    algorithm: str = "dba"
    beam_size: int = 10
    prune: float = 20.0
    stop: str = "all"
    lag: float = 0.0

    @property
    def name(self) -> str:
        """The setting in short, what is as usual left out."""
        name = f"{self.algorithm}-k{self.beam_size}"
        for field, usual in (("prune", 20.0), ("stop", "all"), ("lag", 0.0)):
            value = getattr(self, field)
            if value != usual:
                name += f"-{field}-{value:g}" if isinstance(value, float) else f"-{field}-{value}"
        return name

    def arguments(self) -> SettingsArguments:
        """The setting as `Translator.translate` takes it."""
        return {
            "algorithm": self.algorithm,
            "beam_size": self.beam_size,
            "prune": self.prune,
            "stop": self.stop,
            "lag": self.lag,
        }

    def width(self, words: int) -> float:
        """About how many hypotheses there are on the beam with so many words demanded."""
        banks = POLICIES[self.algorithm].usual_banks(words)
        return self.beam_size * banks * (1.0 if self.prune else 2.5)


@dataclass(frozen=True)
class Translated:
    """The test set, or so many sentences of it, translated with the constraints of a set."""

    set_name: str
    setting: Setting
    sentences: int | None = None

    @property
    def name(self) -> str:
        """What it is."""
        part = f"-of-{self.sentences}" if self.sentences else ""
        return f"{self.set_name}-{self.setting.name}{part}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {"set": self.set_name, "sentences": self.sentences, **asdict(self.setting)}

    def chosen(self, bench: Bench) -> list[int]:
        """The sentences that are translated."""
        count = len(bench.text.sources)
        return spread_out(count, self.sentences or count)

    def phrases(self, bench: Bench) -> list[list[str]]:
        """The constraints of each sentence."""
        return bench.constraints(self.set_name)

    def cost(self, bench: Bench) -> float:
        """About what it takes."""
        return len(self.chosen(bench)) * self.setting.width(sets.parse(self.set_name)[1])

    def run(self, bench: Bench) -> Result:
        """Translate and score; where an algorithm can't do it, say why."""
        phrases, chosen = self.phrases(bench), self.chosen(bench)
        bench.counter.count()
        try:
            outputs = bench.translate(phrases, self.setting.arguments(), chosen)
        except SettingError as error:
            if self.setting.algorithm not in GROWING:
                raise
            return {"refused": str(error)}
        _, rows = bench.counter.count()
        asked = [phrases[i] for i in chosen]
        references = [bench.text.references[i] for i in chosen]
        return {"rows": rows, **_summary(bench, outputs, asked, references)}


def _summary(
    bench: Bench,
    outputs: Sequence[Translation],
    phrases: Sequence[Sequence[str]],
    references: Sequence[str],
) -> Result:
    texts = [output.text for output in outputs]
    met = [sets.count_met(text, these) for text, these in zip(texts, phrases, strict=True)]
    quality = bench.metrics.score(texts, references)
    return {
        "texts": texts,
        "scores": [round(output.score, 6) for output in outputs],
        "asked": sum(map(len, phrases)),
        "met": sum(met),
        "missed": [i for i, these in enumerate(phrases) if met[i] < len(these)],
        "bleu": quality.bleu,
        "chrf": quality.chrf,
    }


@dataclass(frozen=True)
class Compared:
    """Whether two ways to translate a set differ in BLEU by more than chance."""

    one: Translated
    other: Translated

    @property
    def name(self) -> str:
        """What it is."""
        return f"compare-{self.one.name}-{self.other.name}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {"one": self.one.key(), "other": self.other.key()}

    def cost(self, bench: Bench) -> float:
        """About what it takes: little."""
        return len(bench.text.sources)

    def run(self, bench: Bench) -> Result:
        """Resample."""
        one, other = bench.result(self.one), bench.result(self.other)
        if "refused" in one or "refused" in other:
            return {"p": None}
        return {"p": bench.metrics.p_value(one["texts"], other["texts"], bench.text.references)}


@dataclass(frozen=True)
class Timed:
    """Some sentences translated one by one: what it takes, in work and in time.

    The work, steps and hypotheses priced, is the same on every machine and every day. Time is
    processor time: on one thread it is that of an idle machine.
    """

    set_name: str
    setting: Setting
    sentences: int

    @property
    def name(self) -> str:
        """What it is."""
        return f"time-{self.set_name}-{self.setting.name}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {"set": self.set_name, "sentences": self.sentences, **asdict(self.setting)}

    def cost(self, bench: Bench) -> float:
        """About what it takes; sentences that are alone take longer."""
        sentences = min(self.sentences, len(bench.text.sources))
        return 2 * sentences * self.setting.width(sets.parse(self.set_name)[1])

    def run(self, bench: Bench) -> Result:
        """Translate sentence by sentence."""
        phrases = bench.constraints(self.set_name)
        chosen = spread_out(len(bench.text.sources), self.sentences)
        settings: SettingsArguments = {**self.setting.arguments(), "batch_size": 1}
        try:
            bench.translate(phrases, settings, chosen[:2])  # warm up
            bench.counter.count()
            began = time.process_time()
            bench.translate(phrases, settings, chosen)
            seconds = time.process_time() - began
        except SettingError as error:
            if self.setting.algorithm not in GROWING:
                raise
            return {"refused": str(error)}
        steps, rows = bench.counter.count()
        tokens = bench.token_counts([phrases[i] for i in chosen])
        return {
            "sentences": len(chosen),
            "tokens": sum(tokens) / len(chosen),
            "steps": steps,
            "rows": rows,
            "seconds": seconds,
        }


def spread_out(count: int, wanted: int) -> list[int]:
    """Choose sentences evenly over a text."""
    wanted = min(count, wanted)
    return [i * count // wanted for i in range(wanted)]


@dataclass(frozen=True)
class Forced:
    """What the model thinks of the references themselves."""

    name = "references"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on: nothing else."""
        return {}

    def cost(self, bench: Bench) -> float:
        """One hypothesis each."""
        return len(bench.text.sources)

    def run(self, bench: Bench) -> Result:
        """Make the model say the references, and note what it gives for them."""
        scores: list[float] = []
        model, target = bench.model, bench.target
        for source, reference in zip(bench.text.sources, bench.text.references, strict=True):
            prefix = target.spell_prefix(reference).ids
            (best, *_), *_ = decode(
                model.engine,
                [model.encode(source)],
                prefix=[list(prefix)],
                beam_size=1,
                max_length=len(prefix),
            )
            scores.append(round(best.score, 6))
        bench.counter.count()
        return {"scores": scores}

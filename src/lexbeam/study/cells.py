"""What is measured: sets translated or timed with one setting, comparisons, references."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lexbeam.errors import SettingError
from lexbeam.search.allocation import POLICIES
from lexbeam.search.beam_search import decode
from lexbeam.study.constraint_sets import count_met, parse_set_name
from lexbeam.study.experiment import Experiment
from lexbeam.study.store import Result
from lexbeam.translation.results import Translation
from lexbeam.translation.settings import SettingsArguments


def grows(algorithm: str) -> bool:
    """Return whether an algorithm gives ``beam_size`` slots to each bank: its beam grows."""
    return POLICIES[algorithm].beam_per_bank


@dataclass(frozen=True)
class Setting:
    """The settings of a search. The defaults are the paper's."""

    algorithm: str = "dba"
    beam_size: int = 10
    prune: float = 20.0
    stop: str = "all"
    lag: float = 0.0

    @property
    def name(self) -> str:
        """The setting in short: what has its default is left out."""
        name = f"{self.algorithm}-k{self.beam_size}"
        for field, default in (("prune", 20.0), ("stop", "all"), ("lag", 0.0)):
            value = getattr(self, field)
            if value != default:
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

    def expected_beam(self, words: int) -> float:
        """Estimate how many hypotheses are on the beam with so many words as constraints."""
        banks = POLICIES[self.algorithm].usual_banks(words)
        return self.beam_size * banks * (1.0 if self.prune else 2.5)


@dataclass(frozen=True)
class SetWithSetting:
    """A constraint set and a setting to search with, for some sentences or for all (None)."""

    set_name: str
    setting: Setting
    sentences: int | None = None

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {"set": self.set_name, "sentences": self.sentences, **asdict(self.setting)}

    def chosen(self, experiment: Experiment) -> list[int]:
        """The indices of the sentences, spread evenly over the test set."""
        count = len(experiment.text.sources)
        return choose_evenly(count, self.sentences or count)


@dataclass(frozen=True)
class Translated(SetWithSetting):
    """Sentences translated with the constraints of a set."""

    @property
    def name(self) -> str:
        """The set, the setting and the number of sentences if it is not all."""
        part = f"-of-{self.sentences}" if self.sentences else ""
        return f"{self.set_name}-{self.setting.name}{part}"

    def phrases(self, experiment: Experiment) -> list[list[str]]:
        """The constraints of each sentence of the test set."""
        return experiment.constraints(self.set_name)

    def work(self, experiment: Experiment) -> float:
        """Estimate the hypotheses to score."""
        words = parse_set_name(self.set_name)[1]
        return len(self.chosen(experiment)) * self.setting.expected_beam(words)

    def run(self, experiment: Experiment) -> Result:
        """Translate and score. If an algorithm can't do it, the result says why."""
        phrases, chosen = self.phrases(experiment), self.chosen(experiment)
        experiment.counter.take_counts()
        try:
            outputs = experiment.translate(phrases, self.setting.arguments(), chosen)
        except SettingError as error:
            if not grows(self.setting.algorithm):
                raise
            return {"refused": str(error)}
        _, rows = experiment.counter.take_counts()
        asked = [phrases[i] for i in chosen]
        references = [experiment.text.references[i] for i in chosen]
        return {"rows": rows, **_summary(experiment, outputs, asked, references)}


def _summary(
    experiment: Experiment,
    outputs: Sequence[Translation],
    phrases: Sequence[Sequence[str]],
    references: Sequence[str],
) -> Result:
    texts = [output.text for output in outputs]
    met = [count_met(text, these) for text, these in zip(texts, phrases, strict=True)]
    quality = experiment.metrics.score(texts, references)
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
    """Whether the difference in BLEU between two translations of a set is chance."""

    one: Translated
    other: Translated

    @property
    def name(self) -> str:
        """The names of both."""
        return f"compare-{self.one.name}-{self.other.name}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {"one": self.one.key(), "other": self.other.key()}

    def work(self, experiment: Experiment) -> float:
        """Return little: nothing is translated."""
        return len(experiment.text.sources)

    def run(self, experiment: Experiment) -> Result:
        """Resample the sentences."""
        one, other = experiment.result(self.one), experiment.result(self.other)
        if "refused" in one or "refused" in other:
            return {"p": None}
        references = experiment.text.references
        return {"p": experiment.metrics.p_value(one["texts"], other["texts"], references)}


@dataclass(frozen=True)
class Timed(SetWithSetting):
    """The work and the time that some sentences take, translated one by one.

    The work is the number of steps and of hypotheses scored. It is the same on every machine.
    The time is processor time: with one thread, other programs hardly add to it.
    """

    @property
    def name(self) -> str:
        """The set and the setting."""
        return f"time-{self.set_name}-{self.setting.name}"

    def work(self, experiment: Experiment) -> float:
        """Estimate the hypotheses to score; twice, since a sentence alone takes longer."""
        words = parse_set_name(self.set_name)[1]
        return 2 * len(self.chosen(experiment)) * self.setting.expected_beam(words)

    def run(self, experiment: Experiment) -> Result:
        """Translate sentence by sentence."""
        phrases, chosen = experiment.constraints(self.set_name), self.chosen(experiment)
        settings: SettingsArguments = {**self.setting.arguments(), "batch_size": 1}
        try:
            experiment.translate(phrases, settings, chosen[:2])  # warm up
            experiment.counter.take_counts()
            began = time.process_time()
            experiment.translate(phrases, settings, chosen)
            seconds = time.process_time() - began
        except SettingError as error:
            if not grows(self.setting.algorithm):
                raise
            return {"refused": str(error)}
        steps, rows = experiment.counter.take_counts()
        tokens = experiment.token_counts([phrases[i] for i in chosen])
        return {
            "sentences": len(chosen),
            "tokens": sum(tokens) / len(chosen),
            "steps": steps,
            "rows": rows,
            "seconds": seconds,
        }


@dataclass(frozen=True)
class ForcedReferences:
    """The model's scores for the references themselves, by forced decoding."""

    name = "references"

    def key(self) -> Mapping[str, Any]:
        """The result depends on model and text only."""
        return {}

    def work(self, experiment: Experiment) -> float:
        """One hypothesis per sentence."""
        return len(experiment.text.sources)

    def run(self, experiment: Experiment) -> Result:
        """Force the model to write each reference, and keep the score."""
        scores: list[float] = []
        model, target, text = experiment.model, experiment.target, experiment.text
        for source, reference in zip(text.sources, text.references, strict=True):
            prefix = target.spell_prefix(reference).ids
            (best, *_), *_ = decode(
                model.engine,
                [model.encode(source)],
                prefix=[list(prefix)],
                beam_size=1,
                max_length=len(prefix),
            )
            scores.append(round(best.score, 6))
        experiment.counter.take_counts()
        return {"scores": scores}


def choose_evenly(count: int, wanted: int) -> list[int]:
    """Return the indices of so many sentences, spread evenly over a text."""
    wanted = min(count, wanted)
    return [i * count // wanted for i in range(wanted)]

"""What is on the beam at every step: how much of it is garbage (paper, section 3.3).

A hypothesis that ends late, or never, stays on the beam long after the best output has ended.
An observer of the search counts, step by step, how many such hypotheses there are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lexbeam.search.beam import Beam, History, Hypothesis
from lexbeam.search.beam_search import decode
from lexbeam.search.candidates import ObservedStep
from lexbeam.study.cells import SetWithSetting
from lexbeam.study.experiment import Experiment
from lexbeam.study.store import Result

SHOWN = 10
"""How many hypotheses of a beam are shown at most."""


@dataclass(frozen=True)
class ObservedSearches(SetWithSetting):
    """Sentences searched one by one, with the size of the beam at every step."""

    @property
    def name(self) -> str:
        """The set and the setting."""
        return f"watch-{self.set_name}-{self.setting.name}"

    def work(self, experiment: Experiment) -> float:
        """Estimate the hypotheses to score; twice, since a sentence alone takes longer."""
        return 2 * len(self.chosen(experiment)) * self.setting.expected_beam(1)

    def run(self, experiment: Experiment) -> Result:
        """Search sentence by sentence."""
        phrases = experiment.constraints(self.set_name)
        searches = [self._search(experiment, i, phrases[i]) for i in self.chosen(experiment)]
        experiment.counter.take_counts()
        return {"searches": searches}

    def _search(self, experiment: Experiment, sentence: int, phrases: list[str]) -> Result:
        model, target = experiment.model, experiment.target
        source = model.encode(experiment.text.sources[sentence])
        ids = [list(target.spell(phrase).ids) for phrase in phrases]
        limit = 2 * len(source) + 20 + 2 * sum(map(len, ids))  # as the translator has it
        boundary, closing = target.masks(model.engine.vocabulary_size)
        observer = BeamObserver()
        (best, *_), *_ = decode(
            model.engine,
            [source],
            [ids],
            max_length=limit,
            boundary=boundary,
            closing=closing,
            observer=observer,
            **asdict(self.setting),
        )
        return {
            "sentence": sentence,
            "limit": limit,
            "ended": len(best.tokens),
            "live": observer.live,
            "finished": observer.finished,
            "beam": observer.last_beam(experiment, best),
        }


class BeamObserver:
    """Counts the live and finished hypotheses of one sentence at every step."""

    def __init__(self) -> None:
        self.live: list[int] = []
        self.finished: list[int] = []
        self._history = History()
        self._last: tuple[int, Beam] | None = None

    def __call__(self, moment: ObservedStep) -> None:
        """Count one step."""
        beam = moment.beam
        self._history.record(moment.sentences, beam)
        self.live.append(int(beam.live.sum()))
        self.finished.append(int(beam.finished.sum()))
        if beam.live.any():
            self._last = moment.step, beam

    def last_beam(self, experiment: Experiment, best: Hypothesis) -> list[dict[str, Any]]:
        """Return the best output, and the hypotheses of the last beam that had live ones."""
        shown = [_shown(experiment, best.tokens, best.log_prob, True)]
        if self._last is not None:
            step, beam = self._last
            slots = [slot for slot in range(beam.token.shape[1]) if beam.live[0, slot]]
            for slot in sorted(slots, key=lambda slot: -float(beam.log_prob[0, slot])):
                tokens, _ = self._history.backtrace(0, step, slot)
                shown.append(_shown(experiment, tokens, float(beam.log_prob[0, slot]), False))
        return shown[:SHOWN]


def _shown(
    experiment: Experiment, tokens: list[int], log_prob: float, finished: bool
) -> dict[str, Any]:
    return {
        "text": experiment.target.decode(tokens),
        "tokens": len(tokens),
        "log_prob": round(log_prob, 3),
        "finished": finished,
    }

"""Watching the beam: how much of it is garbage (paper, section 3.3 and its discussion).

A hypothesis that ends late, or never, is carried along long after the best output is there.
The search is watched step by step to count how many of those there are and how long they live.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lexbeam.search.beam import Beam, History, Hypothesis
from lexbeam.search.beam_search import decode
from lexbeam.search.candidates import ObservedStep
from lexbeam.study.bench import Bench
from lexbeam.study.measures import Setting, spread_out
from lexbeam.study.store import Result

SHOWN = 10
"""Hypotheses of the example beam."""


@dataclass(frozen=True)
class Watched:
    """Some sentences of a set searched, and their beams counted at every step."""

    set_name: str
    setting: Setting
    sentences: int

    @property
    def name(self) -> str:
        """What it is."""
        return f"watch-{self.set_name}-{self.setting.name}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {"set": self.set_name, "sentences": self.sentences, **asdict(self.setting)}

    def cost(self, bench: Bench) -> float:
        """About what it takes; sentences that are alone take longer."""
        return 2 * min(self.sentences, len(bench.text.sources)) * self.setting.width(1)

    def run(self, bench: Bench) -> Result:
        """Search sentence by sentence."""
        phrases = bench.constraints(self.set_name)
        chosen = spread_out(len(bench.text.sources), self.sentences)
        searches = [self._search(bench, i, phrases[i]) for i in chosen]
        bench.counter.count()
        return {"searches": searches}

    def _search(self, bench: Bench, sentence: int, phrases: list[str]) -> Result:
        source = bench.model.encode(bench.text.sources[sentence])
        ids = [list(bench.target.spell(phrase).ids) for phrase in phrases]
        limit = 2 * len(source) + 20 + 2 * sum(map(len, ids))  # as the translator has it
        boundary, closing = bench.target.masks(bench.model.engine.vocabulary_size)
        watcher = Watcher()
        (best, *_), *_ = decode(
            bench.model.engine,
            [source],
            [ids],
            max_length=limit,
            boundary=boundary,
            closing=closing,
            observer=watcher,
            **asdict(self.setting),
        )
        return {
            "sentence": sentence,
            "limit": limit,
            "ended": len(best.tokens),
            "live": watcher.live,
            "finished": watcher.finished,
            "beam": watcher.last_beam(bench, best),
        }


class Watcher:
    """Notes what is on the beam of a single sentence at every step."""

    def __init__(self) -> None:
        self.live: list[int] = []
        self.finished: list[int] = []
        self._history = History()
        self._last: tuple[int, Beam] | None = None

    def __call__(self, observed: ObservedStep) -> None:
        """Note one step."""
        beam = observed.beam
        self._history.record(observed.sentences, beam)
        self.live.append(int(beam.live.sum()))
        self.finished.append(int(beam.finished.sum()))
        if beam.live.any():
            self._last = observed.step, beam

    def last_beam(self, bench: Bench, best: Hypothesis) -> list[dict[str, Any]]:
        """Return the best output, and what was unfinished to the last."""
        shown = [_shown(bench, best.tokens, best.log_prob, True)]
        if self._last is not None:
            step, beam = self._last
            slots = [slot for slot in range(beam.token.shape[1]) if beam.live[0, slot]]
            for slot in sorted(slots, key=lambda slot: -float(beam.log_prob[0, slot])):
                tokens, _ = self._history.backtrace(0, step, slot)
                shown.append(_shown(bench, tokens, float(beam.log_prob[0, slot]), False))
        return shown[:SHOWN]


def _shown(bench: Bench, tokens: list[int], log_prob: float, finished: bool) -> dict[str, Any]:
    return {
        "text": bench.target.decode(tokens),
        "tokens": len(tokens),
        "log_prob": round(log_prob, 3),
        "finished": finished,
    }

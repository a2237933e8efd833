"""What a study varies: sets, beams, algorithms. And what a part of a study is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lexbeam import plugins
from lexbeam.errors import SettingError
from lexbeam.plugins import load_plugins
from lexbeam.search.allocation import POLICIES
from lexbeam.search.settings import at_least
from lexbeam.study.cells import Setting, Translated
from lexbeam.study.constraint_sets import PAPER_SETS, parse_set_name
from lexbeam.study.experiment import Cell, Experiment
from lexbeam.study.report.blocks import Section

FEW_SENTENCES = 200
"""Of fewer sentences a report shows figures and draws no conclusions: most are chance."""

UNCONSTRAINED = "none"
"""The set without constraints."""


def constrained_algorithms() -> list[str]:
    """Return the algorithms that place constraints by banks."""
    return [name for name, policy in POLICIES.items() if policy.has_banks]


@dataclass(frozen=True)
class Plan:
    """The values that a study tries.

    All parts study the first algorithm; some compare the others with it. A part that varies one
    thing uses ``usual_beam`` and ``lag`` for the rest. ``lag`` is 0, as in the paper, while
    `Translator.translate` uses 3.
    """

    algorithms: tuple[str, ...] = ("dba", "lookahead")
    beams: tuple[int, ...] = (5, 10, 20, 30)
    usual_beam: int = 10
    wide_beam: int = 100
    oracle_sentences: int = 250
    lag: float = 0.0
    sets: tuple[str, ...] = PAPER_SETS
    speed_sentences: int = 100
    speed_words: tuple[int, ...] = (0, 1, 2, 3, 4, 6, 8)
    speed_beams: tuple[int, ...] = (5, 10, 20)
    gbs_bases: tuple[int, ...] = (1, 5, 10)
    parallel: Path | None = None
    entities: Path | None = None
    terms: Path | None = None

    def __post_init__(self) -> None:
        for algorithm in self.algorithms:
            if algorithm not in POLICIES:
                load_plugins(plugins.POLICIES)
            if algorithm not in constrained_algorithms():
                known = ", ".join(constrained_algorithms())
                raise SettingError(f"unknown algorithm {algorithm!r}: there are {known}")
        if not self.algorithms or not self.beams or not self.sets:
            raise SettingError("a study needs at least one algorithm, one beam size and one set")
        for beam in self.beams:
            at_least(1, "beams", beam)
        for name in self.sets:
            parse_set_name(name)

    @property
    def constrained_sets(self) -> list[str]:
        """The sets that have constraints."""
        return [name for name in self.sets if name != UNCONSTRAINED]

    def setting(self, **changes: Any) -> Setting:
        """Return the usual setting of the study, with changes."""
        usual = {
            "algorithm": self.algorithms[0],
            "beam_size": self.usual_beam,
            "lag": self.lag,
        }
        return Setting(**{**usual, **changes})

    def cell(self, set_name: str, **changes: Any) -> Translated:
        """Return the cell of a set translated with the usual setting and changes.

        Without constraints all algorithms are plain beam search, which is measured only once.
        """
        if set_name == UNCONSTRAINED:
            changes["algorithm"] = "beam"
        return Translated(set_name, self.setting(**changes))


class Part(Protocol):
    """A part of a study: the cells it needs, and a section of the report."""

    name: str

    def cells(self, plan: Plan) -> Sequence[Cell]:
        """Return the cells that the section needs."""
        ...

    def show(self, plan: Plan, experiment: Experiment) -> Section:
        """Return the section of the report. All cells have been measured."""
        ...


def signed(number: float, decimals: int = 1) -> str:
    """Return a number as text, always with its sign."""
    return f"{number:+.{decimals}f}".replace("-", "−")


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

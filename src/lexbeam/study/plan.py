"""What a study looks at: which sets, beams, algorithms; and what a part of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lexbeam.errors import SettingError
from lexbeam.search.allocation import POLICIES
from lexbeam.study.bench import Bench, Measurable
from lexbeam.study.blocks import Section
from lexbeam.study.measures import Setting, Translated
from lexbeam.study.sets import PAPER_SETS, parse

FREE = "none"
"""The set without constraints."""

CONSTRAINED = tuple(name for name, policy in POLICIES.items() if policy.has_banks)
"""The algorithms that place constraints by banks."""


@dataclass(frozen=True)
class Plan:
    """What is varied, and what is kept as it is meanwhile.

    The first algorithm is the one that all parts look at; the others are compared with it
    where that matters. ``lag`` is 0, as in the paper; translation of text uses 3.
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

    def __post_init__(self) -> None:
        for algorithm in self.algorithms:
            if algorithm not in CONSTRAINED:
                known = ", ".join(CONSTRAINED)
                raise SettingError(f"unknown algorithm {algorithm!r}: there are {known}")
        if not self.algorithms or not self.beams:
            raise SettingError("a study needs at least one algorithm and one beam size")
        for name in self.sets:
            parse(name)

    @property
    def demanding(self) -> list[str]:
        """The sets that demand something."""
        return [name for name in self.sets if name != FREE]

    def setting(self, **changes: Any) -> Setting:
        """Return the usual setting of the study, with changes."""
        usual = {
            "algorithm": self.algorithms[0],
            "beam_size": self.usual_beam,
            "lag": self.lag,
        }
        return Setting(**{**usual, **changes})

    def cell(self, set_name: str, **changes: Any) -> Translated:
        """Return a set translated with the usual setting and changes.

        Without constraints all algorithms are plain beam search: it is measured once.
        """
        if set_name == FREE:
            changes["algorithm"] = "beam"
        return Translated(set_name, self.setting(**changes))


class Part(Protocol):
    """A part of a study: what has to be measured, and what is to be said about it."""

    name: str

    def cells(self, plan: Plan) -> Sequence[Measurable]:
        """What the part rests on."""
        ...

    def show(self, plan: Plan, bench: Bench) -> Section:
        """Write the part up. Everything it rests on has been measured."""
        ...


def signed(number: float, decimals: int = 1) -> str:
    """Return a difference with its sign."""
    return f"{number:+.{decimals}f}".replace("-", "−")


def listed(names: Sequence[str]) -> str:
    """Return names as they are listed in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

"""The settings of a translation: those of the search, and how texts are cut up for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from lexbeam.arguments import as_pairs
from lexbeam.errors import SettingError, represented
from lexbeam.search.settings import MOST_TOKENS, PAPER, Settings, choice, count, flag
from lexbeam.search.settings import SettingsArguments as SearchArguments

DRAFT_BEAM = 2
"""Beam of a draft: enough to compare the sentences a phrase could go to."""


@dataclass(frozen=True)
class TextSettings(Settings):
    """How to search, and how to cut texts up for it.

    The default ``algorithm`` here is ``lookahead``, which finds better outputs than the paper's
    with the same beam (docs/findings.md).
    A ``lag`` of 3 is the default here: half of the hypotheses need not be scored then, for next
    to no loss of BLEU. A sentence is done when nothing is ``likely`` to be better.
    ``max_length`` limits the tokens of a sentence's translation; None allows as many as the
    source and the constraints call for. ``split`` cuts texts into sentences; without it a text is
    cut only at line breaks and where it is too long for the model. ``prices`` asks what each
    constraint costs, which takes one more search for each. ``ties`` makes constraints of which
    the source is known replace what the model would say for it (docs/terms.md). ``alignments`` asks
    which words translate which, of a model that says where it attends.
    """

    algorithm: str = "lookahead"
    lag: float | None = 3.0
    stop: str = "likely"
    max_length: int | None = count(None, "Most tokens in a translated sentence.", MOST_TOKENS)
    batch_size: int = count(32, "Sentences searched together.")
    split: bool = flag(True, "Cut texts into sentences, or take each as one.")
    prices: bool = flag(False, "Say what each constraint costs, in log-probability.")
    alignments: bool = flag(False, "Say which words translate which.")
    ties: str = choice(
        "on", ("on", "off"), "Whether a term replaces what the model would say for its source."
    )

    fixed = MappingProxyType({**PAPER, "ties": "off"})

    @cached_property
    def of_search(self) -> Settings:
        """The settings of the search alone; sentences for which they are equal share batches."""
        chosen = {each.name: getattr(self, each.name) for each in fields(Settings)}
        return Settings(**{**chosen, "paper": False})  # what it fixes is chosen by now

    @cached_property
    def of_drafts(self) -> Settings:
        """The settings of a quick search, to compare where a phrase could go."""
        beam_size = min(self.beam_size, DRAFT_BEAM)
        return replace(self.of_search, beam_size=beam_size, nbest=1, stop="first")


class SettingsArguments(SearchArguments, total=False):
    """The fields of `TextSettings` as keyword arguments, for type checkers."""

    max_length: int | None
    batch_size: int
    split: bool
    prices: bool
    alignments: bool
    ties: str


def _name(given: object) -> str:
    return given if isinstance(given, str) else represented(given)


def read_settings(given: TextSettings | Mapping[str, Any] | None) -> TextSettings:
    """Return settings that were given by their names.

    Raises:
        SettingError: one is unknown or out of range.
    """
    if isinstance(given, TextSettings):
        return given
    pairs = [] if given is None else as_pairs(given)
    if pairs is None:
        raise SettingError(f"settings must be given by their names, not as {represented(given)}")
    named = dict(pairs)
    unknown = named.keys() - TextSettings.__dataclass_fields__.keys()
    if unknown:
        raise SettingError(
            f"unknown setting {', '.join(sorted(map(_name, unknown)))}: "
            f"there are {', '.join(TextSettings.__dataclass_fields__)}"
        )
    return TextSettings(**named)

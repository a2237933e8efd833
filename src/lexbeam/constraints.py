"""What a user asks for, as text: phrases that must appear, must not, or begin the output.

Nothing here knows tokens or models. Whatever comes in, from Python or from JSON, leaves as
``Constraints``: clean phrases that don't contradict each other, or as one ``ConstraintError``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexbeam.errors import ConstraintError
from lexbeam.spans import contains

_SHOWN = 60  # characters of a phrase quoted in an error


@dataclass(frozen=True)
class Constraints:
    """What the translation of one text has to keep to.

    The phrases must appear as whole words (one given twice, twice); what is avoided must not.
    The prefix is what the translation begins with and may end in the middle of a word.
    """

    phrases: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    prefix: str = ""

    def __post_init__(self) -> None:
        for avoided in self.avoid:
            for demanded in (*self.phrases, self.prefix):
                if contains(demanded, avoided):
                    raise ConstraintError(
                        f"{quoted(avoided)} is avoided, but {quoted(demanded)} is demanded: "
                        "drop one of them"
                    )

    @classmethod
    def build(
        cls, phrases: object = None, avoid: object = None, prefix: object = None
    ) -> Constraints:
        """Clean and check what a caller passed; None stands for nothing."""
        return cls(
            phrases=_clean_list(phrases, "constraints"),
            avoid=tuple(dict.fromkeys(_clean_list(avoid, "avoid"))),
            prefix="" if prefix is None or prefix == "" else clean_phrase(prefix, "prefix"),
        )

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Constraints:
        """Read the fields ``constraints``, ``avoid`` and ``prefix`` of a JSON object."""
        return cls.build(record.get("constraints"), record.get("avoid"), record.get("prefix"))


def clean_phrase(phrase: object, where: str) -> str:
    """Return a phrase with single spaces inside and none around it."""
    if not isinstance(phrase, str):
        raise ConstraintError(f"{where} must be text, not {_kind(phrase)}")
    fault = unusable(phrase)
    if fault:
        raise ConstraintError(f"{where} {quoted(phrase)} contains {fault}")
    cleaned = " ".join(phrase.split())
    if not cleaned:
        raise ConstraintError(f"{where} is empty or only spaces: leave it out or give a phrase")
    return cleaned


def unusable(text: str) -> str | None:
    """Name what makes a text impossible to hand to a tokeniser, or return None."""
    if "\0" in text:
        return "a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "half a surrogate pair (text that was decoded wrongly)"
    return None


def quoted(phrase: str) -> str:
    """Quote a phrase for an error message, shortened when it is long."""
    shown = phrase if len(phrase) <= _SHOWN else phrase[: _SHOWN - 1] + "…"
    return '"' + shown.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0") + '"'


def _clean_list(phrases: object, name: str) -> tuple[str, ...]:
    if phrases is None:
        return ()
    if isinstance(phrases, str) or not isinstance(phrases, Sequence):
        raise ConstraintError(f"{name} must be a list of phrases, not {_kind(phrases)}")
    return tuple(clean_phrase(phrase, f"{name}[{i}]") for i, phrase in enumerate(phrases))


def _kind(value: object) -> str:
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    return f"{type(value).__name__} {quoted(str(value))}"

"""Everything lexbeam raises on purpose.

One base class, so that a caller can write a single ``except``::

    LexbeamError
    ├── InputError            what the caller passed can't be used (also a ValueError)
    │   ├── SettingError      a setting of the search: beam size, algorithm, …
    │   └── ConstraintError   a phrase that is demanded, avoided or given as prefix
    ├── ModelError            a model, or a file of one, that can't be used
    ├── MissingExtraError     an optional dependency that is not installed (also an ImportError)
    └── ScorerError           a scorer that broke its promise to the search: NaN, wrong shapes

The message says what was wrong, where, and what to do. Sentences and phrases are counted from
0, as the lists they came in are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self


class LexbeamError(Exception):
    """Base of all errors that lexbeam raises on purpose.

    What it says can be written anywhere, though it may name what can't be.
    """

    def __str__(self) -> str:
        return _writable(super().__str__())


@dataclass(frozen=True)
class Subject:
    """What an error speaks of: a phrase of a sentence, an avoided phrase, or its prefix."""

    role: Literal["phrase", "avoided", "prefix"]
    index: int
    """Its number in the list that it was given in; 0 for a prefix."""
    shown: str
    """How it is shown where nothing better is known: its tokens."""


class InputError(LexbeamError, ValueError):
    """What the caller passed can't be used.

    ``reason`` has a ``{}`` for each of the ``subjects``, so that a caller who knows them by
    another name can say the same with it (`renamed`). ``sentence`` is the number of the sentence
    or text that was refused, None where there is only one or all are meant.
    """

    def __init__(self, reason: str, *subjects: Subject, sentence: int | None = None) -> None:
        super().__init__(reason, *subjects)
        self.reason = reason
        self.subjects = subjects
        self.sentence = sentence

    def __str__(self) -> str:
        shown = [subject.shown for subject in self.subjects]
        where = "" if self.sentence is None else f"sentence {self.sentence}: "
        return _writable(where + (self.reason.format(*shown) if shown else self.reason))

    def renamed(self, name: Callable[[Subject], str], sentence: int | None) -> Self:
        """Return the same error with other names for what it speaks of."""
        subjects = (Subject(each.role, each.index, name(each)) for each in self.subjects)
        return type(self)(self.reason, *subjects, sentence=sentence)

    def in_sentence(self, sentence: int | None) -> Self:
        """Return the same error as one of another sentence; None where there is only one."""
        return type(self)(self.reason, *self.subjects, sentence=sentence)

    def __reduce__(self) -> Any:
        return _remake_input_error, (type(self), self.reason, self.subjects, self.sentence)


def _remake_input_error(
    kind: type[InputError], reason: str, subjects: tuple[Subject, ...], sentence: int | None
) -> InputError:
    return kind(reason, *subjects, sentence=sentence)


class SettingError(InputError):
    """A setting of the search is unknown or out of range."""


class ConstraintError(InputError):
    """A phrase can't be demanded, avoided or forced as it stands."""


class ModelError(LexbeamError):
    """A model, or a file of one, can't be used."""


class MissingExtraError(LexbeamError, ImportError):
    """An optional dependency is needed here and is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} needs the extra "{extra}": pip install "lexbeam[{extra}]"')


class ScorerError(LexbeamError):
    """A scorer broke its promise to the search."""


def _writable(message: str) -> str:
    """Return a message with escapes for what is no Unicode: half of a surrogate pair."""
    return message.encode("utf-8", "backslashreplace").decode()


_SHOWN = 60  # characters of a phrase quoted in an error
_LONG = 200  # characters of any other value


def quoted(phrase: str) -> str:
    """Quote a phrase for an error message, shortened when it is long."""
    shown = phrase if len(phrase) <= _SHOWN else phrase[: _SHOWN - 1] + "…"
    return '"' + _writable(shown).replace("\0", "\\0") + '"'


def times(count: int) -> str:
    """Say how often something is, in an error message."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def represented(value: object) -> str:
    """Show any value in an error message, shortened when it is long.

    Some values can't be written, such as a number of many thousand digits: then it is their type.
    """
    try:
        shown = repr(value)
    except Exception:  # a class of the caller's own may raise anything
        return f"a value of the type {type(value).__name__}"
    shown = shown if len(shown) <= _LONG else shown[: _LONG - 1] + "…"
    return _writable(shown)

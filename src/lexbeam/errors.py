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


class LexbeamError(Exception):
    """Base of all errors that lexbeam raises on purpose."""


class InputError(LexbeamError, ValueError):
    """What the caller passed can't be used."""


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


_SHOWN = 60  # characters of a phrase quoted in an error


def quoted(phrase: str) -> str:
    """Quote a phrase for an error message, shortened when it is long."""
    shown = phrase if len(phrase) <= _SHOWN else phrase[: _SHOWN - 1] + "…"
    return '"' + shown.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0") + '"'

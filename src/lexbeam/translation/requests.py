"""One text to translate and what is asked of it; and how the texts of a call are lined up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError
from lexbeam.translation.settings import TextSettings

Shape = str | Mapping[str, Any] | Constraint
"""A phrase, or an object as in ``docs/constraints.md``."""
Shapes = Sequence[Shape]
GivenSettings = TextSettings | Mapping[str, Any]
"""Settings, or some of them by their names."""


@dataclass(frozen=True)
class TextRequest:
    """One text, and what is asked of its translation; see `Translator.translate`.

    Nothing is checked here: what is wrong with a request is said when it is translated.
    """

    text: str
    constraints: Shapes | None = None
    avoid: Shapes | None = None
    prefix: str | None = None
    glossary: Glossary | None = None
    keep: Sequence[str] | None = None
    settings: GivenSettings | None = None


def line_up(
    texts: object,
    *,
    glossary: Any = None,
    keep: Any = None,
    settings: Any = None,
    **columns: Any,
) -> list[TextRequest]:
    """Return one request per text.

    ``columns`` have one entry per text. ``glossary``, ``keep`` and ``settings`` may have, or are
    for all texts.

    Raises:
        InputError: a list has not as many entries as there are texts.
    """
    if not isinstance(texts, Sequence) or isinstance(texts, bytes | range):
        raise InputError(f"the text must be a string or a list, not {type(texts).__name__}")
    lined_up = {
        name: _column(name, [None] * len(texts) if given is None else given, len(texts))
        for name, given in columns.items()
    }
    for name, given in (("glossary", glossary), ("keep", keep), ("settings", settings)):
        per_text = is_per_text(name, given)
        lined_up[name] = _column(name, given, len(texts)) if per_text else [given] * len(texts)
    return [
        TextRequest(text, **{name: column[i] for name, column in lined_up.items()})
        for i, text in enumerate(texts)
    ]


def is_per_text(name: str, given: object) -> bool:
    """Return whether a glossary, patterns to keep or settings were given for each text.

    Patterns to keep are a list themselves, so only a list of lists has them per text.
    """
    if not isinstance(given, list | tuple):
        return False
    lists = all(each is None or isinstance(each, list | tuple) for each in given)
    return name != "keep" or (bool(given) and lists)


def _column(name: str, column: object, texts: int) -> Sequence[Any]:
    if isinstance(column, str) or not isinstance(column, Sequence):
        raise InputError(f"{name} must be a list with one entry for each text")
    if len(column) != texts:
        raise InputError(f"{name} has {len(column)} entries for {texts} texts: give one for each")
    return column

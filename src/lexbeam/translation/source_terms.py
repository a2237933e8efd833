"""What the source itself demands of a translation: its glossary terms, and what is to be kept.

A glossary and patterns say it for all texts; here it is worked out for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lexbeam.constraints.constraint import Constraint, Places
from lexbeam.constraints.glossary import Found, Glossary
from lexbeam.errors import SettingError
from lexbeam.text.word_boundaries import contains
from lexbeam.translation.keep import Kept, compile_patterns, demands_of, find_kept, respace
from lexbeam.translation.results import Translation


class Terms:
    """Finds in texts what their translations have to have.

    ``info`` is the model's: it says which languages are meant. That the glossary has them is
    known from the start, not only when the first text comes.
    """

    def __init__(
        self, glossary: Glossary | None, keep: Iterable[str] | None, info: Mapping[str, Any]
    ) -> None:
        if glossary is not None and not isinstance(glossary, Glossary):
            raise SettingError(
                f"glossary must be a lexbeam.Glossary, not {type(glossary).__name__}: "
                "load a file with lexbeam.Glossary.load(path)"
            )
        self._glossary = glossary
        self._patterns = compile_patterns(keep)
        self._languages = (info.get("source_language"), info.get("target_language"))
        if glossary is not None:
            glossary.find("", *self._languages)

    def find(self, text: str) -> Found:
        """Return what glossary and patterns demand of the translation of a text."""
        kept = self._kept(text)
        demands = demands_of(kept)
        constraints, places = [shape for shape, _ in demands], [place for _, place in demands]
        if self._glossary is None:
            return Found(constraints, places=places)
        skip = [(each.start, each.end) for each in kept]
        found = self._glossary.find(text, *self._languages, skip=skip)
        return Found(
            [*constraints, *found.constraints],
            found.avoid,
            found.entries,
            [*places, *found.places],
        )

    def add(self, text: str, constraints: Any, avoid: Any) -> tuple[Any, Any, list[Places]]:
        """Return what a caller asks for together with what is found in the text, and its places.

        What the caller says himself goes first: a phrase that he demands is not demanded once
        more, nor avoided. Lists that aren't lists are left for others to complain about. The
        places are those of the constraints in the source, as far as they are known.
        """
        found = self.find(text)
        places: list[Places] = []
        asked = [] if constraints is None else constraints
        if isinstance(asked, list | tuple) and (found.constraints or found.avoid):
            found = _besides(asked, found)
            constraints = [*asked, *found.constraints]
            places = [*([()] * len(asked)), *found.places]
        if isinstance(avoid, list | tuple | None) and found.avoid:
            avoid = [*(avoid or ()), *found.avoid]
        return constraints, avoid, places

    def tidy(self, text: str, translation: Translation) -> Translation:
        """Let what was kept stand in the translation as it did in the text."""
        return respace(translation, self._kept(text))

    def _kept(self, text: str) -> list[Kept]:
        return find_kept(text, self._patterns) if self._patterns else []


def _besides(asked: Sequence[Any], found: Found) -> Found:
    """Leave out what is asked for anyway, as often as it is."""
    known = [each for each in map(_forms, asked) if each]
    phrases = {form for forms, _ in known for form in forms}
    avoid = [each for each in found.avoid if not any(contains(p, each) for p in phrases)]
    left = Counter[frozenset[str]]()
    for forms, count in known:
        left[forms] += count
    constraints, places = [], []
    for each, place in zip(found.constraints, found.places, strict=True):
        if rest := _rest(each, left):
            constraints.append(rest)
            places.append(place if rest == each else ())
    return Found(constraints, avoid, found.entries, places)


def _forms(asked: Any) -> tuple[frozenset[str], int] | None:
    """Return the forms of which a constraint wants one, and how often; None for other kinds."""
    if isinstance(asked, str):
        return frozenset({asked}), 1
    if isinstance(asked, Constraint):
        plain = asked.kind in ("text", "any", "lemma") and asked.soft is None
        return (frozenset(asked.parts[0]), asked.count) if plain else None
    if not isinstance(asked, Mapping) or asked.keys() - {"text", "any", "count", "case"}:
        return None
    forms, count = asked.get("any", [asked.get("text")]), asked.get("count", 1)
    readable = isinstance(forms, list | tuple) and all(isinstance(form, str) for form in forms)
    return (frozenset(forms), count) if readable and isinstance(count, int) else None


def _rest(demand: Any, left: Counter[frozenset[str]]) -> Any:
    """Return what is left of a demand, None if nothing is; use up what meets it."""
    known = _forms(demand)
    if known is None:
        return demand
    forms, count = known
    for others in [each for each in left if each <= forms]:
        used = min(left[others], count)
        left[others] -= used
        count -= used
    if count == 0 or isinstance(demand, str):
        return demand if count else None
    rest = {key: value for key, value in demand.items() if key != "count"}
    return rest if count == 1 else {**rest, "count": count}

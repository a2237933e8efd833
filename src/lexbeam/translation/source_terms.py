"""What the source itself demands of a translation: its glossary terms, and what is to be kept.

A glossary and patterns are given for all texts of a call; here it is found out what they
demand of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from lexbeam.constraints.constraint import Constraint, SourceSpans
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.glossary import Found, Glossary
from lexbeam.constraints.parsing import Reader
from lexbeam.errors import SettingError
from lexbeam.text.casing import matches
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.beside_callers import is_firm_phrase, put_beside
from lexbeam.translation.keep import (
    Kept,
    Patterns,
    compile_patterns,
    demands_of,
    find_invented,
    find_kept,
)
from lexbeam.translation.kept_spaces import respace
from lexbeam.translation.markup import demand
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.results import Translation
from lexbeam.translation.term_limits import limit_terms


@dataclass(frozen=True)
class SourceDemands:
    """What one text demands of its translation."""

    constraints: tuple[Constraint, ...] = ()
    avoid: tuple[Constraint, ...] = ()
    kept: Sequence[Kept] = ()
    """What the translation has to keep unchanged."""
    patterns: Patterns = ()
    """The patterns by which it was found."""
    hidden: tuple[Constraint, ...] = ()
    """What it has to keep of what the model does not see."""
    masks: tuple[str, ...] = ()
    """The words that stand for it."""

    def added_to(self, asked: Constraints) -> Constraints:
        """Return what a caller asks for, with these demands behind it.

        The caller comes first: a phrase that he demands is not demanded once more, nor avoided,
        and what he limits is demanded no more often than that (`beside_callers`).
        """
        if not (self.constraints or self.avoid):
            return asked
        forms = {form for each in asked.counted for part in each.parts for form in part}
        forms.add(asked.prefix)
        avoid = [each for each in self.avoid if not _is_in_any(each, forms)]
        demanded, found = put_beside(asked, self.constraints)
        return Constraints(
            demanded=(*demanded, *limit_terms(found, asked)),
            avoid=tuple(dict.fromkeys((*asked.avoid, *avoid))),
            prefix=asked.prefix,
        )

    def find_invented(self, text: str) -> list[Span]:
        """Return the spans of a translation that look like something kept and are not.

        So does a word with a mask in it, such as *ID1s*.
        """
        found = find_invented(text, self.kept, self.patterns)
        if not any(mask in text for mask in self.masks):
            return found
        words = re.compile(rf"\w*(?:{'|'.join(map(re.escape, self.masks))})\w*")
        spans = (each.span() for each in words.finditer(text) if each[0] not in self.masks)
        return [*found, *(span for span in spans if span not in found)]

    def respace(self, translation: Translation, asked: Constraints) -> Translation:
        """Return a translation in which what was kept has spaces around it as in the source."""
        return respace(translation, self.kept, asked)


class SourceTerms:
    """Finds in texts what they demand of their translations.

    ``info`` is the model's: it has the languages of texts and translations. A glossary that
    lacks them is refused at once, not when the first text comes; so is one that needs an extra.
    """

    def __init__(
        self, glossary: Glossary | None, keep: Iterable[str] | None, info: Mapping[str, Any]
    ) -> None:
        if glossary is not None and not isinstance(glossary, Glossary):
            raise SettingError(
                "glossary must be a lexbeam.Glossary or the path of a file, "
                f"not {type(glossary).__name__}"
            )
        self._glossary = glossary
        self._patterns = compile_patterns(keep)
        self._last: tuple[str, list[Kept]] | None = None
        self._languages = (info.get("source_language"), info.get("target_language"))
        if glossary is not None:
            glossary.prepare(*self._languages)

    def find_kept(self, text: str) -> list[Kept]:
        """Return what patterns match in a text; the same text is looked through once."""
        if not self._patterns:
            return []
        if self._last is None or self._last[0] != text:
            self._last = text, find_kept(text, self._patterns)
        return self._last[1]

    def find(self, source: ReadableSource) -> SourceDemands:
        """Return what glossary and patterns demand of the translation of a text.

        Masks are demanded first: they stand for what is hidden.
        """
        text, masks = source.text, [part.span for part in source.masks]
        kept = [each for each in self.find_kept(text) if not _overlaps(each, masks)]
        found = Found()
        if self._glossary is not None:
            skip = [*masks, *((each.start, each.end) for each in kept)]
            found = self._glossary.find(text, *self._languages, skip=sorted(skip))
        terms = zip(found.constraints, found.source_spans, strict=True)
        masked = [(demand(part.mask), (part.span,)) for part in source.masks]
        reader = Reader(self._languages[1])
        of_glossary = _read(terms, reader, "glossary")
        return SourceDemands(
            constraints=(
                *_read(masked, reader, "kept"),
                *_read(demands_of(text, kept), reader, "kept"),
                *_exactly(of_glossary, found),
            ),
            avoid=tuple(reader.avoided(found.avoid, "glossary")),
            kept=kept,
            patterns=self._patterns,
            hidden=tuple(_read(demands_of(source.given, source.hidden), reader, "kept")),
            masks=tuple(part.mask for part in source.masks),
        )


def _overlaps(kept: Kept, spans: Iterable[Span]) -> bool:
    return any(start < kept.end and kept.start < end for start, end in spans)


def load_glossaries(given: Any) -> Any:
    """Return what was given as a glossary, or as one per text, with files loaded.

    A file that has not changed is read only once.
    """
    return [_load(each) for each in given] if isinstance(given, list | tuple) else _load(given)


def _load(given: Any) -> Any:
    """Return a glossary, or whatever else was given for one, as it is; that of a file, loaded."""
    if not isinstance(given, str | Path):
        return given
    try:
        changed = Path(given).stat().st_mtime_ns
    except (OSError, ValueError):
        changed = 0  # reading it will say why
    return _loaded(Path(given), changed)


@lru_cache(maxsize=8)
def _loaded(path: Path, changed: int) -> Glossary:  # noqa: ARG001  (part of the key)
    return Glossary.load(path)


def _read(
    demands: Iterable[tuple[Any, SourceSpans]], reader: Reader, name: str
) -> list[Constraint]:
    """Return demands as constraints that know where their sources, or those of their parts, are.

    ``name`` is what errors call them.
    """
    shapes, spans = [], []
    for shape, at in demands:
        shapes.append(shape)
        spans.append(at)
    constraints = reader.demands(shapes, name)
    return [
        replace(c, source_spans=at, is_from_source=True)
        if len(c.parts) == 1
        else replace(c, part_sources=at, is_from_source=True)
        for c, at in zip(constraints, spans, strict=True)
    ]


def _exactly(terms: Sequence[Constraint], found: Found) -> Iterator[Constraint]:
    """Yield terms that may not occur more often than their sources do, and know these.

    In compounds they may: there they may be for the sake of another word.
    """
    forms = {(match.start, match.end) for match in found.entries if match.is_form}
    for term, may_be_verb in zip(terms, found.may_be_verbs, strict=True):
        limited = is_firm_phrase(term) and not term.compound
        yield replace(
            term,
            at_most=term.count if limited else term.at_most,
            may_be_verb=may_be_verb,
            is_as_in_glossary=not forms.intersection(term.source_spans),
        )


def _is_in_any(avoided: Constraint, phrases: Iterable[str]) -> bool:
    return any(
        matches(phrase, form, "exact", (), avoided.compound)
        for phrase in phrases
        for form in avoided.parts[0]
    )

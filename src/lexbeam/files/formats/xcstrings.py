"""Apple's string catalogues, ``.xcstrings``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lexbeam.errors import InputError
from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.json_scanner import Path, decode_string, scan_json
from lexbeam.files.languages import check_language, is_same, plural_categories
from lexbeam.files.placeholders import mark
from lexbeam.files.units import Edit, Options, Sources, State, Unit
from lexbeam.translation.marked_text import MarkedText, is_translatable, plain

_SOURCE_LANGUAGE = re.compile(r'"sourceLanguage"\s*:\s*("(?:[^"\\\x00-\x1f]|\\.)*")')


class _Place(NamedTuple):
    """Where the entry of a string stands, and what it calls the target language."""

    start: int
    end: int
    name: str


@register("xcstrings", ".xcstrings")
class CatalogueScan:
    """A string catalogue: each string gets the target language beside the others."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content = read_text(data, options.encoding)
        text = self._content.text
        named = _SOURCE_LANGUAGE.search(text)
        self._source = decode_string(named[1]) if named else ""
        check_language(self._source, options.source_language, "source")
        self._options = options
        self._separator = '" : ' if '" : ' in text else '": '

    def units(self) -> Iterator[Unit]:
        """Yield the strings.

        Raises:
            InputError: the file is not a string catalogue.
        """
        language = self._options.target_language
        for key, start, end in self._entries():
            entry = json.loads(self._content.text[start:end])
            if language is None or not isinstance(entry, dict):
                continue
            found = entry.get("localizations")
            localizations = found if isinstance(found, dict) else {}
            named = [name for name in localizations if is_same(name, language)]
            name = named[0] if named else language
            own = localizations.get(self._source)
            sources = _sources(key, own if isinstance(own, dict) else {})
            if sources:
                place = _Place(start, end, name)
                yield self._unit(key, entry, localizations.get(name), place, sources)

    def _entries(self) -> Iterator[tuple[str, int, int]]:
        """Yield the key of every string, and where what belongs to it stands."""
        opened, there = 0, False
        for event in scan_json(self._content.text):
            path = event.path
            there = there or (path == ("strings",) and event.kind == "open")
            if len(path) == 2 and path[0] == "strings":
                if event.kind == "open":
                    opened = event.start
                elif event.kind == "close":
                    yield str(path[1]), opened, event.end
        if not there:
            raise InputError('the file has no "strings": not a string catalogue')

    def _unit(
        self,
        key: str,
        entry: Mapping[str, Any],
        there: object,
        place: _Place,
        sources: dict[str, MarkedText],
    ) -> Unit:
        values = list(_units_of(there))
        state: State = "untranslated"
        if entry.get("shouldTranslate") is False:
            state = "locked"
        elif values and all(unit.get("state") == "needs_review" for unit in values):
            state = "fuzzy"
        elif values and not all(unit.get("state") == "new" for unit in values):
            state = "translated"
        texts: Sources = tuple(sources.values())
        return Unit(
            key,
            texts,
            lambda targets: self._write(place, dict(zip(sources, targets, strict=True))),
            state,
            tuple(str(unit.get("value", "")) for unit in values),
            str(entry.get("comment", "")),
        )

    def _write(self, place: _Place, targets: Mapping[str, MarkedText]) -> Iterator[Edit]:
        state = "translated" if self._options.final else "needs_review"
        texts = {form: plain(target) for form, target in targets.items()}

        def unit(text: str) -> dict[str, Any]:
            return {"stringUnit": {"state": state, "value": text}}

        value: dict[str, Any]
        if "" in texts:
            value = unit(texts[""])
        else:
            categories = plural_categories(place.name)
            forms = {each: texts.get(each, texts.get("other", "")) for each in categories}
            forms |= {each: texts[each] for each in texts if each == "zero"}
            value = {"variations": {"plural": {each: unit(forms[each]) for each in sorted(forms)}}}
        spans = self._spans(place)
        existing = spans.get(("localizations", place.name))
        if existing is not None:
            yield Edit(*existing, self._dumped(value, 4))
        elif ("localizations",) in spans:
            yield self._added(spans["localizations",], {place.name: value}, 3)
        else:
            yield self._added(spans[()], {"localizations": {place.name: value}}, 2)

    def _spans(self, place: _Place) -> dict[Path, tuple[int, int]]:
        """Return where the objects of an entry stand, by their paths."""
        spans: dict[Path, tuple[int, int]] = {}
        for event in scan_json(self._content.text[place.start : place.end]):
            if event.kind == "open":
                spans[event.path] = (place.start + event.start, 0)
            elif event.kind == "close":
                spans[event.path] = (spans[event.path][0], place.start + event.end)
        return spans

    def _added(self, span: tuple[int, int], members: dict[str, Any], depth: int) -> Edit:
        """Return the edit that adds members to an object."""
        text = self._content.text
        inner = text[span[0] + 1 : span[1] - 1]
        newline = self._content.newline
        body = self._dumped(members, depth)[1:-1].rstrip()
        if inner.strip():
            at = span[0] + 1 + len(inner.rstrip())
            return Edit(at, at, "," + body)
        return Edit(span[0] + 1, span[1] - 1, body + newline + "  " * depth)

    def _dumped(self, value: Any, depth: int) -> str:
        """Return JSON as Xcode lays it out, at a depth."""
        lines = json.dumps(
            value, indent=2, ensure_ascii=False, separators=(",", self._separator[1:])
        ).split("\n")
        return (self._content.newline + "  " * depth).join(lines)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: every string names its languages itself."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._content.spliced(edits, encoding)


def _sources(key: str, own: Mapping[str, Any]) -> dict[str, MarkedText]:
    """Return the texts of a string by their plural category, the empty one for a plain text."""
    unit = own.get("stringUnit")
    variations = own.get("variations")
    plural = variations.get("plural") if isinstance(variations, dict) else None
    texts: dict[str, str] = {}
    if isinstance(unit, dict) and isinstance(unit.get("value"), str):
        texts[""] = unit["value"]
    elif isinstance(plural, dict):
        for category, form in plural.items():
            value = form.get("stringUnit", {}).get("value") if isinstance(form, dict) else None
            if isinstance(value, str):
                texts[category] = value
    elif not own:
        texts[""] = key
    marked = {form: mark(text) for form, text in texts.items()}
    return marked if any(is_translatable(each) for each in marked.values()) else {}


def _units_of(value: object) -> Iterator[dict[str, Any]]:
    """Yield every ``stringUnit`` below a value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if isinstance(each.get("stringUnit"), dict):
                yield each["stringUnit"]
            waiting += [inner for name, inner in each.items() if name != "stringUnit"]

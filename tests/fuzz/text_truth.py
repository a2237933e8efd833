"""Where a phrase stands in a text, by the rules of docs/constraints.md and nothing else.

Written from the documentation: whole words, letters with their marks and joiners, any boundary
in scripts without spaces. Where the documentation leaves a choice (what begins a sentence), the
choice that lets more pass is taken, so that what fails here is wrong by any reading.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]
MAIN_KEYS = ("text", "any", "lemma", "order", "gap", "prefix", "suffix")
_UNSPACED = (
    "CJK", "KANGXI", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "THAI", "LAO",
    "TIBETAN", "MYANMAR", "KHMER", "TAI",
)  # fmt: skip
_JOINERS = "\u00ad\u200c\u200d\u2060"


@dataclass(frozen=True)
class Asked:
    """A constraint: its kind, and for each part the forms of which any will do."""

    kind: str
    parts: tuple[tuple[str, ...], ...]
    case: str = "start"
    count: int = 1
    within: int | None = None
    soft: float | None = None
    most: int | None = None
    """How often it may stand in the text."""
    compound: bool = False
    """Whether it may be the first or the last part of a longer word."""

    @property
    def plain(self) -> bool:
        """Whether it is a phrase, which may overlap with itself."""
        return len(self.parts) == 1 and len(self.parts[0]) == 1


def read(shape: Any) -> Asked:
    """Read a constraint that has a shape of the documentation."""
    if isinstance(shape, str):
        return Asked("text", ((squash(shape),),))
    kind = next(key for key in MAIN_KEYS if key in shape)
    value = shape[kind]
    parts: tuple[tuple[str, ...], ...]
    if kind == "any":
        parts = (tuple(map(squash, value)),)
    elif kind in ("order", "gap"):
        parts = tuple(read(each).parts[0] for each in value)
    elif kind == "prefix":
        parts = ((squash(value) + " " * value[-1:].isspace(),),)
    else:
        parts = ((squash(value),),)
    case, exactly = shape.get("case", "start"), shape.get("exactly")
    count, most = exactly or shape.get("count", 1), exactly or shape.get("at_most")
    within, soft, compound = (shape.get(name) for name in ("within", "soft", "compound"))
    return Asked(kind, parts, case, count, within, soft, most, bool(compound))


def squash(phrase: str) -> str:
    """Return a phrase with single spaces."""
    return " ".join(phrase.split())


# --- words -----------------------------------------------------------------------------------


def is_letter(character: str) -> bool:
    """Say whether a character is part of a word: a letter, mark, digit, underscore, joiner."""
    kind = unicodedata.category(character)
    return kind[0] in "LMN" or kind == "Pc" or character in _JOINERS


def is_unspaced(character: str) -> bool:
    """Say whether a script is written without spaces between words."""
    return unicodedata.name(character, "").startswith(_UNSPACED)


def is_inside(text: str, place: int) -> bool:
    """Say whether a place is inside a word."""
    if not 0 < place < len(text):
        return False
    left, right = text[place - 1], text[place]
    if not left.isspace() and (unicodedata.category(right)[0] == "M" or right in _JOINERS):
        return True
    if is_unspaced(left) or is_unspaced(right):
        return False
    return is_letter(left) and is_letter(right)


def stands(text: str, span: Span) -> bool:
    """Say whether a stretch of a text is whole words."""
    return not is_inside(text, span[0]) and not is_inside(text, span[1])


def exact_spans(text: str, phrase: str) -> Iterator[Span]:
    """Yield where a phrase stands in a text, as it is written."""
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        if stands(text, (at, at + len(phrase))):
            yield at, at + len(phrase)
        at = text.find(phrase, at + 1)


def is_in_name(text: str, span: Span) -> bool:
    """Say whether words are part of an address or a name of a program.

    Such as `button.name`, `x@name.org`, `$name` or `{0}name`.

    A glossary finds no terms there (docs/glossaries.md).
    """
    before, after = (
        re.split(r"[\s<>]", text[: span[0]])[-1],
        re.split(r"[\s<>]", text[span[1] :])[0],
    )
    run = before + text[slice(*span)] + after
    return re.search(r"\w\.[A-Za-z_]\w*(?![\w'+#-])|[\\$@]\w|\{\w*\}", run) is not None


def may_begin_sentence(text: str, place: int) -> bool:
    """Say whether a place may be the first word of a sentence."""
    before = text[:place]
    while before and not is_letter(before[-1]):
        if before[-1] not in " \u00a0":
            return True
        before = before[:-1]
    return not before


def composed(text: str) -> str:
    """Return a text with letters and marks put together: both ways to write it are one text."""
    return unicodedata.normalize("NFC", text)


def is_form(text: str, span: Span, form: str, case: str, several: bool = False) -> bool:
    """Say whether a stretch of a text is a form, in a case that is allowed.

    ``several``: sentences may begin anywhere, since their source had several.
    """
    written = composed(text[slice(*span)])
    if case == "any":
        return written.casefold() == composed(form.casefold())
    large = form[:1].title() + form[1:] if form[:1].islower() else form
    may_be_large = case == "start" and (several or may_begin_sentence(text, span[0]))
    return written == composed(form) or (may_be_large and written == composed(large))


def is_part(text: str, span: Span, form: str | None = None, case: str = "start") -> bool:
    """Say whether a stretch of a text is a part of a compound.

    With a ``form`` it has to be that, which may have a capital as the first part and begin small
    behind another.
    """
    (start, end), least = span, 3
    letters = sum(map(_is_plain_letter, text[start:end]))
    if letters < least:
        return False
    before, behind = text[max(start - least, 0) : start], text[end : end + least]
    linked = behind.split("-")[0] if "-" in behind else ""
    goes_on = _are_letters(text[end - 1] + behind, least + 1) or (
        bool(linked) and _are_letters(text[end - 1] + linked, len(linked) + 1)
    )
    comes_after = _are_letters(before + text[start], least + 1)
    first = goes_on and not is_inside(text, start)
    later = comes_after and (not is_inside(text, end) or (goes_on and letters >= 5))
    if form is None:
        return first or later
    written, form = composed(text[start:end]), composed(form)
    if case == "any":
        return (first or later) and written.casefold() == form.casefold()
    large, small = form[:1].title() + form[1:], form[:1].lower() + form[1:]
    return (first and written in (form, form if case == "exact" else large)) or (
        later and written in (form, small)
    )


def part_spans(text: str, form: str, case: str) -> Iterator[Span]:
    """Yield where a form is part of a compound."""
    for start in range(len(text) - len(form) + 1):
        if is_part(text, (start, start + len(form)), form, case):
            yield start, start + len(form)


def _is_plain_letter(character: str) -> bool:
    return character.isalpha() and not is_unspaced(character)


def _are_letters(text: str, length: int) -> bool:
    return len(text) == length and all(map(_is_plain_letter, text))


def words_between(text: str, start: int, end: int) -> int:
    """Count what begins after a space and has a letter or a digit in it."""
    between = text[start:end]
    runs = between.split()
    if runs and not between[0].isspace():
        runs = runs[1:]
    return sum(any(is_letter(character) for character in run) for run in runs)


# --- reports ---------------------------------------------------------------------------------


def fault_of_spans(
    text: str, asked: Asked, spans: Sequence[Span], several: bool = False
) -> str | None:
    """Say what is wrong with where a constraint is said to stand; None if nothing is."""
    if any(not 0 <= start < end <= len(text) for start, end in spans):
        return "spans outside of the text"
    if asked.kind == "prefix":
        return fault_of_prefix(text, asked.parts[0][0])
    if asked.soft is not None and asked.count > 1:
        parts = asked.parts * asked.count
    else:
        parts = asked.parts * (1 if asked.kind == "suffix" else asked.count)
    if len(spans) != len(parts):
        return f"{len(spans)} spans for {len(parts)} parts"
    if asked.kind == "suffix" and spans[0][1] != len(text):
        return "a suffix that is not at the end"
    fault = _fault_of_words(text, asked, list(zip(spans, parts, strict=True)), several)
    return fault or _fault_of_places(text, asked, spans)


def _fault_of_words(
    text: str, asked: Asked, placed: Sequence[tuple[Span, tuple[str, ...]]], several: bool
) -> str | None:
    for span, forms in placed:
        inflected = asked.kind == "lemma"  # Which forms a word has is for dictionaries to say.
        parts = [None] if inflected else list(forms)
        if asked.compound and any(is_part(text, span, form, asked.case) for form in parts):
            continue
        if not inflected and not any(
            is_form(text, span, form, asked.case, several) for form in forms
        ):
            return f"{text[slice(*span)]!r} is none of {forms}"
        if not stands(text, span):
            return f"{text[slice(*span)]!r} at {span} is not whole words"
    return None


def _fault_of_places(text: str, asked: Asked, spans: Sequence[Span]) -> str | None:
    for number, (before, after) in enumerate(itertools.pairwise(spans), 1):
        apart = before[1] <= after[0] or (asked.plain and before[0] < after[0])
        if not apart:
            return f"{before} and {after} overlap"
        inner = number % len(asked.parts) > 0
        if asked.kind == "gap" and inner and asked.within is not None:
            words = words_between(text, before[1], after[0])
            if words > asked.within:
                return f"{words} words between {before} and {after}, not {asked.within}"
    return None


def fault_of_prefix(text: str, prefix: str) -> str | None:
    """Say how a text fails to begin with a prefix; a space at its end makes its word whole."""
    text, prefix = composed(text), composed(prefix)
    whole = prefix.rstrip()
    if not text.startswith(whole):
        return f"does not begin with {whole!r}"
    if whole != prefix and is_inside(text, len(whole)):
        return f"goes on with the last word of {prefix!r}"
    return None

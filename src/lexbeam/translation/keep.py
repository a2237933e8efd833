r"""What must survive a translation unchanged: placeholders, markup, addresses, quantities.

Whatever a pattern matches in the source becomes a demand on the output. A model puts spaces as
it likes, so that ``<b>Save</b>`` tends to come back as ``<b> Speichern </b>``; `respace` gives
what was kept the spaces that it had in the source.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any
from unicodedata import category

from lexbeam.arguments import as_items
from lexbeam.constraints.constraint import SourceSpans
from lexbeam.constraints.options import MAX_COUNT
from lexbeam.errors import SettingError, represented
from lexbeam.text.word_boundaries import Span, are_glued, occurrences
from lexbeam.translation.backtracking import may_take_forever
from lexbeam.translation.tags import TAG

_UNITS = (
    r"%|‰|°[CF]?|°|[€$£¥₹]|EUR|USD|GBP|CHF|JPY|[kKMGTP]i?[bB](?:it|ps|/s)?|[bB]it/s|bits?|bytes?|"
    r"[nµμmcdk]?m[²³23]?|ha|[µμmcdk]?[lL]|[µμmk]?g|t|lbs?|oz|ft|mi|yd|mph|km/h|m/s|kn|"
    r"[nµμm]?s|min|h|[kMGT]?Hz|[mkMGT]?W|[kMG]?Wh|[mk]?V|[µμm]?A|mAh|[kM]?Pa|[mk]?bar|psi|"
    r"[kM]?J|k?cal|[mk]?N|[kM]?[Ω\u2126]|[mµμ]?mol|dpi|ppi|px|pt|rem|rpm|dB|lm|lx|fps"
)
_CONVERSION = r"[-+#0]*(?:\d+|\*)?(?:\.\d+)?(?:hh|h|ll|l|L|z|j|t|q)?[@diouxXeEfFgGcCsSpaAn]"
_NUMBER = r"[+\-−±]?\d+(?:[.,'’\u00a0\u202f]\d+)*"

PATTERNS = {
    # ``%(name)s`` and ``%1$s`` end with their letter, whatever follows; ``%s`` must be a word.
    "placeholders": (
        rf"%(?:\d+\$)?\(\w+\){_CONVERSION}|%\d+\${_CONVERSION}|"
        rf"%(?:\{{\w+\}})?{_CONVERSION}(?!\w)|%\{{\w+\}}|%\d+(?!\w)|"
        r"\$?\{\{[^{}\n]{0,200}\}\}|\$?\{[^{}\n]{0,200}\}|\$\(\w+\)|\$[A-Za-z_]\w*"
    ),
    "markup": rf"{TAG}|&(?:[A-Za-z]\w{{1,31}}|\#\d{{1,7}}|\#[xX][\dA-Fa-f]{{1,6}});",
    "urls": r"(?:https?|ftp|file)://[^\s<>\"«»“”]+|(?<![\w@.])www\.[^\s<>\"«»“”]+",
    "emails": (
        r"(?<![\w.+-])[\w.+-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}(?!\w)"
    ),
    "quantities": rf"(?<![\w.,]){_NUMBER}[ \u00a0\u202f]?(?:{_UNITS})(?!\w)|[€$£¥₹]\s?{_NUMBER}",
    "numbers": rf"(?<![\w.,]){_NUMBER}(?!\w)",
}
"""Named patterns."""

_ALIASES = {
    "placeholder": "placeholders",
    "tags": "markup",
    "tag": "markup",
    "html": "markup",
    "xml": "markup",
    "url": "urls",
    "email": "emails",
    "units": "quantities",
    "number": "numbers",
}
_IS_ORDERED = re.compile(r"</?[A-Za-z][^>]*>|<[A-Za-z].*>")
_PUNCTUATION = ".,;:!?…'\"’‘‚“”„«»‹›()-–—¿¡"
_IN_WORDS = "-'’\u00ad\u200c\u200d"
_AFTER_ADDRESS = ".,;:!?'’)]}"  # ends a sentence, not an address

Patterns = Sequence[re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a pattern matched in the source, and the characters beside it."""

    text: str
    start: int
    end: int
    before: str
    """The character before it; a space at the beginning of the text."""
    after: str
    """The character after it; a space at the end of the text."""


def compile_patterns(keep: Iterable[str] | None) -> Patterns:
    """Return patterns by their names, and regular expressions, ready for use.

    Raises:
        SettingError: one is neither.
    """
    if keep is None:
        return ()
    listed = None if isinstance(keep, str) else as_items(keep)
    if listed is None:
        raise SettingError(
            f"keep must be a list of names and regular expressions, not {represented(keep)}"
        )
    return [_compile(each) for each in listed]


def _compile(given: object) -> re.Pattern[str]:
    if isinstance(given, re.Pattern) and isinstance(given.pattern, str):
        return _checked(given)
    if not isinstance(given, str) or not given:
        raise SettingError(
            f"keep must list names and regular expressions, not {represented(given)}"
        )
    name = _ALIASES.get(given.lower(), given.lower())
    if name in PATTERNS:
        return re.compile(PATTERNS[name])
    close = get_close_matches(given.lower(), PATTERNS, n=1, cutoff=0.8)
    if close:
        raise SettingError(
            f"keep has no pattern {given!r}: did you mean {close[0]!r}? "
            f"To look for the word itself, write (?:{given})"
        )
    try:
        compiled = re.compile(given)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise SettingError(
            f"keep {represented(given)} is neither a regular expression ({error}) nor one of "
            + ", ".join(PATTERNS)
        ) from error
    return _checked(compiled)


def _checked(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return an expression of a caller; refuse one that may take forever."""
    if may_take_forever(pattern):
        raise SettingError(
            f"keep {represented(pattern.pattern)} may take forever: what it repeats can be divided "
            "in many ways, as in (a+)+b; repeat it once, as in a+b, or let it begin with a mark "
            "that is not in it"
        )
    return pattern


def find_kept(text: str, patterns: Patterns) -> list[Kept]:
    """Return what patterns match in a text, from left to right.

    Matches that overlap are kept as one, and so are those that touch inside a word.
    """
    spans = {_trimmed(text, found.span()) for each in patterns for found in each.finditer(text)}
    joined: list[Span] = []
    for start, end in sorted(spans):
        if start < end and joined and _belong_together(text, joined[-1][1], start):
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif start < end:
            joined.append((start, end))
    return kept_at(text, joined)


def kept_at(text: str, spans: Iterable[Span]) -> list[Kept]:
    """Return what stands in a text at some places, to be kept."""
    kept: list[Kept] = []
    for start, end in spans:
        before = text[start - 1] if start else " "
        after = text[end] if end < len(text) else " "
        kept.append(Kept(" ".join(text[start:end].split()), start, end, before, after))
    return kept


def _belong_together(text: str, end: int, start: int) -> bool:
    """Return whether a match that ends and one that starts are one: no space is between them."""
    return start < end or (start == end and are_glued(text[end - 1], text[start]))


def find_invented(text: str, kept: Sequence[Kept], patterns: Patterns) -> list[Span]:
    r"""Return the spans of a translation that patterns match and the source does not have.

    A model may write a placeholder of its own, or half of one. Plain words are not invented,
    whatever a pattern matches: a pattern for names (``[A-Z]\w+``) matches all nouns of German.
    """
    known = {each.text for each in kept}
    return [
        (each.start, each.end)
        for each in find_kept(text, patterns)
        if each.text not in known and not all(map(_is_plain_word, each.text.split()))
    ]


def _is_plain_word(text: str) -> bool:
    """Return whether something is letters, perhaps between marks of punctuation, or only these."""
    word = text.strip(_PUNCTUATION)
    return all(each.isalpha() or each in _IN_WORDS or category(each)[0] == "M" for each in word)


def demands_of(text: str, kept: Sequence[Kept]) -> list[tuple[Any, SourceSpans]]:
    """Return the demands by which an output has all that is kept, with their offsets in the source.

    Each is demanded as often as it occurs in the source, within other things that are kept as well,
    no more and no less. Capitals count.
    Several tags are demanded in the order of the source, so that well-formed markup stays
    well-formed; the offsets of the order are those of its tags.
    """
    spans: dict[str, list[Span]] = {}
    for each in kept:
        spans.setdefault(each.text, []).append((each.start, each.end))
    found = [each for each in kept if _IS_ORDERED.fullmatch(each.text)]
    tags = [each.text for each in found]
    demands: list[tuple[Any, SourceSpans]] = []
    if len(tags) > 1:
        at_tags = tuple((each.start, each.end) for each in found)
        demands.append(({"order": tags, "case": "exact"}, at_tags))
    for phrase, own in spans.items():
        there = list(islice(occurrences(text, phrase), MAX_COUNT + 1))
        at = sorted({*own, *(span for span in there if _is_inside(span, kept))})
        if len(at) == len(there) <= MAX_COUNT:
            exactly = {"text": phrase, "case": "exact", "exactly": len(at)}
            demands.append((exactly, tuple(at)))
        elif phrase not in tags or len(tags) == 1:
            demands += [({"text": phrase, "case": "exact"}, (span,)) for span in at]
    return demands


def _is_inside(span: Span, kept: Sequence[Kept]) -> bool:
    """Return whether a span of the source is in something that is kept."""
    number = bisect_right(kept, span[0], key=lambda each: each.start) - 1
    return number >= 0 and span[1] <= kept[number].end


def _trimmed(text: str, span: Span) -> Span:
    """Return a match without spaces around it, an address without the end of its sentence."""
    start, end = span
    matched = text[start:end]
    kept = matched.strip()
    start += len(matched) - len(matched.lstrip())
    if "://" in kept or kept.startswith("www."):
        while kept and kept[-1] in _AFTER_ADDRESS and not _closes(kept):
            kept = kept[:-1]
    return start, start + len(kept)


def _closes(address: str) -> bool:
    """Return whether an address ends in a bracket that was opened in it."""
    pairs = {")": "(", "]": "[", "}": "{"}
    opening = pairs.get(address[-1])
    return opening is not None and address.count(opening) >= address.count(address[-1])

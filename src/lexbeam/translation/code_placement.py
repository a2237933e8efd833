"""Where the codes of a source go in its translation.

Pairs go around the words that translate what they enclosed, points beside the word they stood
beside. Everything works on the text the model saw and the text it gave, masks included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lexbeam.translation.marked_text import Layout, Mask, Pair

Span = tuple[int, int]
Alignment = Sequence[tuple[Span, Span]]
"""Which stretch of the source each stretch of the output translates."""

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")
_QUOTES = "\"'“”„‚‘’«»‹›"
_SOLID = re.compile(r"\S+")
_OPENING = "\"'“„‚‘«‹([{¿¡"
CLOSING = "\"'”’»›)]}.,;:!?…"


class Placed(NamedTuple):
    """A code and the offset in the output where it goes."""

    at: int
    code: int


def count_masks(layout: Layout, output: str) -> bool:
    """Return whether an output has every mask as often as the source, and none besides."""
    texts = [mask.text for mask in layout.masks]
    if any(len(mask_spans(output, text)) != texts.count(text) for text in set(texts)):
        return False
    if any(_is_glued(layout, output, mask) for mask in layout.masks):
        return False
    ordered = [mask_spans(output, mask.text)[0] for mask in layout.masks if mask.ordered]
    return ordered == sorted(ordered)


def _is_glued(layout: Layout, output: str, mask: Mask) -> bool:
    """Return whether a mask is the end of a word of the output, and not of the source."""
    if not mask.text[0].isalpha() or layout.text[: mask.at][-1:].isalpha():
        return False
    return any(output[:start][-1:].isalpha() for start, _ in mask_spans(output, mask.text))


def mask_spans(output: str, mask: str) -> list[Span]:
    """Return where a mask stands in an output."""
    before = r"(?<!\d)(?<!\d[.,])" if mask[0].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if mask[-1].isdigit() else ""
    return [found.span() for found in re.finditer(before + re.escape(mask) + after, output)]


def words_of(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Return the spans of the words in a stretch of text."""
    return [
        found.span() for found in _WORD.finditer(text, start, len(text) if end is None else end)
    ]


def enclosed_words(layout: Layout, pair: Pair) -> str:
    """Return the text inside a pair, without white space around it."""
    return layout.text[pair.start : pair.end].strip()


def find_pair(
    layout: Layout, output: str, pair: Pair, within: Span, forms: Iterable[str] = ()
) -> Span | None:
    """Return where the words of a pair stand in an output, as far as the text itself tells.

    A pair around all words is around all words again. What is the same in both languages, and
    ``forms`` (translations of the words by themselves), are looked up.
    """
    inner = enclosed_words(layout, pair)
    around = _words_around(layout, pair)
    if around is not None:
        return _trimmed(output, within, *around)
    position = pair.start / max(1, len(layout.text))
    for form in (inner, *forms):
        found = _occurrence(output, form, within, position)
        if found:
            return _with_punctuation(output, found, inner, within)
    return None


def _words_around(layout: Layout, pair: Pair) -> tuple[str, str] | None:
    """Return what stands beside a pair that encloses every word, None for any other."""
    before, after = layout.text[: pair.start], layout.text[pair.end :]
    if words_of(before) or words_of(after):
        return None
    return before.strip(), after.strip()


def _trimmed(output: str, within: Span, before: str, after: str) -> Span:
    """Return a span without the punctuation that stands outside in the source, too."""
    start, end = within
    while start < end and (output[start].isspace() or (before and not output[start].isalnum())):
        start += 1
    kept = end
    while kept > start and (output[kept - 1].isspace() or output[kept - 1] in after):
        kept -= 1
    return (start, kept) if start < kept else within


def _occurrence(output: str, phrase: str, within: Span, position: float) -> Span | None:
    """Return the occurrence of a phrase as whole words that is nearest to where it is expected."""
    core = phrase.strip().strip(_OPENING + CLOSING).strip() or phrase
    if not core:
        return None
    pattern = re.escape(core)
    left = r"(?<!\w)" if core[0].isalnum() else ""
    right = r"(?!\w)" if core[-1].isalnum() else ""
    found = [
        match.span()
        for match in re.finditer(left + pattern + right, output, re.IGNORECASE)
        if within[0] <= match.start() and match.end() <= within[1]
    ]
    if not found:
        return None
    return min(found, key=lambda each: abs(each[0] / max(1, len(output)) - position))


def _with_punctuation(output: str, span: Span, inner: str, within: Span) -> Span:
    """Widen a span by the marks that stand inside the pair in the source."""
    core = inner.strip(_OPENING + CLOSING)
    at = inner.find(core)
    leading, trailing = inner[:at], inner[at + len(core) :]
    start, end = span
    while start > within[0] and span[0] - start < len(leading) and output[start - 1] in _OPENING:
        start -= 1
    while end < within[1] and end - span[1] < len(trailing) and output[end] in CLOSING:
        end += 1
    return start, end


def aligned_span(
    alignment: Alignment, pair: Pair, output: str, within: Span, inner: str
) -> Span | None:
    """Return the stretch of an output that translates what a pair encloses, if it is whole.

    It is torn when words between its first and its last translate something else. Marks at its
    ends belong to it if ``inner``, the words of the pair, has some there.
    """
    inside = [out for src, out in alignment if pair.start <= src[0] and src[1] <= pair.end]
    inside = [span for span in inside if span[0] < span[1]]
    if not inside:
        return None
    start, end = min(span[0] for span in inside), max(span[1] for span in inside)
    if start < within[0] or end > within[1]:
        return None
    outside = [out for src, out in alignment if src[1] <= pair.start or src[0] >= pair.end]
    torn = any(start <= out[0] and out[1] <= end and out not in inside for out in outside)
    if torn or not output[start:end].strip():
        return None
    start, end = _whole_words(output, start, end)
    last, first = (
        inner[len(inner.rstrip(CLOSING)) :],
        inner[: len(inner) - len(inner.lstrip(_OPENING))],
    )
    while end - start > 1 and _is_foreign(output[end - 1], last, CLOSING):
        end -= 1
    while end - start > 1 and (
        output[start].isspace()
        or output[start] in ",;:.!?"
        or _is_foreign(output[start], first, _OPENING)
    ):
        start += 1
    return start, end


def _is_foreign(mark: str, own: str, marks: str) -> bool:
    """Return whether a mark at the end of a stretch has nothing like it in its source."""
    if mark not in marks or mark in own:
        return False
    return mark not in _QUOTES or not any(each in _QUOTES for each in own)


def _whole_words(output: str, start: int, end: int) -> Span:
    for first, last in words_of(output):
        if first < start < last:
            start = first
        if first < end < last:
            end = last
    while end > start and output[end - 1].isspace():
        end -= 1
    while start < end and output[start].isspace():
        start += 1
    return start, end


def point_offset(layout: Layout, output: str, at: int, alignment: Alignment | None) -> int:
    """Return where a code between words goes: beside the word it stood beside."""
    text = layout.text
    if at >= len(text):
        return len(output)
    if at <= 0:
        return 0
    glued = not text[at].isspace() and not text[at - 1].isalnum() and text[at - 1] not in CLOSING
    if alignment is not None:
        behind = [out for src, out in alignment if src[0] >= at and out[0] < out[1]]
        if glued and behind:
            start = behind[0][0]
            return start + len(output[start:]) - len(output[start:].lstrip())
        before = [out for src, out in alignment if src[1] <= at]
        if before:
            return max(before[-1][1], 0)
    mark = text[at - 1] if not text[at - 1].isalnum() and not text[at - 1].isspace() else ""
    spots = _spots(output, mark, glued)
    wanted = at / len(text) * len(output)
    return min(spots, key=lambda spot: abs(spot - wanted))


def _spots(output: str, mark: str, before_word: bool) -> list[int]:
    """Return the offsets a point may go to."""
    if mark:
        found = [i + 1 for i, character in enumerate(output) if character == mark]
        if found:
            return found
    if before_word:
        return [found.start() for found in _SOLID.finditer(output)] or [0]
    return [end for _, end in words_of(output)] or [0]

"""Put the codes of a source into its translation, once it is known where they go."""

from __future__ import annotations

from collections.abc import Sequence

from lexbeam.translation.code_placement import (
    CLOSING,
    Alignment,
    Placed,
    Span,
    mask_spans,
    point_offset,
)
from lexbeam.translation.marked_text import Layout


def insert_codes(
    layout: Layout, output: str, alignment: Alignment | None, spans: dict[int, Span]
) -> list[str | int]:
    """Return the output with codes at their places, masks turned into what they stand for.

    ``spans`` are where pairs go, by their opening codes; a pair without one encloses nothing.
    """
    spans = {opening: span for opening, span in spans.items() if span[0] < span[1]}
    placed: list[tuple[int, int, int, Placed]] = []
    for order, pair in enumerate(layout.pairs):
        span = spans.get(pair.opening)
        if span is None:
            at = point_offset(layout, output, pair.start, alignment)
            at = _outside(at, spans, layout, output)
            placed.append((at, 1, order, Placed(at, pair.opening)))
            placed.append((at, 1, order, Placed(at, pair.closing)))
        else:
            placed.append((span[0], 2, order, Placed(span[0], pair.opening)))
            placed.append((span[1], 0, -order, Placed(span[1], pair.closing)))
    for point in layout.points:
        at = _outside(point_offset(layout, output, point.at, alignment), {}, layout, output)
        placed.append((at, 1, point.code, Placed(at, point.code)))
    ordered = [each[3] for each in sorted(placed, key=lambda each: each[:3])]
    return _spaced(layout, _woven(output, ordered, _masks_in(layout, output)))


def _spaced(layout: Layout, woven: list[str | int]) -> list[str | int]:
    """Put spaces on both sides of a code between words that has them in the source."""
    points = {point.code for point in layout.points if layout.is_spaced(point.code)}
    for i, part in enumerate(woven):
        if part not in points:
            continue
        before = woven[i - 1] if i else ""
        after = woven[i + 1] if i + 1 < len(woven) else ""
        if isinstance(before, str) and before and not before[-1].isspace():
            woven[i - 1] = before + " "
        if isinstance(after, str) and after and not after[0].isspace() and after[0] not in CLOSING:
            woven[i + 1] = " " + after
    return woven


def _outside(at: int, spans: dict[int, Span], layout: Layout, output: str) -> int:
    """Move an offset out of masks and of pairs it must not be in."""
    for start, end in spans.values():
        if start < at < end:
            at = end
    for mask in layout.masks:
        for start, end in mask_spans(output, mask.text):
            if start < at < end:
                at = end
    return at


def _masks_in(layout: Layout, output: str) -> list[tuple[int, int, int]]:
    """Return start, end and code of every mask in an output."""
    waiting: dict[str, list[int]] = {}
    for mask in layout.masks:
        waiting.setdefault(mask.text, []).append(mask.code)
    return sorted(
        (start, end, index)
        for text, indices in waiting.items()
        for (start, end), index in zip(mask_spans(output, text), indices, strict=True)
    )


def _woven(
    output: str, placed: Sequence[Placed], masks: Sequence[tuple[int, int, int]]
) -> list[str | int]:
    """Return an output cut at its codes."""
    events = [(each.at, 0, i, each.at, each.code) for i, each in enumerate(placed)]
    events += [(start, 1, 0, end, index) for start, end, index in masks]
    result: list[str | int] = []
    at = 0
    for start, _, _, end, index in sorted(events):
        result += [output[at:start], index]
        at = end
    return [part for part in [*result, output[at:]] if part != ""]

"""Where the tags of a source go in its translation.

Tags cut a source into segments, and keep their order. Each word of the translation is put into a
segment, so that it stands between the same tags as what it translates; words that follow one
another are in the same segment or in a later one. What has the fewest words between other tags
than their sources is found by dynamic programming. Markup that was well-formed stays so, since
its tags come in the same order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import FloatArray
from lexbeam.text.word_boundaries import Span, are_glued, is_word_character
from lexbeam.translation.results import Link
from lexbeam.translation.tags import closes, find_pairs, opens
from lexbeam.translation.text_edits import Edit

_MARK_WEIGHT = 0.3  # of punctuation, whose attention says little
_UNKNOWN_WEIGHT = 0.1  # of words that are not aligned: they go with their neighbours
_NOTHING_BETWEEN = 0.6  # the cost of tags that have nothing between them any more
_FIXED = 1e6  # the cost of what may not be


class PlacedTag(NamedTuple):
    """A tag, and where it stands in the source without tags."""

    text: str
    at: int


class Bounds(NamedTuple):
    """What tags may not get into."""

    fixed: Sequence[Span] = ()
    """Stretches of the translation that stay as they are."""
    begins: bool = False
    """Whether no tag may stand before the first of them."""
    ends: bool = False
    """Whether no tag may stand behind the last."""


def place_tags(
    tags: Sequence[PlacedTag],
    source: str,
    output: str,
    links: Sequence[Link],
    bounds: Bounds,
) -> list[Edit]:
    """Return the insertions that put tags into an output, in their order.

    ``source`` has no tags; ``links`` say which of its words the output translates where.
    """
    words = _merged(_words(output), [*bounds.fixed, *(link.target for link in links)])
    if not words:
        return [Edit(0, 0, "".join(tag.text for tag in tags))]
    segments = _Segments(tags, source)
    costs = segments.costs(_sources(words, output, links, segments))
    if bounds.begins:
        costs[0, 1:] += _FIXED
    if bounds.ends:
        costs[-1, :-1] += _FIXED
    chosen = [0, *_best_path(costs, segments.unfilled), len(tags)]
    edits = []
    for gap, (last, first) in enumerate(pairwise(chosen)):
        if first > last:
            start = words[gap - 1][1] if gap else 0
            end = words[gap][0] if gap < len(words) else len(output)
            edits += _insert(tags[last:first], start, end, gap == len(words))
    return edits


class _Segments:
    """The stretches of a source between its tags, and the pairs that each is in."""

    def __init__(self, tags: Sequence[PlacedTag], source: str) -> None:
        self._starts = [tag.at for tag in tags]
        size = len(tags) + 1
        pairs = find_pairs([tag.text for tag in tags])
        self._inside = np.zeros((size, max(len(pairs), 1)))  # shape: (segments, pairs)
        for number, (opening, closing) in enumerate(pairs):
            self._inside[opening + 1 : closing + 1, number] = 1.0
        spans = zip([0, *self._starts], [*self._starts, len(source)], strict=True)
        has_words = np.array([bool(source[start:end].strip()) for start, end in spans])
        matters = has_words & self._inside.any(axis=1)
        self.unfilled: FloatArray = np.where(matters, _NOTHING_BETWEEN, 0.0)
        """What it costs to leave each without words."""

    def __len__(self) -> int:
        return len(self._starts) + 1

    def of(self, span: Span) -> FloatArray:
        """Return the share of a stretch of the source that is in each segment."""
        start, end = span
        shares = np.zeros(len(self))
        first = bisect_right(self._starts, start)
        last = max(bisect_right(self._starts, max(end - 1, start)), first)
        edges = [start, *self._starts[first:last], max(end, start + 1)]
        shares[first : last + 1] = np.diff(edges)
        shares /= max(shares.sum(), 1.0)
        return shares

    def costs(self, sources: FloatArray) -> FloatArray:
        """Return what it costs to put words with given sources into each segment.

        That is the number of pairs that either the source is in or the segment, and next to
        nothing for the way between them. # shape: (words, segments), both
        """
        pairs = sources @ self._inside
        both = pairs @ self._inside.T
        different = (
            pairs.sum(axis=1)[:, None]
            + sources.sum(axis=1)[:, None] * self._inside.sum(axis=1)
            - 2 * both
        )
        places = np.arange(len(self))
        far = np.abs(places[:, None] - places) / (4 * len(self))
        result: FloatArray = different + sources @ far
        return result


def _words(text: str) -> list[Span]:
    """Return the words of a text, each mark being one."""
    words: list[Span] = []
    for offset, character in enumerate(text):
        if character.isspace():
            continue
        if words and words[-1][1] == offset and are_glued(text[offset - 1], character):
            words[-1] = words[-1][0], offset + 1
        else:
            words.append((offset, offset + 1))
    return words


def _merged(words: Sequence[Span], together: Sequence[Span]) -> list[Span]:
    """Return words, as one where they are in something that stays together."""
    merged: list[Span] = []
    held = sorted(span for span in together if span[0] < span[1])
    at = reach = 0
    for start, end in words:
        is_held = start < reach
        while at < len(held) and held[at][0] < end:
            if held[at][1] > start:
                reach = max(reach, held[at][1])
            at += 1
        if is_held and merged:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _sources(
    words: Sequence[Span], output: str, links: Sequence[Link], segments: _Segments
) -> FloatArray:
    """Return how much of each word comes from which segment. # shape: (words, segments)."""
    sources = np.zeros((len(words), len(segments)))
    starts = [start for start, _ in words]
    for link in links:
        word = bisect_right(starts, link.target[0]) - 1
        if word >= 0:
            sources[word] += segments.of(link.source)
    total = sources.sum(axis=1)
    known = total > 0
    weights = [
        1.0 if any(map(is_word_character, output[start:end])) else _MARK_WEIGHT
        for start, end in words
    ]
    sources[known] *= (np.array(weights)[known] / total[known])[:, None]
    if known.any():
        before = np.maximum.accumulate(np.where(known, np.arange(len(words)), -1))
        for word in np.flatnonzero(~known & (before >= 0)).tolist():
            neighbour = sources[before[word]]
            sources[word] = _UNKNOWN_WEIGHT * neighbour / neighbour.sum()
    return sources


def _best_path(costs: FloatArray, unfilled: FloatArray) -> list[int]:
    """Return the segment of each word: never falling, at the least cost in all."""
    size = costs.shape[1]
    passed = np.concatenate(([0.0], np.cumsum(unfilled)))  # of all segments before one
    best = passed[:-1] + costs[0]
    before = np.zeros(costs.shape, np.int64)
    places = np.arange(size)
    for word in range(1, len(costs)):
        leaving = best - passed[1:]
        least = np.minimum.accumulate(leaving)
        origin = np.maximum.accumulate(np.where(leaving == least, places, 0))
        moved = np.full(size, np.inf)
        moved[1:] = least[:-1] + passed[1:-1]
        stays = best <= moved
        before[word] = np.where(stays, places, np.concatenate(([0], origin[:-1])))
        best = np.where(stays, best, moved) + costs[word]
    chosen = [int(np.argmin(best + passed[-1] - passed[1:]))]
    for word in range(len(costs) - 1, 0, -1):
        chosen.append(int(before[word, chosen[-1]]))
    return chosen[::-1]


def _insert(tags: Sequence[PlacedTag], start: int, end: int, is_last: bool) -> list[Edit]:
    """Return the insertions of tags between two words: closing ones behind the first.

    Those from the first opening one on stand before the second word.
    """
    if is_last:
        return [Edit(start, 0, "".join(tag.text for tag in tags))]
    closing = 0
    for number, tag in enumerate(tags, 1):
        if closes(tag.text):
            closing = number
        elif opens(tag.text):
            break
    left = "".join(tag.text for tag in tags[:closing])
    right = "".join(tag.text for tag in tags[closing:])
    return [Edit(at, 0, text) for at, text in ((start, left), (end, right)) if text]

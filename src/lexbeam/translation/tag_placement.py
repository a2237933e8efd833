"""Where the tags of a source go in its translation.

Tags cut a source into segments, and keep their order. Each word of the translation is put into a
segment, so that it stands between the same tags as what it translates; words that follow one
another are in the same segment or in a later one. What has the fewest words between other tags
than their sources is found by dynamic programming. Markup that was well-formed stays so, since
its tags come in the same order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import FloatArray
from lexbeam.text.word_boundaries import Span, are_glued, is_word_character
from lexbeam.translation.alignment import TokenText, words_of
from lexbeam.translation.results import Link
from lexbeam.translation.tags import closes, find_pairs, opens
from lexbeam.translation.text_edits import Edit

_MARK_WEIGHT = 0.3  # of punctuation, whose attention says little
_UNKNOWN_WEIGHT = 0.1  # of words that are not aligned: they go with their neighbours
_NOTHING_BETWEEN = 0.6  # the cost of tags that have nothing between them any more
_LEAST_WORDS = 50  # of a long output that are looked at together
_FIXED = 1e6  # the cost of what may not be


class PlacedTag(NamedTuple):
    """A tag, and where it stands in the source without tags."""

    text: str
    at: int


class LineEnd(NamedTuple):
    """The offset of a line break in the translation, and the tags that stand there."""

    at: int
    first: int
    last: int


class Bounds(NamedTuple):
    """What tags may not get into."""

    fixed: Sequence[Span] = ()
    """Stretches of the translation that stay as they are."""
    begins: bool = False
    """Whether no tag may stand before the first of them."""
    ends: bool = False
    """Whether no tag may stand behind the last."""
    breaks: Sequence[LineEnd] = ()
    """Where lines end, from left to right."""
    outside_words: bool = False
    """Whether no tag may stand inside of a word, even if that is copied and had one in it."""


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
    if not bounds.outside_words:
        links = [piece for link in links for piece in _cut(link, tags, source, output)]
    links = sorted(links, key=lambda link: link.target)
    cuts = {link.target[0] for link in links}
    words = _merged(
        _cut_words(words_of(TokenText(output, ())), cuts),
        [*bounds.fixed, *(link.target for link in links)],
    )
    if not words:
        return [Edit(0, 0, "".join(tag.text for tag in tags))]
    segments = _Segments(tags, source)
    chosen = [0]
    for stretch in _stretches(words, links, tags):
        costs = segments.costs(_sources(words, output, links, segments, stretch), stretch)
        _keep_to(bounds, costs, stretch, words, len(tags))
        unfilled = segments.unfilled[stretch.first : stretch.last + 1]
        chosen += [stretch.first + each for each in _best_path(costs, unfilled)]
    chosen.append(len(tags))
    edits = []
    for gap, (last, first) in enumerate(pairwise(chosen)):
        if first > last:
            start = words[gap - 1][1] if gap else 0
            end = words[gap][0] if gap < len(words) else len(output)
            edits += _insert(tags[last:first], start, end, gap == len(words))
    return [_apart(edit, output) for edit in edits]


class _Stretch(NamedTuple):
    """Words of an output, and the segments of the source that they translate."""

    start: int
    end: int
    first: int
    """The first segment that they may be in."""
    last: int


def _stretches(
    words: Sequence[Span], links: Sequence[Link], tags: Sequence[PlacedTag]
) -> list[_Stretch]:
    """Return an output in stretches, each of which translates a stretch of the source.

    It takes time in proportion to its words and tags, since the best way is found in each of them.
    """
    owners = [bisect_right(words, link.target[0], key=lambda word: word[0]) - 1 for link in links]
    ends, starts = np.zeros(len(words), np.int64), np.full(len(words) + 1, 2**62)
    for owner, link in zip(owners, links, strict=True):
        ends[owner] = max(ends[owner], link.source[1])
        starts[owner] = min(starts[owner], link.source[0])
    reached = np.maximum.accumulate(ends)
    to_come = np.minimum.accumulate(starts[::-1])[::-1][1:]
    stretches: list[_Stretch] = []
    start = first = 0
    for word in np.flatnonzero((reached <= to_come) & (ends > 0)).tolist():
        if word + 1 - start >= _LEAST_WORDS and word + 1 < len(words):
            last = bisect_right(tags, int(reached[word]) - 1, key=lambda tag: tag.at)
            while last < len(tags) and tags[last].at <= to_come[word] and closes(tags[last].text):
                last += 1
            stretches.append(_Stretch(start, word + 1, first, last))
            start, first = word + 1, last
    return [*stretches, _Stretch(start, len(words), first, len(tags))]


def _keep_to(
    bounds: Bounds, costs: FloatArray, stretch: _Stretch, words: Sequence[Span], tags: int
) -> None:
    """Let what may not be cost very much."""
    if bounds.begins and stretch.start == 0:
        costs[0, 1:] += _FIXED
    if bounds.ends and stretch.end == len(words):
        costs[-1, : tags - stretch.first] += _FIXED
    start, end = words[stretch.start][0], words[stretch.end - 1][1]
    lowest = bisect_left(bounds.breaks, start, key=lambda each: each.at)
    highest = bisect_right(bounds.breaks, end, key=lambda each: each.at)
    for at, first, last in bounds.breaks[max(lowest - 1, 0) : highest + 1]:
        here = max(bisect_right(words, at, key=lambda word: word[0]) - stretch.start, 0)
        costs[:here, max(first + 1 - stretch.first, 0) :] += _FIXED
        costs[here:, : max(last - stretch.first, 0)] += _FIXED


class _Segments:
    """The stretches of a source between its tags, and the pairs that each is in."""

    def __init__(self, tags: Sequence[PlacedTag], source: str) -> None:
        self._starts = [tag.at for tag in tags]
        pairs = find_pairs([tag.text for tag in tags])
        self._pair_of = {tag: pair for pair in pairs for tag in pair}
        depth = np.zeros(len(tags) + 2, np.int64)
        for opening, closing in pairs:
            depth[opening + 1] += 1
            depth[closing + 1] -= 1
        spans = zip([0, *self._starts], [*self._starts, len(source)], strict=True)
        has_words = np.array([bool(source[start:end].strip()) for start, end in spans])
        matters = has_words & (np.cumsum(depth)[:-1] > 0)
        self.unfilled: FloatArray = np.where(matters, _NOTHING_BETWEEN, 0.0)
        """What it costs to leave each without words."""

    def of(self, span: Span, stretch: _Stretch) -> FloatArray:
        """Return the share of a stretch of the source that is in each segment."""
        start, end = span
        shares = np.zeros(stretch.last - stretch.first + 1)
        first = bisect_right(self._starts, start)
        last = max(bisect_right(self._starts, max(end - 1, start)), first)
        edges = [start, *self._starts[first:last], max(end, start + 1)]
        for segment, length in enumerate(np.diff(edges).tolist(), first):
            shares[min(max(segment, stretch.first), stretch.last) - stretch.first] += length
        shares /= shares.sum()
        return shares

    def costs(self, sources: FloatArray, stretch: _Stretch) -> FloatArray:
        """Return what it costs to put words with given sources into each segment.

        That is the number of pairs that either the source is in or the segment, and next to
        nothing for the way between them. # shape: (words, segments), both
        """
        inside = self._inside(stretch)
        pairs = sources @ inside
        depths = sources.sum(axis=1)[:, None] * inside.sum(axis=1)
        different = pairs.sum(axis=1)[:, None] + depths - 2 * (pairs @ inside.T)
        places = np.arange(len(inside))
        far = np.abs(places[:, None] - places) / (4 * len(inside))
        result: FloatArray = different + sources @ far
        return result

    def _inside(self, stretch: _Stretch) -> FloatArray:
        """Return which segments of a stretch are in which pairs. # shape: (segments, pairs).

        Pairs around all of them make no difference.
        """
        first, last = stretch.first, stretch.last
        pairs = {self._pair_of[tag] for tag in range(first, last) if tag in self._pair_of}
        inside = np.zeros((last - first + 1, max(len(pairs), 1)))
        for number, (opening, closing) in enumerate(sorted(pairs)):
            inside[max(opening + 1 - first, 0) : closing + 1 - first, number] = 1.0
        return inside


def _cut(link: Link, tags: Sequence[PlacedTag], source: str, output: str) -> list[Link]:
    """Return the parts of a link between tags that stand inside a word: it may be copied."""
    (start, end), at = link.source, link.target[0]
    first, last = (bisect_right(tags, each, key=lambda tag: tag.at) for each in (start, end - 1))
    if first == last or source[start:end] != output[slice(*link.target)]:
        return [link]
    edges = sorted({start, *(tag.at for tag in tags[first:last]), end})
    return [Link((a, b), (a - start + at, b - start + at)) for a, b in pairwise(edges)]


def _cut_words(words: Sequence[Span], cuts: Set[int]) -> list[Span]:
    """Return words cut at given offsets."""
    cut: list[Span] = []
    for start, end in words:
        edges = [start, *(at for at in range(start + 1, end) if at in cuts), end]
        cut += pairwise(edges)
    return cut


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
    words: Sequence[Span],
    output: str,
    links: Sequence[Link],
    segments: _Segments,
    stretch: _Stretch,
) -> FloatArray:
    """Return how much of each word comes from which segment. # shape: (words, segments)."""
    own = words[stretch.start : stretch.end]
    sources = np.zeros((len(own), stretch.last - stretch.first + 1))
    begin = bisect_left(links, own[0][0], key=lambda link: link.target[0])
    end = bisect_left(links, own[-1][1], key=lambda link: link.target[0])
    for link in links[begin:end]:
        word = bisect_right(own, link.target[0], key=lambda each: each[0]) - 1
        sources[word] += segments.of(link.source, stretch)
    total = sources.sum(axis=1)
    known = total > 0
    weights = [
        1.0 if any(map(is_word_character, output[slice(*each)])) else _MARK_WEIGHT for each in own
    ]
    sources[known] *= (np.array(weights)[known] / total[known])[:, None]
    before = np.maximum.accumulate(np.where(known, np.arange(len(own)), -1))
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


def _apart(edit: Edit, output: str) -> Edit:
    """Return the insertion of tags, with a space where a word begins with a combining mark.

    Else the mark would be part of the tag, and neither would stand there as whole words.
    """
    following = output[edit.at : edit.at + 1]
    begins = edit.at == 0 or output[edit.at - 1].isspace()
    return (
        edit._replace(new=f"{edit.new} ") if begins and are_glued(">", following or " ") else edit
    )

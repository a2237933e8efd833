"""Shortlists from parallel text: the tokens that the words of a source are translated by.

An aligner links words; every token of a source word then has every token of the target words that
are linked to it. The most frequent of these are listed for it, and the most frequent tokens of all
for every sentence. A token that both vocabularies have is listed for itself: names are copied.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.models import bundle, shortlist
from lexbeam.search.arrays import IntArray
from lexbeam.text.vocabulary import Processor
from lexbeam.train.alignment import Alignments, Links, align_words
from lexbeam.train.config import Corpus, ShortlistConfig
from lexbeam.train.corpus import Pair, read_clean
from lexbeam.train.vocabulary import EOS, Vocabulary
from lexbeam.train.words import PieceWords

TRANSLATIONS = 100
"""Listed for each source token, if nothing else is asked for."""
MAX_RATIO = 3.0
"""Pairs whose sides differ more than this in characters are taken for misaligned."""
AT_ONCE = 4_000_000
"""Links that are counted together."""


class Side(NamedTuple):
    """One language of a model: its tokens, and which of them make up words."""

    pieces: Sequence[str]
    words: PieceWords

    def word_numbers(self, ids: IntArray) -> IntArray:
        """Return the word of each token of a sentence, counted from 0."""
        return np.cumsum(self.words.begins(ids.astype(np.int32))) - 1


def make_side(pieces: Sequence[str], eos: int) -> Side:
    """Return a language of a model, given its tokens by id."""
    return Side(pieces, PieceWords(pieces, eos))


class TranslationCounts:
    """How often each target token was linked to each source token."""

    def __init__(self, source: Side, target: Side) -> None:
        self._sides = source, target
        self._links: list[NDArray[np.int64]] = []
        self._waiting = 0
        self._keys = np.zeros(0, np.int64)  # source token · target vocabulary + target token
        self._counts = np.zeros(0, np.int64)
        self.frequencies = np.zeros(len(target.pieces), np.int64)

    def add(self, source: Sequence[int], target: Sequence[int], links: Links) -> None:
        """Count the links between the words of a pair."""
        ids = np.array(source, np.int64), np.array(target, np.int64)
        if not (ids[0].size and ids[1].size):
            return
        words = [side.word_numbers(some) for side, some in zip(self._sides, ids, strict=True)]
        linked = np.zeros((words[0][-1] + 1, words[1][-1] + 1), np.bool_)
        linked[links[:, 0], links[:, 1]] = True
        left, right = np.nonzero(linked[words[0][:, None], words[1]])
        self._links.append(ids[0][left] * len(self.frequencies) + ids[1][right])
        self._waiting += len(left)
        self.frequencies += np.bincount(ids[1], minlength=len(self.frequencies))
        if self._waiting > AT_ONCE:
            self._count()

    def _count(self) -> None:
        found, counts = np.unique(
            np.concatenate([*self._links, self._keys[:0]]), return_counts=True
        )
        keys, index = np.unique(np.concatenate([self._keys, found]), return_inverse=True)
        total = np.bincount(index, np.concatenate([self._counts, counts]), len(keys))
        self._keys, self._counts = keys, total.astype(np.int64)
        self._links, self._waiting = [], 0

    def best(self, number: int, for_all: IntArray) -> list[IntArray]:
        """Return the most frequent translations of each source token that are not for all."""
        self._count()
        source, target = np.divmod(self._keys, len(self.frequencies))
        own = ~np.isin(target, for_all)
        source, target, counts = source[own], target[own], self._counts[own]
        order = np.lexsort((target, -counts, source))
        source, target = source[order], target[order]
        first = np.searchsorted(source, np.arange(len(self._sides[0].pieces) + 1))
        return [target[begin : min(end, begin + number)] for begin, end in pairwise(first)]


def make_shortlist(
    counts: TranslationCounts, sides: tuple[Side, Side], config: ShortlistConfig, always: int
) -> bytes:
    """Return a shortlist as a file; ``always`` is a token that every source has."""
    most = np.argsort(-counts.frequencies, kind="stable")[: config.frequent]
    for_all = most[counts.frequencies[most] > 0]
    lists = counts.best(config.translations, for_all)
    ids = {piece: number for number, piece in enumerate(sides[1].pieces)}
    for number, piece in enumerate(sides[0].pieces):
        if piece and piece in ids:
            lists[number] = np.append(ids[piece], lists[number])
    return shortlist.pack(lists, for_all, always)


def from_alignments(
    config: ShortlistConfig,
    vocabulary: Vocabulary,
    corpora: Sequence[Sequence[Pair]],
    alignments: Sequence[Alignments],
) -> bytes:
    """Return the shortlist of a model that is trained, as a file, from its aligned text."""
    side = make_side(vocabulary.pieces, EOS)
    counts = TranslationCounts(side, side)
    for pairs, aligned in zip(corpora, alignments, strict=True):
        sources = vocabulary.encode([source for source, _ in pairs])
        targets = vocabulary.encode([target for _, target in pairs])
        for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
            counts.add(source, target, aligned.of(number))
    return make_shortlist(counts, (side, side), config, EOS)


def add_shortlist(folder: Path, parallel: Path, config: ShortlistConfig | None = None) -> None:
    """Give a bundle a shortlist made from parallel text.

    Args:
        folder: the bundle.
        parallel: a file with source, tab and target in each line; gzipped, if it ends in .gz.
        config: how long the lists are.
    """
    config = config or ShortlistConfig(translations=TRANSLATIONS)
    pairs = read_clean(Corpus(path=str(parallel)), MAX_RATIO)
    model = bundle.load(folder)
    sizes = bundle.read_sizes(folder)
    sides = _side(model.source, sizes[0]), _side(model.target, sizes[1])
    sources, targets = (_encode(model.source, pairs, 0), _encode(model.target, pairs, 1))
    counts = TranslationCounts(*sides)
    with tempfile.TemporaryDirectory() as scratch:
        links = align_words(
            Path(scratch),
            [sides[0].words.split(ids) for ids in sources],
            [sides[1].words.split(ids) for ids in targets],
        )
        for source, target, linked in zip(sources, targets, links, strict=True):
            counts.add(source, target, linked)
    always = model.encode("")[-1]
    content = make_shortlist(counts, sides, config, always)
    bundle.add_shortlist(folder, content, sample=config.sample, longest=config.longest)


def _side(processor: Processor, size: int) -> Side:
    """Return a language of a network that has so many tokens: pieces may be fewer, or more."""
    known = processor.id_to_piece(list(range(min(len(processor), size))))
    return make_side([*known, *[""] * (size - len(known))], processor.eos_id())


def _encode(processor: Processor, pairs: Sequence[Pair], side: int) -> list[list[int]]:
    encoded: list[list[int]] = processor.encode([pair[side] for pair in pairs])
    return encoded

"""Shortlists for models of our own: which target tokens a source token may lead to.

They are made from word alignments: every piece of a source word leads to every piece of the words
that it is linked to. On top of that come the piece itself, for names that are copied, and what is
frequent or spells anything: that belongs to the end of sentence, which every source has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.models import shortlist
from lexbeam.text.vocabulary import SPACE
from lexbeam.train.alignment import Links
from lexbeam.train.words import PieceWords

BEST = 200
"""Target tokens of a source token, at most: those that it is linked to most often."""
LEAST_SHARE = 0.0005
"""The least share of a source token's links that a target token must have."""
FREQUENT = 600
"""Target tokens that every sentence may use."""

_AT_ONCE = 1 << 22  # links that are counted together

Ids = Sequence[int]
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


class LinkedPair(NamedTuple):
    """The pieces of two sentences, without their ends, and the links between their words."""

    source: Ids
    target: Ids
    links: Links


class LinkCounter:
    """Counts how often pieces are linked, and how often target pieces occur."""

    def __init__(self, words: PieceWords, vocabulary: int) -> None:
        self._words = words
        self._vocabulary = vocabulary
        self._occurs = np.zeros(vocabulary, np.int64)
        self._keys = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)

    def count(self, pairs: Iterable[LinkedPair]) -> None:
        """Count the links of some pairs."""
        waiting: list[NDArray[np.int64]] = []
        size = 0
        for pair in pairs:
            if not len(pair.source) or not len(pair.target):
                continue
            keys = self._pieces_linked(pair)
            waiting.append(keys)
            size += len(keys)
            if size > _AT_ONCE:
                self._add(waiting)
                waiting, size = [], 0
        self._add(waiting)

    def _pieces_linked(self, pair: LinkedPair) -> NDArray[np.int64]:
        """Return a number for each pair of linked pieces: source · vocabulary + target."""
        sides = [np.array(side, np.int32) for side in (pair.source, pair.target)]
        self._occurs[sides[1]] += 1
        source, target = (np.cumsum(self._words.begins(side)) - 1 for side in sides)
        linked = np.zeros((source[-1] + 1, target[-1] + 1), np.bool_)
        inside = (pair.links[:, 0] <= source[-1]) & (pair.links[:, 1] <= target[-1])
        links = pair.links[inside]
        linked[links[:, 0], links[:, 1]] = True
        first, second = linked[source][:, target].nonzero()
        keys: NDArray[np.int64] = sides[0][first].astype(np.int64) * self._vocabulary
        return keys + sides[1][second]

    def _add(self, waiting: Sequence[NDArray[np.int64]]) -> None:
        new, counts = np.unique(np.concatenate([self._keys[:0], *waiting]), return_counts=True)
        keys = np.concatenate((self._keys, new))
        self._keys, index = np.unique(keys, return_inverse=True)
        both = np.concatenate((self._counts, counts))
        self._counts = np.bincount(index, both, len(self._keys)).astype(np.int64)

    def lists(self, pieces: Sequence[str], eos: int) -> list[NDArray[np.int64]]:
        """Return the target tokens of each source token, rising."""
        sources, targets = np.divmod(self._keys, self._vocabulary)
        starts = np.searchsorted(sources, np.arange(self._vocabulary + 1))
        lists = []
        for token in range(self._vocabulary):
            here = slice(starts[token], starts[token + 1])
            found, counts = targets[here], self._counts[here]
            best = (-counts).argsort(kind="stable")[:BEST]
            best = best[counts[best] >= max(LEAST_SHARE * counts.sum(), 1)]
            lists.append(np.union1d(found[best], [token]))
        always = (-self._occurs).argsort(kind="stable")[:FREQUENT]
        lists[eos] = np.union1d(always, _spelling(pieces))
        return lists


def _spelling(pieces: Sequence[str]) -> NDArray[np.int64]:
    """Return the pieces of one character, and the bytes: anything can be spelled with them."""
    short = [
        number
        for number, piece in enumerate(pieces)
        if len(piece.replace(SPACE, "")) <= 1 or (piece.startswith("<0x") and piece.endswith(">"))
    ]
    return np.array(short, np.int64)


def to_file(lists: Sequence[NDArray[np.int64]]) -> bytes:
    """Return lists as a bundle keeps them."""
    return shortlist.pack(lists)

"""The output layer in the graph of the runtime, with all that is asked of it.

For layers that are not in eight bits, and where nothing is compiled (`engines.output`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.models.engines.onnx_batch import Asked, Batch, Scored
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.search.arrays import IntArray

_WIDTH_MULTIPLE = 16  # candidates fill whole vectors of the runtime's kernels


class GraphLists(NamedTuple):
    """The shortlists of a batch."""

    candidates: IntArray  # shape: (sentences, width), ids; the vocabulary's size: none
    ids: IntArray  # shape: (sentences, width), the same with any id for none
    index_of_id: IntArray  # shape: (sentences, vocabulary + 1), the candidate of each id


class GraphOutput:
    """What is asked of an output layer in the graph, and how its answers are read."""

    answers = ("top_scores", "top_ids", "ask_scores")
    """What a step of the graph returns."""

    def __init__(self, rules: TokenRules, sample: IntArray) -> None:
        self._size = rules.vocabulary_size
        self._never = (rules.eos, *(token for token in rules.never if token != rules.eos))
        self._starts = rules.word_starts
        self._sample = sample

    def lists(self, candidates: Sequence[IntArray]) -> GraphLists:
        """Return the lists of a batch, given the ids of each sentence."""
        return tabulate(candidates, self._size, self._never)

    def for_encoder(self, lists: GraphLists | None) -> dict[str, NDArray[Any]]:
        """Return what the encoder takes of lists."""
        return {} if lists is None else {"candidates": lists.candidates}

    def memory(self, lists: GraphLists | None) -> dict[str, NDArray[Any]]:
        """Return what steps take of lists beside what the encoder has returned."""
        if lists is None or not self._sample.size:
            return {}
        return {"memory.unlisted": unlisted_weights(lists.index_of_id, self._sample)}

    def feed(self, batch: Batch, sentences: IntArray, asked: Asked) -> dict[str, NDArray[Any]]:
        """Return what a step takes of what is asked."""
        lists, list_of_row = batch.lists, batch.lists_of(sentences)
        width = self._size if lists is None else lists.ids.shape[1]
        excluded, scores = self._exclude(lists, list_of_row, asked)
        feed: dict[str, NDArray[Any]] = {
            "ask": _indices(lists, list_of_row, asked.tokens),
            "excluded": excluded,
            "excluded_scores": scores,
            "top": _top(min(asked.top, width)),
        }
        if self._sample.size and not batch.single:
            feed["sentences"] = sentences
        return feed

    def read(
        self, batch: Batch, sentences: IntArray, asked: Asked, answers: Sequence[NDArray[Any]]
    ) -> Scored:
        """Return the scores that a step has answered with."""
        top_scores, top_ids, ask_scores = answers
        lists = batch.lists
        if lists is None:
            top_ids = np.minimum(top_ids, self._size - 1)
        else:
            top_ids = lists.ids[batch.lists_of(sentences)[:, None], top_ids]
        missing = asked.top - top_ids.shape[1]
        if missing:
            top_scores = np.pad(top_scores, ((0, 0), (0, missing)), constant_values=-np.inf)
            top_ids = np.pad(top_ids, ((0, 0), (0, missing)))
        return top_scores, top_ids, ask_scores

    def _exclude(
        self, lists: GraphLists | None, list_of_row: IntArray, asked: Asked
    ) -> tuple[IntArray, NDArray[np.float32]]:
        """Return what may not be among the best: end of sentence, banned tokens, word starts.

        Candidates have only the first of what may never be, the end of sentence.
        # shape: (excluded, 2), row and index of each; (excluded,), minus infinity for each
        """
        rows, ban, hold = len(list_of_row), asked.ban, asked.hold
        excluded, scores = _always_excluded(rows, self._never if lists is None else (0,))
        if not ban.size and hold is None:
            return excluded, scores
        parts = [excluded]
        if ban.size:
            row = np.repeat(np.arange(rows), ban.shape[1])
            parts.append(np.stack([row, _indices(lists, list_of_row, ban).ravel()], axis=1))
        if hold is not None and self._starts is not None:
            held = np.flatnonzero(hold)
            starts = np.broadcast_to(self._starts, (len(held), len(self._starts)))
            if lists is not None:
                starts = self._starts[lists.ids[list_of_row[held]]]
            row, index = np.nonzero(starts)
            parts.append(np.stack([held[row], index], axis=1))
        excluded = np.concatenate(parts)
        return excluded, np.full(len(excluded), -np.inf, np.float32)


def tabulate(lists: Sequence[IntArray], vocabulary: int, never: tuple[int, ...]) -> GraphLists:
    """Return the candidates of each sentence as a table, and the index of each id in it.

    The end of sentence, the first of ``never``, comes first. The last candidate is always an id
    of no token (the vocabulary's size), whose score is minus infinity; the index of every token
    that is not listed points there.
    """
    width = -(-(max(map(len, lists)) + 2) // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE
    ids = np.full((len(lists), width), vocabulary, np.int64)
    index = np.full((len(lists), vocabulary + 1), -1, np.int64)
    listed = np.ones(vocabulary + 1, np.bool_)
    listed[list(never)] = False
    for row, index_of, candidates in zip(ids, index, lists, strict=True):
        others = candidates[listed[candidates]]
        row[0] = never[0]
        row[1 : len(others) + 1] = others
        index_of[row[: len(others) + 1]] = np.arange(len(others) + 1)
    return GraphLists(ids, np.minimum(ids, vocabulary - 1), index)


def unlisted_weights(index: IntArray, sample: IntArray) -> NDArray[np.float32]:
    """Return how many tokens each one of a sample stands for, as logarithms.

    Those of the sample that are not on a sentence's list stand for all tokens that are not, in
    equal parts; those on it for none. ``index`` is that of `GraphLists`.

    # shape: (sentences, sample)
    """
    unlisted = index[:, sample] < 0
    in_sample = unlisted.sum(axis=1)
    in_all = (index[:, :-1] < 0).sum(axis=1)
    each = np.log(np.maximum(in_all, 1) / np.maximum(in_sample, 1))
    return np.where(unlisted, each[:, None], -np.inf).astype(np.float32)


def _indices(lists: GraphLists | None, list_of_row: IntArray, tokens: IntArray) -> IntArray:
    """Return the candidates that tokens are; PAD and what is not listed is -1, the last one."""
    if lists is None or not tokens.size:
        return tokens
    return lists.index_of_id[list_of_row[:, None], tokens]


@lru_cache(maxsize=256)
def _always_excluded(rows: int, indices: tuple[int, ...]) -> tuple[IntArray, NDArray[np.float32]]:
    row = np.repeat(np.arange(rows), len(indices))
    excluded = np.stack([row, np.tile(indices, rows)], axis=1)
    return excluded, np.full(len(excluded), -np.inf, np.float32)


@lru_cache(maxsize=64)
def _top(number: int) -> IntArray:
    return np.array([number])

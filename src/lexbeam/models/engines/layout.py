"""Rows in the order that Hugging Face code expects: all beams of all sentences, in every step.

The search scores only live rows. Logits processors and the scores that ``generate`` returns need
``sentences · beams`` rows, with the beams of a sentence next to each other. An empty slot gets the
first row of its sentence; the slots of a finished sentence get the last row it had.

A beam may get wider than ``beams`` for some steps. Processors that count beams are then given
``beams`` slots of each sentence at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from lexbeam.search.arrays import IntArray


class Layout:
    """The indices of a step's live rows among all rows."""

    def __init__(self, sentences: int, beams: int, wider: int = 1) -> None:
        """Take the number of sentences and beams, and how many times as wide a beam may get."""
        self._sentences = sentences
        self._chunk = beams
        self._wider = wider
        self._beams = beams * wider
        self._last_ids: Tensor | None = None  # shape: (sentences, length)

    def update(self, ids: Tensor, sentences: IntArray, is_first: bool = False) -> None:
        """Take the ids and sentences of a step's rows. # shape: (rows, length), (rows,).

        ``is_first`` says that a search begins.
        """
        if is_first:
            self._last_ids = None
        present, first, count = np.unique(sentences, return_index=True, return_counts=True)
        slot = np.arange(len(sentences)) - first.repeat(count)
        self._chunks = -(-int(count.max()) // self._chunk)
        self._ids, self._present = ids, present
        self._index = sentences * self._beams + slot  # shape: (rows,)
        self._is_full = len(sentences) == self._sentences * self._beams
        first_of = np.zeros(self._sentences, np.int64)
        first_of[present] = first
        self._row = first_of.repeat(self._beams)  # shape: (sentences · beams,)
        self._row[self._index] = np.arange(len(sentences))
        self._finished = np.ones(self._sentences, np.bool_)
        self._finished[present] = False
        self._keep_last(first)

    def _keep_last(self, first: IntArray) -> None:
        """Keep one row of each sentence, for when it is finished."""
        present = torch.from_numpy(self._present).to(self._ids.device)
        rows = self._ids[torch.from_numpy(first).to(self._ids.device)]
        if self._last_ids is None or len(present) == self._sentences:
            self._last_ids = rows
            return
        longer = torch.cat((self._last_ids, self._last_ids[:, -1:]), dim=1)
        longer[present] = rows
        self._last_ids = longer

    def widen_ids(self) -> Tensor:
        """Return the ids of all beams. # shape: (sentences · beams, length)."""
        ids = self.widen(self._ids)
        if self._finished.any() and self._last_ids is not None:
            finished = torch.from_numpy(self._finished.repeat(self._beams)).to(ids.device)
            ids[finished] = self._last_ids.repeat_interleave(self._beams, dim=0)[finished]
        return ids

    def widen(self, values: Tensor) -> Tensor:
        """Return the values of rows as those of all beams. # shape: (sentences · beams, …)."""
        if self._is_full:
            return values
        return values[torch.from_numpy(self._row).to(values.device)]

    def process(self, processor: Callable[[Tensor, Tensor], Tensor], scores: Tensor) -> Tensor:
        """Return the scores of the live rows as a processor changes them. # shape: (rows, …)."""
        ids, wide = self.widen_ids(), self.widen(scores)
        if self._wider == 1:
            return self.narrow(processor(ids, wide))
        apart = (self._sentences, self._wider, self._chunk)
        ids, wide = ids.reshape(*apart, -1), wide.reshape(*apart, -1).clone()
        for i in range(self._chunks):
            some = processor(ids[:, i].flatten(0, 1), wide[:, i].flatten(0, 1))
            wide[:, i] = some.reshape(self._sentences, self._chunk, -1)
        return self.narrow(wide.flatten(0, 2))

    def narrow(self, values: Tensor) -> Tensor:
        """Return the values of the live rows. # shape: (rows, …)."""
        if self._is_full:
            return values
        return values[torch.from_numpy(self._index).to(values.device)]

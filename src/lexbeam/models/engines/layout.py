"""Rows in the order that Hugging Face code expects: all beams of all sentences, in every step.

The search scores only live rows. Logits processors and the scores that ``generate`` returns need
``sentences · beams`` rows, with the beams of a sentence next to each other. An empty slot gets the
first row of its sentence; the slots of a finished sentence get the last row it had.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lexbeam.search.arrays import IntArray


class Layout:
    """The indices of a step's live rows among all rows."""

    def __init__(self, sentences: int, beams: int) -> None:
        self._sentences = sentences
        self._beams = beams
        self._last_ids: Tensor | None = None  # shape: (sentences, length)

    def update(self, ids: Tensor, sentences: IntArray) -> None:
        """Take the ids and sentences of a step's rows. # shape: (rows, length), (rows,)."""
        present, first, count = np.unique(sentences, return_index=True, return_counts=True)
        slot = np.arange(len(sentences)) - first.repeat(count)
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

    def narrow(self, values: Tensor) -> Tensor:
        """Return the values of the live rows. # shape: (rows, …)."""
        if self._is_full:
            return values
        return values[torch.from_numpy(self._index).to(values.device)]

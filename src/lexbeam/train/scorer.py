"""A network in training as a model that the search can drive, for BLEU on development sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from lexbeam.search.arrays import PAD, IntArray
from lexbeam.search.scorer import Scores
from lexbeam.train.parts import DecoderState
from lexbeam.train.vocabulary import EOS


class Decodable(Protocol):
    """A network that can be decoded step by step."""

    def start(self, source: Tensor, lengths: Tensor) -> DecoderState:
        """Encode sources."""
        ...

    def step(
        self, state: DecoderState, tokens: Tensor | None, parents: Tensor
    ) -> tuple[Tensor, DecoderState]:
        """Return the logits of the next token of each row."""
        ...


class NetworkScorer:
    """Keeps the protocol of `lexbeam.search.scorer` with a PyTorch network."""

    def __init__(self, network: Decodable, vocabulary_size: int) -> None:
        self._network = network
        self._vocabulary_size = vocabulary_size

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids."""
        return self._vocabulary_size

    @property
    def bos(self) -> int:
        """The first decoder input is an empty embedding, which has no id."""
        return -1

    @property
    def eos(self) -> int:
        """The end of sentence."""
        return EOS

    def start(
        self,
        sources: Sequence[Sequence[int]],
        wanted: Sequence[Sequence[int]],  # noqa: ARG002
    ) -> DecoderState:
        """Encode sources; each ends with the end of sentence."""
        lengths = torch.tensor([len(source) for source in sources])
        padded = torch.full((len(sources), int(lengths.max())), EOS)
        for row, source in zip(padded, sources, strict=True):
            row[: len(source)] = torch.tensor(source)
        return self._network.start(padded, lengths)

    def step(
        self,
        state: DecoderState,
        tokens: IntArray,  # shape: (rows,)
        parents: IntArray,  # shape: (rows,)
        ask: IntArray,  # shape: (rows, asked)
        ban: IntArray,  # shape: (rows, banned)
        top: int,
    ) -> Scores:
        """Price the next token of every row."""
        first = state.position == 0
        given = None if first else torch.from_numpy(np.ascontiguousarray(tokens))
        logits, state = self._network.step(state, given, torch.from_numpy(parents))
        scores = torch.log_softmax(logits, dim=1)  # shape: (rows, vocabulary)
        wanted = torch.from_numpy(np.where(ask == PAD, 0, ask))
        asked = scores.gather(1, wanted).masked_fill(torch.from_numpy(ask == PAD), -torch.inf)
        hidden = torch.from_numpy(np.where(ban == PAD, EOS, ban))
        scores = scores.scatter(1, hidden, -torch.inf)
        scores[:, EOS] = -torch.inf
        best = scores.topk(min(top, scores.shape[1]), dim=1)
        short = top - best.values.shape[1]
        return Scores(
            np.pad(best.values.numpy(), ((0, 0), (0, short)), constant_values=-np.inf),
            np.pad(best.indices.numpy(), ((0, 0), (0, short))),
            asked.numpy(),
            state,
        )

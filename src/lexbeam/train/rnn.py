"""The paper's kind of network: a recurrent encoder-decoder with attention.

Post & Vilar (2018, §5) translate with LSTMs, four layers a side. Here the first encoder layer
reads in both directions; the first decoder layer attends to the source and its context goes
into all layers above (as in GNMT), so that whole sentences can be trained on at once: with the
context fed back into the next step, as some have it, every position would wait for the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lexbeam.models.graphs.rnn import RnnConfig
from lexbeam.train.config import NetworkConfig
from lexbeam.train.parts import (
    DecoderState,
    Dropout,
    Losses,
    TiedNetwork,
    guided_loss,
    padding_mask,
)

Cell = tuple[Tensor, Tensor]


class Encoder(nn.Module):
    """One layer in both directions, then layers that add to their input."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        dim, depth = config.dim, config.encoder_layers
        self.both_ways = nn.LSTM(dim, dim // 2, batch_first=True, bidirectional=True)
        self.layers = nn.ModuleList(nn.LSTM(dim, dim, batch_first=True) for _ in range(depth - 1))
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Encode; shape: (sentences, length, dim)."""
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        x, _ = pad_packed_sequence(self.both_ways(packed)[0], batch_first=True)
        for layer in self.layers:
            x = x + layer(self.dropout(x))[0]
        return x


class Decoder(nn.Module):
    """A layer that asks, attention that answers, and layers that make use of the answer."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        dim = config.dim
        self.asking = nn.LSTM(dim, dim, batch_first=True)
        self.query = nn.Linear(dim, dim, bias=False)
        self.layers = nn.ModuleList(
            nn.LSTM(2 * dim, dim, batch_first=True) for _ in range(config.decoder_layers - 1)
        )
        self.top = nn.Linear(2 * dim, dim)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, encoded: Tensor, mask: Tensor | None, past: list[Cell]
    ) -> tuple[Tensor, list[Cell], Tensor]:
        """Decode any number of positions; also return the cells, and what asks the source.

        Shape: (rows, length, dim).
        """
        x, cell = self.asking(x, past[0])
        new, asking = [cell], x
        context = functional.scaled_dot_product_attention(
            self.query(x)[:, None], encoded[:, None], encoded[:, None], attn_mask=mask
        )[:, 0]
        for layer, cell_before in zip(self.layers, past[1:], strict=True):
            y, cell = layer(self.dropout(torch.cat([x, context], dim=2)), cell_before)
            x = x + y
            new.append(cell)
        decoded = torch.tanh(self.top(self.dropout(torch.cat([x, context], dim=2))))
        return decoded, new, asking

    def log_weights(self, asking: Tensor, encoded: Tensor, mask: Tensor | None) -> Tensor:
        """Return where attention looks, in logarithms; shape: (rows, length, source)."""
        scores = self.query(asking) @ encoded.transpose(1, 2) / encoded.shape[2] ** 0.5
        return torch.log_softmax(scores if mask is None else scores + mask[:, 0], dim=2)


class RecurrentNetwork(TiedNetwork, kind="rnn"):
    """Encoder, decoder and the one embedding matrix they share."""

    def __init__(self, config: NetworkConfig, vocabulary_size: int) -> None:
        super().__init__(config, vocabulary_size)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.dropout = Dropout(config.dropout)

    def embed(self, ids: Tensor) -> Tensor:
        """Look up scaled embeddings; shape: (sentences, length, dim)."""
        embedded: Tensor = self.dropout(self.embedding(ids) * self.config.dim**0.5)
        return embedded

    def forward(
        self,
        source: Tensor,
        source_lengths: Tensor,
        target: Tensor,
        target_lengths: Tensor,
        smoothing: float,
        guide: Tensor | None = None,
        head: int = 0,  # noqa: ARG002 (there is one)
    ) -> Losses:
        """Return what a batch costs; ``guide`` is the alignment that attention is to learn."""
        encoded = self.encoder(self.embed(source), source_lengths)
        mask = padding_mask(source_lengths, source.shape[1])
        shifted = functional.pad(self.embed(target[:, :-1]), (0, 0, 1, 0))
        decoded, _, asking = self.decoder(shifted, encoded, mask, self._zero_cells(len(source)))
        loss, plain = self.loss(decoded, target, target_lengths, smoothing)
        if guide is None:
            return Losses(loss, plain)
        attention = self.decoder.log_weights(asking, encoded, mask)
        return Losses(loss, plain, guided_loss(attention, guide), attention)

    @torch.no_grad()
    def start(self, source: Tensor, lengths: Tensor) -> DecoderState:
        """Encode sources for decoding step by step."""
        encoded = self.encoder(self.embed(source), lengths)
        mask = padding_mask(lengths, source.shape[1])
        if mask is None:
            mask = torch.zeros(len(source), 1, 1, source.shape[1])
        cells = [(h[0], c[0]) for h, c in self._zero_cells(len(source))]
        return DecoderState(torch.arange(len(source)), [(encoded, mask)], [*cells])

    @torch.no_grad()
    def step(
        self, state: DecoderState, tokens: Tensor | None, parents: Tensor
    ) -> tuple[Tensor, DecoderState]:
        """Return the logits of the next token of each row; the first step has no tokens."""
        state = state.follow(parents)
        x = torch.zeros(len(parents), 1, self.config.dim)
        if tokens is not None:
            x = self.embed(tokens[:, None])
        encoded, mask = (part[state.sentences] for part in state.memory[0])
        past = [(h[None], c[None]) for h, c in state.past]
        decoded, new, _ = self.decoder(x, encoded, mask, past)
        return self.logits(decoded), state.advanced([(h[0], c[0]) for h, c in new])

    def _zero_cells(self, rows: int) -> list[Cell]:
        zero = torch.zeros(1, rows, self.config.dim)
        return [(zero, zero)] * self.config.decoder_layers

    def architecture(self) -> RnnConfig:
        """Describe the network to the writer of its graphs."""
        config, vocabulary = self.config, self.embedding.num_embeddings
        return RnnConfig(
            source_vocabulary=vocabulary,
            target_vocabulary=vocabulary,
            dim=config.dim,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
        )

    def named_views(self) -> dict[str, Tensor]:
        """Return all weights by name, matrices as (in, out), vectors as (1, n).

        An LSTM has ``_W`` for its input, ``_U`` for its own past and one bias ``_b``; the gates
        stand side by side: input, forget, candidate, output.
        """
        weights = {
            "decoder_query_W": self.decoder.query.weight.T,
            "decoder_top_W": self.decoder.top.weight.T,
            "decoder_top_b": self.decoder.top.bias[None],
        }
        for name, layer, suffix in self._lstms():
            weights[f"{name}_W"] = _part(layer, "weight_ih", suffix).T
            weights[f"{name}_U"] = _part(layer, "weight_hh", suffix).T
            weights[f"{name}_b"] = _part(layer, "bias_ih", suffix)[None]
        return self.shared_views() | weights

    @torch.no_grad()
    def named_weights(self) -> dict[str, NDArray[np.float32]]:
        """Return a copy of all weights by name; the two biases of an LSTM are added up."""
        weights = super().named_weights()
        for name, layer, suffix in self._lstms():
            weights[f"{name}_b"] = weights[f"{name}_b"] + _part(layer, "bias_hh", suffix).numpy()
        return weights

    @torch.no_grad()
    def load_named_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take over weights that `named_weights` of a network of the same shape has given."""
        super().load_named_weights(weights)
        for _, layer, suffix in self._lstms():
            _part(layer, "bias_hh", suffix).zero_()

    def _lstms(self) -> Iterator[tuple[str, nn.Module, str]]:
        """Yield the name of each LSTM, the layer, and what PyTorch calls its direction."""
        yield "encoder_l1_forward", self.encoder.both_ways, ""
        yield "encoder_l1_backward", self.encoder.both_ways, "_reverse"
        yield "decoder_l1", self.decoder.asking, ""
        for side, layers in (("encoder", self.encoder.layers), ("decoder", self.decoder.layers)):
            for number, layer in enumerate(layers, 2):
                yield f"{side}_l{number}", layer, ""


def _part(layer: nn.Module, name: str, suffix: str) -> Tensor:
    parameter: Tensor = getattr(layer, f"{name}_l0{suffix}")
    return parameter

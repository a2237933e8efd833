"""The paper's kind of network: a recurrent encoder-decoder with attention.

Post & Vilar (2018, §5) translate with LSTMs, four layers a side. Here the first encoder layer
reads in both directions; the first decoder layer attends to the source and its context goes
into all layers above (as in GNMT), so that whole sentences can be trained on at once: with the
context fed back into the next step, as some have it, every position would wait for the last.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lexbeam.models.graphs.rnn import RnnConfig
from lexbeam.train.config import NetworkConfig
from lexbeam.train.parts import DecoderState, Dropout, TiedNetwork, padding_mask

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
    ) -> tuple[Tensor, list[Cell]]:
        """Decode any number of positions; shape: (rows, length, dim)."""
        x, cell = self.asking(x, past[0])
        new = [cell]
        context = functional.scaled_dot_product_attention(
            self.query(x)[:, None], encoded[:, None], encoded[:, None], attn_mask=mask
        )[:, 0]
        for layer, cell_before in zip(self.layers, past[1:], strict=True):
            y, cell = layer(self.dropout(torch.cat([x, context], dim=2)), cell_before)
            x = x + y
            new.append(cell)
        return torch.tanh(self.top(self.dropout(torch.cat([x, context], dim=2)))), new


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
    ) -> tuple[Tensor, Tensor]:
        """Return the summed training loss and the summed plain cross-entropy of a batch."""
        encoded = self.encoder(self.embed(source), source_lengths)
        mask = padding_mask(source_lengths, source.shape[1])
        shifted = functional.pad(self.embed(target[:, :-1]), (0, 0, 1, 0))
        decoded, _ = self.decoder(shifted, encoded, mask, self._zero_cells(len(source)))
        return self.loss(decoded, target, target_lengths, smoothing)

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
        decoded, new = self.decoder(x, encoded, mask, past)
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

    @torch.no_grad()
    def named_weights(self) -> dict[str, NDArray[np.float32]]:
        """Return all weights by name, matrices as (in, out), vectors as (1, n).

        An LSTM has ``_W`` for its input, ``_U`` for its own past and one bias ``_b``; the gates
        stand side by side: input, forget, candidate, output.
        """
        weights = {
            "decoder_query_W": self.decoder.query.weight.T,
            "decoder_top_W": self.decoder.top.weight.T,
            "decoder_top_b": self.decoder.top.bias[None],
            **_lstm("encoder_l1_forward", self.encoder.both_ways, ""),
            **_lstm("encoder_l1_backward", self.encoder.both_ways, "_reverse"),
        }
        for side, layers in (
            ("encoder", list(self.encoder.layers)),
            ("decoder", list(self.decoder.layers)),
        ):
            for number, layer in enumerate(layers, 2):
                weights |= _lstm(f"{side}_l{number}", layer, "")
        weights |= _lstm("decoder_l1", self.decoder.asking, "")
        return self.name_weights(weights)


def _lstm(prefix: str, layer: nn.Module, suffix: str) -> dict[str, Tensor]:
    def part(name: str) -> Tensor:
        parameter: Tensor = getattr(layer, f"{name}_l0{suffix}")
        return parameter

    return {
        f"{prefix}_W": part("weight_ih").T,
        f"{prefix}_U": part("weight_hh").T,
        f"{prefix}_b": (part("bias_ih") + part("bias_hh"))[None],
    }

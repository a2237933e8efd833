"""The Transformer of Firefox's students, for training.

Deep encoder, shallow decoder, layer norm after each sublayer, one embedding matrix for source,
target and output. The decoder's self-attention may be an SSRU: its state is one vector a layer,
so that a beam can be reordered for nothing. `named_weights` names every matrix as Marian does;
the graph builder that serves imported models serves these too.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from lexbeam.models.graphs.positions import sinusoids
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.train.config import NetworkConfig
from lexbeam.train.parts import (
    DecoderState,
    Dropout,
    Losses,
    TiedNetwork,
    guided_loss,
    padding_mask,
    ssru_scan,
)

NORM_EPSILON = 1e-6


def positions(length: int, dim: int) -> Tensor:
    """Return the sinusoidal embeddings of the first positions; shape: (length, dim)."""
    return torch.from_numpy(sinusoids(length, dim))


class Attention(nn.Module):
    """Multi-head attention, then add and normalise."""

    def __init__(self, config: NetworkConfig, depth: int) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = _linear(config.dim, config.dim)
        self.key = _linear(config.dim, config.dim)
        self.value = _linear(config.dim, config.dim, depth)
        self.output = _linear(config.dim, config.dim, depth)
        self.norm = nn.LayerNorm(config.dim, eps=NORM_EPSILON)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Let ``x`` look at ``memory``."""
        return self.attend(x, *self.keys_and_values(memory), mask, causal)

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return what can be looked at; shape: (sentences, heads, length, dim / heads) each."""
        return self._split(self.key(memory)), self._split(self.value(memory))

    def attend(
        self, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Let ``x`` look at keys and values made before."""
        attended = functional.scaled_dot_product_attention(
            self._split(self.query(x)), keys, values, attn_mask=mask, is_causal=causal
        )
        mixed = self.output(attended.transpose(1, 2).flatten(2))
        normed: Tensor = self.norm(x + self.dropout(mixed))
        return normed

    def log_weights(self, x: Tensor, memory: Tensor, mask: Tensor | None, head: int) -> Tensor:
        """Return where one head looks, in logarithms; shape: (sentences, length, memory)."""
        size = self.query.out_features // self.heads
        part = slice(head * size, (head + 1) * size)
        query, key = (
            functional.linear(y, layer.weight[part], layer.bias[part])
            for y, layer in ((x, self.query), (memory, self.key))
        )
        scores = query @ key.transpose(1, 2) / math.sqrt(size)
        return torch.log_softmax(scores if mask is None else scores + mask[:, 0], dim=2)

    def _split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def marian(self, prefix: str) -> dict[str, Tensor]:
        """Name the weights as Marian does."""
        named = {"q": self.query, "k": self.key, "v": self.value, "o": self.output}
        weights = {f"{prefix}_W{key}": layer.weight.T for key, layer in named.items()}
        weights |= {f"{prefix}_b{key}": layer.bias[None] for key, layer in named.items()}
        return weights | _marian_norm(f"{prefix}_Wo_ln", self.norm)


class FeedForward(nn.Module):
    """Two layers with a ReLU between them, then add and normalise."""

    def __init__(self, config: NetworkConfig, depth: int) -> None:
        super().__init__()
        self.inner = _linear(config.dim, config.ffn, depth)
        self.outer = _linear(config.ffn, config.dim, depth)
        self.norm = nn.LayerNorm(config.dim, eps=NORM_EPSILON)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Apply to every position by itself."""
        hidden = functional.relu(self.inner(x), inplace=True)
        normed: Tensor = self.norm(x + self.dropout(self.outer(hidden)))
        return normed

    def marian(self, prefix: str) -> dict[str, Tensor]:
        """Name the weights as Marian does."""
        return {
            f"{prefix}_W1": self.inner.weight.T,
            f"{prefix}_b1": self.inner.bias[None],
            f"{prefix}_W2": self.outer.weight.T,
            f"{prefix}_b2": self.outer.bias[None],
            **_marian_norm(f"{prefix}_ffn_ln", self.norm),
        }


class Ssru(nn.Module):
    """Simpler simple recurrent unit (Kim et al. 2019), then add and normalise."""

    def __init__(self, config: NetworkConfig, depth: int) -> None:
        super().__init__()
        self.candidate = nn.Linear(config.dim, config.dim, bias=False)
        nn.init.xavier_uniform_(self.candidate.weight, gain=_branch_gain(depth))
        self.forget = _linear(config.dim, config.dim)
        self.norm = nn.LayerNorm(config.dim, eps=NORM_EPSILON)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Run over whole sentences; shape: (sentences, length, dim)."""
        cell = ssru_scan(torch.sigmoid(self.forget(x)), self.candidate(x))
        normed: Tensor = self.norm(x + self.dropout(functional.relu(cell)))
        return normed

    def step(self, x: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """Run over one position; shape: (rows, 1, dim) each."""
        forget = torch.sigmoid(self.forget(x))
        cell = forget * cell + (1 - forget) * self.candidate(x)
        return self.norm(x + functional.relu(cell)), cell

    def marian(self, prefix: str) -> dict[str, Tensor]:
        """Name the weights as Marian does."""
        return {
            f"{prefix}_W": self.candidate.weight.T,
            f"{prefix}_Wf": self.forget.weight.T,
            f"{prefix}_bf": self.forget.bias[None],
            **_marian_norm(f"{prefix}_ffn_ln", self.norm),
        }


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward."""

    def __init__(self, config: NetworkConfig, depth: int) -> None:
        super().__init__()
        self.attention = Attention(config, depth)
        self.feed_forward = FeedForward(config, depth)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Encode one layer further."""
        encoded: Tensor = self.feed_forward(self.attention(x, x, mask))
        return encoded


class DecoderLayer(nn.Module):
    """SSRU or self-attention, attention over the source, feed-forward."""

    def __init__(self, config: NetworkConfig, depth: int) -> None:
        super().__init__()
        self.memory: Ssru | Attention = (
            Ssru(config, depth) if config.decoder == "ssru" else Attention(config, depth)
        )
        self.context = Attention(config, depth)
        self.feed_forward = FeedForward(config, depth)

    def forward(self, x: Tensor, encoded: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Decode one layer further, all positions at once; also return what asks the source."""
        if isinstance(self.memory, Ssru):
            x = self.memory(x)
        else:
            x = self.memory(x, x, None, causal=True)
        return self.feed_forward(self.context(x, encoded, mask)), x

    def step(
        self, x: Tensor, past: tuple[Tensor, ...], context: tuple[Tensor, ...]
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Decode one position; ``context`` is keys, values and mask of each row's source."""
        if isinstance(self.memory, Ssru):
            x, cell = self.memory.step(x, past[0])
            past = (cell,)
        else:
            new = self.memory.keys_and_values(x)
            past = tuple(torch.cat(both, dim=2) for both in zip(past, new, strict=True))
            x = self.memory.attend(x, past[0], past[1], None)
        keys, values, mask = context
        return self.feed_forward(self.context.attend(x, keys, values, mask)), past

    def empty_past(self, rows: int, config: NetworkConfig) -> tuple[Tensor, ...]:
        """Return what `step` starts from."""
        if isinstance(self.memory, Ssru):
            return (torch.zeros(rows, 1, config.dim),)
        nothing = torch.zeros(rows, config.heads, 0, config.dim // config.heads)
        return nothing, nothing


class Transformer(TiedNetwork, kind="transformer"):
    """Encoder, decoder and the one embedding matrix they share."""

    def __init__(self, config: NetworkConfig, vocabulary_size: int) -> None:
        super().__init__(config, vocabulary_size)
        layers = config.encoder_layers, config.decoder_layers
        self.encoder = nn.ModuleList(EncoderLayer(config, layers[0]) for _ in range(layers[0]))
        self.decoder = nn.ModuleList(DecoderLayer(config, layers[1]) for _ in range(layers[1]))
        self.dropout = Dropout(config.dropout)

    @property
    def encoder_layers(self) -> list[EncoderLayer]:
        """The encoder's layers, first to last."""
        return cast("list[EncoderLayer]", list(self.encoder))

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        """The decoder's layers, first to last."""
        return cast("list[DecoderLayer]", list(self.decoder))

    def embed(self, ids: Tensor) -> Tensor:
        """Look up scaled embeddings, without positions; shape: (sentences, length, dim)."""
        embedded: Tensor = self.embedding(ids) * math.sqrt(self.config.dim)
        return embedded

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor | None]:
        """Encode sources; return the encoding and the mask of its padding."""
        mask = padding_mask(lengths, source.shape[1])
        x = self.embed(source) + positions(source.shape[1], self.config.dim)
        x = self.dropout(x)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return x, mask

    def decode(self, encoded: Tensor, mask: Tensor | None, target: Tensor) -> Tensor:
        """Return what the decoder thinks before each target token; the first input is zero."""
        return self._decode(encoded, mask, target)[0]

    def _decode(
        self, encoded: Tensor, mask: Tensor | None, target: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Decode; also return what asks the source in the last layer."""
        shifted = functional.pad(self.embed(target[:, :-1]), (0, 0, 1, 0))
        x = self.dropout(shifted + positions(target.shape[1], self.config.dim))
        asking = x
        for layer in self.decoder_layers:
            x, asking = layer(x, encoded, mask)
        return x, asking

    def forward(
        self,
        source: Tensor,
        source_lengths: Tensor,
        target: Tensor,
        target_lengths: Tensor,
        smoothing: float,
        guide: Tensor | None = None,
        head: int = 0,
    ) -> Losses:
        """Return what a batch costs; ``guide`` is the alignment that ``head`` is to learn."""
        encoded, mask = self.encode(source, source_lengths)
        decoded, asking = self._decode(encoded, mask, target)
        loss, plain = self.loss(decoded, target, target_lengths, smoothing)
        if guide is None:
            return Losses(loss, plain)
        attention = self.decoder_layers[-1].context.log_weights(asking, encoded, mask, head)
        return Losses(loss, plain, guided_loss(attention, guide), attention)

    @torch.no_grad()
    def start(self, source: Tensor, lengths: Tensor) -> DecoderState:
        """Encode sources for decoding step by step."""
        encoded, mask = self.encode(source, lengths)
        if mask is None:
            mask = torch.zeros(len(source), 1, 1, source.shape[1])
        rows = len(source)
        return DecoderState(
            sentences=torch.arange(rows),
            memory=[
                (*layer.context.keys_and_values(encoded), mask) for layer in self.decoder_layers
            ],
            past=[layer.empty_past(rows, self.config) for layer in self.decoder_layers],
        )

    @torch.no_grad()
    def step(
        self, state: DecoderState, tokens: Tensor | None, parents: Tensor
    ) -> tuple[Tensor, DecoderState]:
        """Return the logits of the next token of each row; the first step has no tokens."""
        state = state.follow(parents)
        x = torch.zeros(len(parents), 1, self.config.dim)
        if tokens is not None:
            x = self.embed(tokens[:, None])
        x = x + positions(state.position + 1, self.config.dim)[-1]
        new = []
        for layer, past, memory in zip(self.decoder_layers, state.past, state.memory, strict=True):
            x, kept = layer.step(x, past, tuple(m[state.sentences] for m in memory))
            new.append(kept)
        return self.logits(x), state.advanced(new)

    def architecture(self) -> TransformerConfig:
        """Describe the network to the writer of its graphs."""
        config, vocabulary = self.config, self.embedding.num_embeddings
        return TransformerConfig(
            source_vocabulary=vocabulary,
            target_vocabulary=vocabulary,
            dim=config.dim,
            heads=config.heads,
            encoder_layers=config.encoder_layers,
            decoder_layers=config.decoder_layers,
            decoder=config.decoder,
        )

    def named_views(self) -> dict[str, Tensor]:
        """Return all weights under Marian's names, matrices as (in, out), vectors as (1, n)."""
        weights: dict[str, Tensor] = {}
        for number, layer in enumerate(self.encoder_layers, 1):
            weights |= layer.attention.marian(f"encoder_l{number}_self")
            weights |= layer.feed_forward.marian(f"encoder_l{number}_ffn")
        kind = "rnn" if self.config.decoder == "ssru" else "self"
        for number, decoder in enumerate(self.decoder_layers, 1):
            weights |= decoder.memory.marian(f"decoder_l{number}_{kind}")
            weights |= decoder.context.marian(f"decoder_l{number}_context")
            weights |= decoder.feed_forward.marian(f"decoder_l{number}_ffn")
        return self.shared_views() | weights


def _branch_gain(depth: int) -> float:
    """Start the branches of deep stacks small: layer norm after the sum is unstable otherwise."""
    return float((2 * depth) ** -0.5)


def _linear(inputs: int, outputs: int, depth: int = 0) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight, gain=_branch_gain(depth) if depth else 1.0)
    nn.init.zeros_(layer.bias)
    return layer


def _marian_norm(prefix: str, norm: nn.LayerNorm) -> dict[str, Tensor]:
    return {f"{prefix}_scale": norm.weight[None], f"{prefix}_bias": norm.bias[None]}

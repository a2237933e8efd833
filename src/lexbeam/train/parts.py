"""Parts that both networks share, written for speed on a processor.

Training on a laptop is bound by memory as much as by arithmetic: masks are shared over
positions, the recurrence keeps no intermediate results, and the vocabulary's logits exist only
a slice at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from lexbeam.errors import ModelError
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.train.config import NetworkConfig

LOSS_ROWS = 512
"""Positions whose logits exist at once: few enough to stay in the processor's cache."""


def padding_mask(lengths: Tensor, longest: int) -> Tensor | None:
    """Return what to add to attention scores: minus infinity on padding; None without any."""
    if bool((lengths == longest).all()):
        return None
    beyond = torch.arange(longest)[None, :] >= lengths[:, None]
    mask = torch.zeros(beyond.shape).masked_fill(beyond, -torch.inf)
    return mask[:, None, None, :]  # shape: (sentences, 1, 1, keys)


@dataclass(frozen=True)
class DecoderState:
    """Where decoding stands: what was read of each sentence, what each row remembers."""

    sentences: Tensor  # shape: (rows,), the sentence of each row
    memory: list[tuple[Tensor, ...]]  # a layer each, first dimension: sentences
    past: list[tuple[Tensor, ...]]  # a layer each, first dimension: rows
    position: int = 0

    def follow(self, parents: Tensor) -> DecoderState:
        """Keep the rows named as parents, in that order."""
        past = [tuple(part[parents] for part in layer) for layer in self.past]
        return replace(self, sentences=self.sentences[parents], past=past)

    def advanced(self, past: list[tuple[Tensor, ...]]) -> DecoderState:
        """Go one position further."""
        return replace(self, past=past, position=self.position + 1)


class Dropout(nn.Module):
    """Dropout with one mask for all positions of a sentence.

    Drawing the random numbers costs more than the dropout itself, and a sentence that lacks a
    feature throughout can't fetch it from the next position.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Drop features; shape: (sentences, length, dim)."""
        if not self.training or self.rate == 0:
            return x
        keep = torch.rand(x.shape[0], 1, x.shape[2]) >= self.rate
        return x * (keep / (1 - self.rate))


class _SsruScan(torch.autograd.Function):
    """c_t = f_t c_(t-1) + (1 - f_t) z_t over the second dimension."""

    @staticmethod
    def forward(ctx: Any, forget: Tensor, candidate: Tensor) -> Tensor:
        cell = candidate - forget * candidate
        for t in range(1, cell.shape[1]):
            cell[:, t].addcmul_(forget[:, t], cell[:, t - 1])
        ctx.save_for_backward(forget, candidate, cell)
        return cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_cell: Tensor) -> tuple[Tensor, Tensor]:
        forget, candidate, cell = ctx.saved_tensors
        flow = grad_cell.clone()
        for t in range(flow.shape[1] - 1, 0, -1):
            flow[:, t - 1].addcmul_(forget[:, t], flow[:, t])
        before = torch.zeros_like(cell)
        before[:, 1:] = cell[:, :-1]
        return flow * (before - candidate), flow - flow * forget


def ssru_scan(forget: Tensor, candidate: Tensor) -> Tensor:
    """Run the SSRU's recurrence over all positions; shape: (sentences, length, dim) each."""
    scanned: Tensor = _SsruScan.apply(forget, candidate)  # type: ignore[no-untyped-call]
    return scanned


class _SmoothedLoss(torch.autograd.Function):
    """Output layer, softmax and loss together: the gradient is taken while logits are at hand."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        rows, vocabulary = hidden.shape[0], weight.shape[0]
        wants_grad = any(ctx.needs_input_grad)
        grad_hidden = torch.empty_like(hidden)
        grad_weight, grad_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        plain = torch.zeros((), dtype=torch.float64)
        smooth = torch.zeros((), dtype=torch.float64)
        for start in range(0, rows, LOSS_ROWS):
            part = slice(start, start + LOSS_ROWS)
            scores = torch.addmm(bias, hidden[part], weight.T)
            scores = torch.log_softmax(scores, dim=1)  # shape: (part, vocabulary)
            picked = gold[part, None]
            plain -= scores.gather(1, picked).sum()
            smooth -= scores.mean(dim=1).sum()
            if wants_grad:
                error = scores.exp_().sub_(smoothing / vocabulary)
                error.scatter_add_(1, picked, torch.full(picked.shape, smoothing - 1.0))
                torch.mm(error, weight, out=grad_hidden[part])
                grad_weight.addmm_(error.T, hidden[part])
                grad_bias += error.sum(0)
        ctx.save_for_backward(grad_hidden, grad_weight, grad_bias)
        loss = (1 - smoothing) * plain + smoothing * smooth
        return loss.to(hidden.dtype), plain.to(hidden.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, bias = ctx.saved_tensors
        return hidden * grad_loss, weight * grad_loss, bias * grad_loss, None, None


def smoothed_loss(
    hidden: Tensor, weight: Tensor, bias: Tensor, gold: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return the summed label-smoothed loss of predicting ``gold``, and its plain cross-entropy.

    Only the first has a gradient.
    """
    loss: tuple[Tensor, Tensor] = _SmoothedLoss.apply(  # type: ignore[no-untyped-call]
        hidden, weight, bias, gold, smoothing
    )
    return loss


def guided_loss(log_weights: Tensor, guide: Tensor) -> Tensor:
    """Return the summed cross-entropy of attention against an alignment (Chen et al. 2016).

    Rows of ``guide`` sum to one, or to zero where nothing is known, which costs nothing.
    """
    return -torch.where(guide > 0, guide * log_weights, 0.0).sum()


class Losses(NamedTuple):
    """What a batch costs, summed over its target tokens."""

    training: Tensor
    """Cross-entropy with smoothed labels."""
    plain: Tensor
    """Cross-entropy without, and without a gradient."""
    guided: Tensor | None = None
    """Cross-entropy of the aligned head's attention, where there is a guide."""
    attention: Tensor | None = None  # shape: (sentences, target_length, source_length)
    """Logarithms of that attention."""


NETWORKS: dict[str, type[TiedNetwork]] = {}
"""The networks that can be trained, by the ``network.kind`` of a configuration."""


class TiedNetwork(nn.Module):
    """A network with one embedding matrix for source, target and output.

    Subclasses register themselves: ``class Transformer(TiedNetwork, kind="transformer")``.
    """

    def __init_subclass__(cls, *, kind: str) -> None:
        super().__init_subclass__()
        NETWORKS[kind] = cls

    def __init__(self, config: NetworkConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(vocabulary_size, config.dim)
        nn.init.normal_(self.embedding.weight, std=config.dim**-0.5)
        self.output_bias = nn.Parameter(torch.zeros(vocabulary_size))

    def architecture(self) -> Architecture:
        """Describe the network to the writer of its graphs."""
        raise NotImplementedError

    def start(self, source: Tensor, lengths: Tensor) -> DecoderState:
        """Encode sources for decoding step by step."""
        raise NotImplementedError

    def step(
        self, state: DecoderState, tokens: Tensor | None, parents: Tensor
    ) -> tuple[Tensor, DecoderState]:
        """Return the logits of the next token of each row; the first step has no tokens."""
        raise NotImplementedError

    def loss(
        self, decoded: Tensor, target: Tensor, lengths: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Return the summed training loss and plain cross-entropy of what is no padding."""
        inside = torch.arange(target.shape[1])[None, :] < lengths[:, None]
        return smoothed_loss(
            decoded[inside], self.embedding.weight, self.output_bias, target[inside], smoothing
        )

    def logits(self, decoded: Tensor) -> Tensor:
        """Return the logits of the token after the first position; shape: (rows, vocabulary)."""
        return functional.linear(decoded[:, 0], self.embedding.weight, self.output_bias)

    def named_views(self) -> dict[str, Tensor]:
        """Return all weights by name, as views that can be written through."""
        raise NotImplementedError

    def shared_views(self) -> dict[str, Tensor]:
        """Return the weights that all networks have."""
        return {"Wemb": self.embedding.weight, "decoder_ff_logit_out_b": self.output_bias[None]}

    @torch.no_grad()
    def named_weights(self) -> dict[str, NDArray[np.float32]]:
        """Return a copy of all weights by name, matrices as (in, out), vectors as (1, n)."""
        return {
            name: np.ascontiguousarray(weight.numpy(), dtype=np.float32)
            for name, weight in self.named_views().items()
        }

    @torch.no_grad()
    def load_named_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take over weights that `named_weights` of a network of the same shape has given."""
        for name, view in self.named_views().items():
            if name not in weights or weights[name].shape != tuple(view.shape):
                raise ModelError(f"the weight {name} is missing or not of this network's shape")
            view.copy_(torch.from_numpy(np.array(weights[name])))

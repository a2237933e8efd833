"""A decoder with SSRU cells by itself, for engines that compute it outside of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexbeam.models.graphs.transformer_sublayers import tied_layer
from lexbeam.models.graphs.weights import Float32, Int8, Int8Matrix, Weights

if TYPE_CHECKING:
    from lexbeam.models.graphs.transformer import TransformerConfig

_MULTIPLE = 16
"""What the dimensions of heads and of feed-forward layers have to be multiples of."""
_USUAL = {
    "decoder": "ssru",
    "activation": "relu",
    "gated": False,
    "preprocess": "",
    "postprocess": "an",
    "postprocess_embedding": "",
    "postprocess_top": "",
    "decoder_ffn_depth": 2,
    "norm": "layer",
    "biases": True,
    "positions": "sinusoids",
}
"""What a network has to be like, dropout left out."""
_NORMED, _NORM = ("rnn_ffn", "context_Wo", "ffn_ffn"), ("scale", "bias")
_BIASES = ("rnn_bf", "context_bq", "context_bo", "ffn_b2")


class SsruDecoder(NamedTuple):
    """The decoder of a Transformer with SSRU cells, in eight bits, with measured activations."""

    dim: int
    heads: int
    layers: int
    epsilon: float
    inputs: NDArray[np.int64]  # shape: (matrices,)
    """How many numbers each matrix takes; matrices of all layers are in order: the two of the
    cell side by side, query, output of attention, the two feed-forward layers."""
    values: Int8  # of all matrices, one after the other, each of shape (outputs, inputs)
    scale: Float32  # of the outputs of all matrices
    bias: Float32  # the same
    steps: Float32  # shape: (matrices,), how far apart the eight bits of each one's input are
    norms: Float32  # scale and bias of each normalisation, three per layer
    table: Int8  # shape: (vocabulary, dim), embeddings
    table_scale: Float32  # shape: (vocabulary,)

    @classmethod
    def of(cls, config: TransformerConfig, weights: Weights) -> Self | None:
        """Return the decoder of a network; None if it is of another kind."""
        table = weights[config.target_embedding]
        wanted = {name: getattr(config, name) for name in _USUAL}
        kinds = {k: v.replace("d", "") if "process" in k else v for k, v in wanted.items()}
        if kinds != _USUAL or config.size_of_head * config.heads != config.dim:
            return None
        if not isinstance(table, Int8Matrix):
            return None
        if not _have_usual_shapes(config, weights):
            return None  # the runtime says what is wrong
        dense = list(_dense_layers(config, weights))
        matrices = [matrix for matrix, _ in dense if matrix is not None]
        sizes = [config.size_of_head, *(matrix.shape[1] for matrix in matrices)]
        if len(matrices) < len(dense) or any(size % _MULTIPLE for size in sizes):
            return None
        factor = config.embedding_factor or float(np.sqrt(config.dim))
        steps = [np.float32(1 / (matrix.activation or 1)) for matrix in matrices]
        scales = [m.scale.reshape(-1) * step for m, step in zip(matrices, steps, strict=True)]
        return cls(
            config.dim,
            config.heads,
            config.decoder_layers,
            config.epsilon,
            np.array([matrix.shape[0] for matrix in matrices]),
            np.concatenate([matrix.values.T.ravel() for matrix in matrices]),
            np.concatenate(scales),
            np.concatenate([bias for _, bias in dense]),
            np.array(steps, np.float32),
            np.concatenate(list(_norms(config, weights))),
            np.array(table.values, order="C"),
            table.scale.reshape(-1) * np.float32(factor),
        )


def _have_usual_shapes(config: TransformerConfig, weights: Weights) -> bool:
    """Return whether all weights of the decoder fit together."""
    dim, fits = config.dim, True
    for layer in range(1, config.decoder_layers + 1):
        prefix = f"decoder_l{tied_layer(config, layer)}"
        inner = weights[f"{prefix}_ffn_W1"].shape[-1]
        square = ("rnn_W", "rnn_Wf", "context_Wq", "context_Wo")
        shapes = {**dict.fromkeys(square, (dim, dim)), "ffn_W1": (dim, inner)}
        shapes["ffn_W2"] = inner, dim
        fits &= all(weights[f"{prefix}_{name}"].shape == shape for name, shape in shapes.items())
        vectors = [f"{name}_ln_{kind}" for name in _NORMED for kind in _NORM]
        sizes = {**dict.fromkeys([*vectors, *_BIASES], dim), "ffn_b1": inner}
        fits &= all(
            _vector(weights, f"{prefix}_{name}").size == size for name, size in sizes.items()
        )
    return fits


def _vector(weights: Weights, name: str) -> Float32:
    weight = weights[name]
    return (weight.to_float() if isinstance(weight, Int8Matrix) else weight).reshape(-1)


def _dense_layers(
    config: TransformerConfig, weights: Weights
) -> Iterator[tuple[Int8Matrix | None, Float32]]:
    """Yield matrices and biases in order; None for a matrix that was not measured."""
    for layer in range(1, config.decoder_layers + 1):
        prefix = f"decoder_l{tied_layer(config, layer)}"
        cell = [_measured(weights[f"{prefix}_rnn_{name}"]) for name in ("W", "Wf")]
        bias = _vector(weights, f"{prefix}_rnn_bf")
        yield _side_by_side(*cell), np.append(np.zeros_like(bias), bias)
        for name in ("context_Wq", "context_Wo", "ffn_W1", "ffn_W2"):
            bias = _vector(weights, f"{prefix}_{name.replace('_W', '_b')}")
            yield _measured(weights[f"{prefix}_{name}"]), bias


def _measured(weight: Float32 | Int8Matrix) -> Int8Matrix | None:
    return weight if isinstance(weight, Int8Matrix) and weight.activation else None


def _side_by_side(left: Int8Matrix | None, right: Int8Matrix | None) -> Int8Matrix | None:
    """Return two matrices as one, if they take the same input."""
    if left is None or right is None or left.activation != right.activation:
        return None
    values = np.concatenate((left.values, right.values), axis=1)
    return Int8Matrix(values, np.concatenate((left.scale, right.scale), axis=1), left.activation)


def _norms(config: TransformerConfig, weights: Weights) -> Iterator[Float32]:
    for layer in range(1, config.decoder_layers + 1):
        prefix = f"decoder_l{tied_layer(config, layer)}"
        for name in _NORMED:
            for kind in _NORM:
                yield _vector(weights, f"{prefix}_{name}_ln_{kind}")

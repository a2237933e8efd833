"""From the weights and settings of a family's checkpoint to those of our Transformer.

The families differ in where they normalise, how they tell places apart and what they call
things; each becomes a `TransformerConfig` and weights under Marian's names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32
from lexbeam.search.arrays import IntArray

_ACTIVATIONS = {
    "relu": "relu",
    "swish": "swish",
    "silu": "swish",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}
_NORM_FIRST = {"preprocess": "n", "postprocess": "da", "postprocess_top": "n"}
_OUTPUT, _OUTPUT_BIAS = "decoder_ff_logit_out_W", "decoder_ff_logit_out_b"
_BART_OFFSET = 2  # rows of a table of positions that stand before that of the first place


class Network(NamedTuple):
    """A network as our graphs take it."""

    config: TransformerConfig
    weights: dict[str, Float32]
    max_positions: int


class Settings:
    """The content of a ``config.json``, with errors that name what is wrong in it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def number(self, name: str, default: int | None = None) -> int:
        """Return a number."""
        value = self._values.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ModelError(f'config.json: "{name}" must be a number, not {value!r}')
        return value

    def text(self, name: str, default: str = "") -> str:
        """Return a text; an empty one where there is none."""
        return str(self._values.get(name) or default)

    def get(self, name: str, default: Any = None) -> Any:
        """Return whatever is there."""
        return self._values.get(name, default)


def family(settings: Settings) -> str:
    """Return the type of a model, if it is one that can be imported."""
    kind = settings.text("model_type")
    if kind not in _FAMILIES:
        known = ", ".join(_FAMILIES)
        raise ModelError(f'models of type "{kind}" can\'t be imported, only {known}')
    return kind


def interpret(settings: Settings, weights: Mapping[str, Float32]) -> Network:
    """Turn a checkpoint into a network; what can't be done is named in the error."""
    return _FAMILIES[family(settings)](settings, weights)


class _Renamed:
    """Weights that are taken by one name and kept by another."""

    def __init__(self, given: Mapping[str, Float32]) -> None:
        self._given = {name.removeprefix("model."): weight for name, weight in given.items()}
        self.weights: dict[str, Float32] = {}

    def find(self, *names: str) -> Float32:
        """Return the first of some weights that is there."""
        for name in names:
            if name in self._given:
                return self._given[name]
        raise ModelError(f"the weight {names[0]} is missing from the checkpoint")

    def has(self, name: str) -> bool:
        return name in self._given

    def dense(self, name: str, suffix: str, taken: str, bias: bool = True) -> None:
        """Take a linear layer, whose matrix has the output dimension first."""
        self.weights[f"{name}_W{suffix}"] = self.find(f"{taken}.weight").T
        if bias:
            self.weights[f"{name}_b{suffix}"] = self.find(f"{taken}.bias")

    def norm(self, name: str, taken: str, suffix: str = "", bias: bool = True) -> None:
        self.weights[f"{name}_ln_scale{suffix}"] = self.find(f"{taken}.weight")
        if bias:
            self.weights[f"{name}_ln_bias{suffix}"] = self.find(f"{taken}.bias")

    def tables(self) -> dict[str, Any]:
        """Take the embeddings and the output layer; return how they are tied."""
        shared = "shared.weight"
        source = self.find("encoder.embed_tokens.weight", shared, "lm_head.weight")
        target = self.find("decoder.embed_tokens.weight", shared, "lm_head.weight")
        output = self.find("lm_head.weight", "decoder.embed_tokens.weight", shared)
        names = {"source_embedding": "encoder_Wemb", "target_embedding": "decoder_Wemb"}
        if _same(source, target):
            names = dict.fromkeys(names, "Wemb")
        tied = _same(target, output)
        names["output"] = names["target_embedding"] if tied else _OUTPUT
        self.weights[names["source_embedding"]] = source
        self.weights[names["target_embedding"]] = target
        if not tied:
            self.weights[_OUTPUT] = output.T
        return {**names, "source_vocabulary": len(source), "target_vocabulary": len(output)}


def _same(one: Float32, other: Float32) -> bool:
    return one is other or np.array_equal(one, other)


def _activation(name: str) -> str:
    if name not in _ACTIVATIONS:
        raise ModelError(f'config.json: the activation "{name}" is not supported')
    return _ACTIVATIONS[name]


# --- BART and its descendants: Marian, mBART, M2M100 and NLLB --------------------------------


def _bart_like(settings: Settings, renamed: _Renamed, **around: str) -> Network:
    """Take a network of BART's family; ``around`` is where it normalises."""
    heads = settings.number("encoder_attention_heads")
    if settings.number("decoder_attention_heads") != heads:
        raise ModelError("config.json: encoder and decoder have different numbers of heads")
    dim = settings.number("d_model")
    config = TransformerConfig(
        **renamed.tables(),
        dim=dim,
        heads=heads,
        encoder_layers=settings.number("encoder_layers"),
        decoder_layers=settings.number("decoder_layers"),
        decoder="self-attention",
        activation=_activation(settings.text("activation_function", "gelu")),
        embedding_factor=float(np.sqrt(dim)) if settings.get("scale_embedding") else 1.0,
        positions="table",
        epsilon=1e-5,
        **around,  # type: ignore[arg-type]
    )
    config.check()
    for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        if "n" in config.postprocess_embedding:
            renamed.norm(f"{side}_emb", f"{side}.layernorm_embedding")
        if "n" in config.postprocess_top:
            renamed.norm(f"{side}_top", f"{side}.layer_norm")
        for layer in range(layers):
            _bart_layer(renamed, side, layer, "_pre" if config.preprocess else "")
    if renamed.has("final_logits_bias"):
        renamed.weights[_OUTPUT_BIAS] = renamed.find("final_logits_bias").reshape(-1)
    positions = min(len(renamed.weights["encoder_Wpos"]), len(renamed.weights["decoder_Wpos"]))
    return Network(config, renamed.weights, positions)


def _bart_layer(renamed: _Renamed, side: str, layer: int, suffix: str) -> None:
    ours, theirs = f"{side}_l{layer + 1}", f"{side}.layers.{layer}"
    attentions = {"self": "self_attn"}
    if side == "decoder":
        attentions["context"] = "encoder_attn"
    for name, taken in attentions.items():
        for kind, part in zip("qkvo", ("q_proj", "k_proj", "v_proj", "out_proj"), strict=True):
            renamed.dense(f"{ours}_{name}", kind, f"{theirs}.{taken}.{part}")
        renamed.norm(f"{ours}_{name}_Wo", f"{theirs}.{taken}_layer_norm", suffix)
    renamed.dense(f"{ours}_ffn", "1", f"{theirs}.fc1")
    renamed.dense(f"{ours}_ffn", "2", f"{theirs}.fc2")
    renamed.norm(f"{ours}_ffn_ffn", f"{theirs}.final_layer_norm", suffix)


def _learned_positions(renamed: _Renamed) -> None:
    for side in ("encoder", "decoder"):
        table = renamed.find(f"{side}.embed_positions.weight")
        renamed.weights[f"{side}_Wpos"] = table[_BART_OFFSET:]


def _set_positions(renamed: _Renamed, angles: Any) -> None:
    """Let both sides have sines in the first half of a code and cosines in the second."""
    codes = np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
    for side in ("encoder", "decoder"):
        learned = f"{side}.embed_positions.weight"
        renamed.weights[f"{side}_Wpos"] = renamed.find(learned) if renamed.has(learned) else codes


def _marian(settings: Settings, given: Mapping[str, Float32]) -> Network:
    """Sinusoids here are not those of Marian itself: the slowest one is a little faster."""
    dim, count = settings.number("d_model"), settings.number("max_position_embeddings")
    renamed = _Renamed(given)
    _set_positions(renamed, np.arange(count)[:, None] * 10000.0 ** (-2 * np.arange(dim // 2) / dim))
    return _bart_like(settings, renamed)


def _bart(settings: Settings, given: Mapping[str, Float32]) -> Network:
    renamed = _Renamed(given)
    _learned_positions(renamed)
    return _bart_like(settings, renamed, postprocess_embedding="n")


def _mbart(settings: Settings, given: Mapping[str, Float32]) -> Network:
    renamed = _Renamed(given)
    _learned_positions(renamed)
    return _bart_like(settings, renamed, postprocess_embedding="n", **_NORM_FIRST)


def _m2m(settings: Settings, given: Mapping[str, Float32]) -> Network:
    """Positions are counted from after the padding's id, and sinusoids rounded on the way."""
    first = settings.number("pad_token_id", 1) + 1
    half, count = settings.number("d_model") // 2, settings.number("max_position_embeddings")
    step = np.float32(np.log(10000) / (half - 1))
    frequencies = np.exp(np.arange(half, dtype=np.float32) * -step)
    renamed = _Renamed(given)
    _set_positions(
        renamed, np.arange(first, first + count, dtype=np.float32)[:, None] * frequencies
    )
    return _bart_like(settings, renamed, **_NORM_FIRST)


# --- T5 -----------------------------------------------------------------------------------------


def _t5(settings: Settings, given: Mapping[str, Float32]) -> Network:
    renamed = _Renamed(given)
    gate, _, activation = settings.text("feed_forward_proj", "relu").rpartition("-")
    if gate == "gated" and activation == "gelu":
        activation = "gelu_new"  # what has always been meant by that name
    layers = settings.number("num_layers")
    config = TransformerConfig(
        **renamed.tables(),
        dim=settings.number("d_model"),
        heads=settings.number("num_heads"),
        head_size=settings.number("d_kv"),
        encoder_layers=layers,
        decoder_layers=settings.get("num_decoder_layers") or layers,
        decoder="self-attention",
        activation=_activation(activation),
        gated=gate == "gated",
        embedding_factor=1.0,
        positions="distances",
        norm="rms",
        biases=False,
        epsilon=float(settings.get("layer_norm_epsilon", 1e-6)),
        **_NORM_FIRST,  # type: ignore[arg-type]
    )
    config.check()
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        renamed.norm(f"{side}_top", f"{side}.final_layer_norm", bias=False)
        for layer in range(count):
            _t5_layer(renamed, side, layer, config)
        learned = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        table = _by_distance(renamed.find(learned), settings, both_ways=side == "encoder")
        renamed.weights[f"{side}_Wdist"] = table
    scales = settings.get("scale_decoder_outputs", settings.get("tie_word_embeddings"))
    if settings.text("model_type") == "t5" and scales is not False:
        renamed.weights["decoder_top_ln_scale"] = renamed.weights["decoder_top_ln_scale"] * (
            np.float32(config.dim**-0.5)
        )
    return Network(config, renamed.weights, settings.number("n_positions", 512))


def _t5_layer(renamed: _Renamed, side: str, layer: int, config: TransformerConfig) -> None:
    ours, theirs = f"{side}_l{layer + 1}", f"{side}.block.{layer}.layer"
    attentions = {"self": "0.SelfAttention"}
    if side == "decoder":
        attentions["context"] = "1.EncDecAttention"
    for name, taken in attentions.items():
        for kind in "qkvo":
            renamed.dense(f"{ours}_{name}", kind, f"{theirs}.{taken}.{kind}", bias=False)
        # T5 does not divide its scores by the root of a key's size, attention here does.
        queries = f"{ours}_{name}_Wq"
        renamed.weights[queries] = renamed.weights[queries] * np.float32(config.head_size**0.5)
        renamed.norm(f"{ours}_{name}_Wo", f"{theirs}.{taken[0]}.layer_norm", "_pre", bias=False)
    last = f"{theirs}.{len(attentions)}"
    dense = f"{last}.DenseReluDense"
    if config.gated:
        renamed.dense(f"{ours}_ffn", "1", f"{dense}.wi_0", bias=False)
        renamed.dense(f"{ours}_ffn", "g", f"{dense}.wi_1", bias=False)
    else:
        renamed.dense(f"{ours}_ffn", "1", f"{dense}.wi", bias=False)
    renamed.dense(f"{ours}_ffn", "2", f"{dense}.wo", bias=False)
    renamed.norm(f"{ours}_ffn_ffn", f"{last}.layer_norm", "_pre", bias=False)


def _by_distance(learned: Float32, settings: Settings, *, both_ways: bool) -> Float32:
    """Return a row a distance from a table in which distances share rows."""
    farthest = settings.number("relative_attention_max_distance", 128)
    away = np.arange(farthest + 1)
    if not both_ways:
        return learned[_shared_row(away, len(learned), farthest)]
    rows = _shared_row(away, len(learned) // 2, farthest)
    before, behind = learned[rows], learned[rows + len(learned) // 2]
    return np.concatenate([before[:0:-1], before[:1], behind[1:]])


def _shared_row(distances: IntArray, count: int, farthest: int) -> IntArray:
    """Half of the rows are for one distance each, the others for ranges growing by a factor."""
    exact = count // 2
    ratio = np.log(np.maximum(distances, 1).astype(np.float32) / np.float32(exact))
    growth = ratio / np.float32(np.log(farthest / exact)) * np.float32(count - exact)
    shared = np.minimum(exact + growth.astype(np.int64), count - 1)
    return np.where(distances < exact, distances, shared)


_FAMILIES: Mapping[str, Callable[[Settings, Mapping[str, Float32]], Network]] = {
    "marian": _marian,
    "bart": _bart,
    "mbart": _mbart,
    "m2m_100": _m2m,
    "t5": _t5,
    "mt5": _t5,
}

"""The network of a CTranslate2 model under Marian's names, as our graphs take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs.positions import sines_and_cosines
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32, Weight
from lexbeam.models.importers.ctranslate2.binary import BinaryModel
from lexbeam.models.importers.ctranslate2.sublayers import (
    Sublayers,
    rename_attention,
    rename_feed_forward,
    rename_norm,
)
from lexbeam.models.importers.ctranslate2.variables import Variables, round_rows, to_float
from lexbeam.models.importers.relative_buckets import by_distance

_HEADS_BY_SPECIFICATION = {"": 8, "TransformerBase": 8, "TransformerBig": 16, "TransformerSpec": 8}
"""The specifications that can be read, and the heads where the model does not say."""

_OLDEST_REVISION = 2  # before it, variables have other names
_ROUNDS_TO_NEAREST = 5  # the version since which activations are not rounded down
_ACTIVATIONS = ("relu", "gelu_tanh", "swish", "gelu", "gelu_sigmoid")
_SIDES = ("encoder", "decoder")
_MOST_POSITIONS = 1024
_IGNORED = frozenset(
    {
        *("with_source_bos", "with_source_eos", "with_target_bos", "user_decoder_start_tokens"),
        *("unk_token", "bos_token", "eos_token", "with_relative_position", "layernorm_embedding"),
        *("decoder/alibi_use_positive_positions", "decoder/scale_alibi", "embeddings_merge"),
        "encoder/embeddings_merge",
        "encoder/multi_query_attention",
    }
)
"""Variables that are read elsewhere, or say nothing about one source vocabulary."""

_MUST_BE_ZERO = ("decoder/alibi", "encoder/sliding_window", "decoder/sliding_window")


class Network(NamedTuple):
    """A network as our graphs take it."""

    config: TransformerConfig
    weights: Mapping[str, Weight]
    max_positions: int
    alignment: tuple[int, int] | None
    starts_from_zeros: bool
    """Whether the output follows a token whose embedding is zero."""
    precision: str


def read_network(model: BinaryModel, epsilon: float | None, precision: str | None) -> Network:
    """Return the network of a model; what can't be done is named in the error.

    ``epsilon`` is that of normalisation, None the usual one; ``precision`` is "int8" or
    "float32", None that of the model.
    """
    if model.specification not in _HEADS_BY_SPECIFICATION:
        raise ModelError(
            f'models of the type "{model.specification:.60}" can\'t be imported, only Transformers '
            "that translate (TransformerSpec)"
        )
    if model.revision < _OLDEST_REVISION:
        raise ModelError(f"its specification has the revision {model.revision}; 2 is the oldest")
    return _Reader(model, epsilon, precision).read()


class _Reader:
    """Reads the variables of a model from the embeddings to the output."""

    def __init__(self, model: BinaryModel, epsilon: float | None, precision: str | None) -> None:
        self.model = model
        self.variables = Variables(model.variables)
        self.epsilon = epsilon
        matrices = [values for values in model.variables.values() if values.ndim == 2]
        stored = any(values.dtype == np.int8 for values in matrices)
        self.precision = precision or ("int8" if stored else "float32")
        self.weights: dict[str, Weight] = {}

    def read(self) -> Network:
        self._refuse_what_is_unknown()
        embeddings = self._embeddings()
        dim = self.weights[embeddings["target_embedding"]].shape[1]
        positions = self._positions(dim)
        sublayers = Sublayers(self.variables, self.weights, self._heads(), self._pre_norm(), [])
        for side in _SIDES:
            self._read_side(side, sublayers)
        config = self._config(embeddings, dim, positions, sublayers)
        alignment, from_zeros = self._alignment(config), self._flag("start_from_zero_embedding")
        if unread := self.variables.unread():
            raise ModelError(f"it has {unread[0]}, which is not supported")
        tables = [self.weights[f"{side}_Wpos"] for side in _SIDES] if positions == "table" else []
        count = min([_MOST_POSITIONS, *(table.shape[0] for table in tables)])
        return Network(config, self._rounded(config), count, alignment, from_zeros, self.precision)

    def _rounded(self, config: TransformerConfig) -> dict[str, Weight]:
        """Return the weights in the precision that is wanted, matrices with the input first."""
        kept: dict[str, Weight] = {}
        for name, weight in self.weights.items():
            if len(weight.shape) != 2 or config.stays_float(name):
                kept[name] = weight
                continue
            rows = round_rows(weight) if self.precision == "int8" else to_float(weight)
            kept[name] = rows if name.endswith("Wemb") else rows.T
        return kept

    # --- single values ----------------------------------------------------------------------

    def _number(self, side: str, name: str, default: float) -> float:
        """Return a value that older models have for both sides together."""
        return self.variables.number(f"{side}/{name}", name, default=default)

    def _same(self, name: str, default: float) -> float:
        """Return a value on which both sides have to agree."""
        one, other = (self._number(side, name, default) for side in _SIDES)
        if one != other:
            raise ModelError(f"encoder and decoder have a different {name}: {one:g} and {other:g}")
        return one

    def _flag(self, name: str) -> bool:
        return bool(self.variables.number(f"decoder/{name}", default=0))

    def _heads(self) -> int:
        return int(self._same("num_heads", _HEADS_BY_SPECIFICATION[self.model.specification]))

    def _pre_norm(self) -> bool:
        return bool(self._same("pre_norm", 1))

    def _refuse_what_is_unknown(self) -> None:
        """Raise ModelError for what would otherwise be read as something else."""
        for name in _MUST_BE_ZERO:
            if self.variables.number(name, default=0):
                raise ModelError(f"it has {name}, which is not supported")
        if self.variables.has("encoder/embeddings_1"):
            raise ModelError("it has several source embeddings (features): not supported")
        self.variables.ignore(_IGNORED)

    # --- embeddings and positions -----------------------------------------------------------

    def _embeddings(self) -> dict[str, Any]:
        """Name embeddings and output layer; return the options that say how they are tied."""
        variables, weights = self.variables, self.weights
        of_source = "encoder/embeddings_0" if variables.has("encoder/embeddings_0") else ""
        of_source = of_source or "encoder/embeddings"
        source = variables.matrix(f"{of_source}/weight")
        target = variables.matrix("decoder/embeddings/weight")
        output = variables.linear("decoder/projection")
        names = {"source_embedding": "encoder_Wemb", "target_embedding": "decoder_Wemb"}
        if self._are_tied(f"{of_source}/weight", "decoder/embeddings/weight"):
            names = dict.fromkeys(names, "Wemb")
        tied = self._are_tied("decoder/projection/weight", "decoder/embeddings/weight")
        names["output"] = names["target_embedding"] if tied else "decoder_ff_logit_out_W"
        weights[names["source_embedding"]] = source
        weights[names["target_embedding"]] = target
        weights[names["output"]] = output.rows
        if output.bias is not None:
            weights["decoder_ff_logit_out_b"] = output.bias
        if source.shape[1] != target.shape[1]:
            raise ModelError("source and target embeddings differ in size")
        sizes = {"source_vocabulary": source.shape[0], "target_vocabulary": output.rows.shape[0]}
        return {**names, **sizes}

    def _are_tied(self, one: str, other: str) -> bool:
        """Return whether two matrices are the same numbers."""
        for suffix in ("", "_scale"):
            first, second = (self.model.variables.get(name + suffix) for name in (one, other))
            if first is not second and not np.array_equal(first, second):  # type: ignore[arg-type]
                return False
        return True

    def _embedding_factor(self, dim: int) -> float:
        """Return what embeddings are multiplied by: a flag stands for the root of their size."""
        factors = []
        for side in _SIDES:
            names = [f"{side}/scale_embeddings"]
            names += [f"{side}/embeddings{n}/multiply_by_sqrt_depth" for n in ("", "_0")]
            name = next((each for each in names if self.variables.has(each)), None)
            value = self.variables.number(*names, default=1)
            is_flag = name is None or self.variables.array(name).dtype == np.int8
            factors.append((dim**0.5 if value else 1.0) if is_flag else value)
        if abs(factors[0] - factors[1]) > 1e-5 * abs(factors[0]):
            raise ModelError("encoder and decoder scale their embeddings by different factors")
        return factors[0]

    def _positions(self, dim: int) -> str:
        """Name what tells the order of tokens; return its kind."""
        first = [f"{side}/layer_0/self_attention" for side in _SIDES]
        if self.variables.has(f"{first[0]}/relative_position_keys"):
            return "relative"  # each layer has its own
        if self.variables.has(f"{first[0]}/relative_attention_bias"):
            for side in _SIDES:
                self.weights[f"{side}_Wdist"] = self._distances(side)
            return "distances"
        for side in _SIDES:
            name = f"{side}/position_encodings/encodings"
            given = self.variables.has(name)
            table = self.variables.floats(name) if given else sinusoids(_MOST_POSITIONS, dim)
            if table.ndim != 2:
                raise ModelError(f"the variable {name} has the shape {table.shape}: not a table")
            self.weights[f"{side}_Wpos"] = table[:_MOST_POSITIONS]
        return "table"

    def _distances(self, side: str) -> Float32:
        """Return the biases of distances, which all layers of a side have to share."""
        tables = []
        for layer in range(self.variables.layers(side)):
            scope = f"{side}/layer_{layer}/self_attention/relative_attention"
            learned = self.variables.floats(f"{scope}_bias")
            farthest = int(self.variables.number(f"{scope}_max_distance", default=128))
            if learned.ndim != 2 or len(learned) < 4 or not len(learned) // 2 < farthest <= 1 << 16:
                raise ModelError(f"{scope}_bias and {scope}_max_distance don't fit together")
            tables.append(by_distance(learned, farthest, both_directions=side == "encoder"))
        if any(not np.array_equal(tables[0], table) for table in tables):
            raise ModelError("each layer has a relative_attention_bias of its own: not supported")
        return tables[0]

    # --- layers -----------------------------------------------------------------------------

    def _read_side(self, side: str, sublayers: Sublayers) -> None:
        """Name the weights of an encoder or decoder."""
        if self.variables.has(f"{side}/layernorm_embedding"):
            rename_norm(sublayers, f"{side}/layernorm_embedding", f"{side}_emb", "")
        if self.variables.has(f"{side}/layer_norm"):
            rename_norm(sublayers, f"{side}/layer_norm", f"{side}_top", "")
        for layer in range(self.variables.layers(side)):
            scope, ours = f"{side}/layer_{layer}", f"{side}_l{layer + 1}"
            rename_attention(sublayers, f"{scope}/self_attention", f"{ours}_self")
            if side == "decoder":
                rename_attention(sublayers, f"{scope}/attention", f"{ours}_context")
            rename_feed_forward(sublayers, f"{scope}/ffn", f"{ours}_ffn")
        if side == "decoder" and self.variables.has("decoder/scale_outputs"):
            self._scale_outputs()

    def _scale_outputs(self) -> None:
        """Multiply what the last normalisation gives: it is what the output layer takes."""
        factor = np.float32(self.variables.number("decoder/scale_outputs", default=1))
        if "decoder_top_ln_scale" not in self.weights:
            raise ModelError("it has decoder/scale_outputs but no decoder/layer_norm")
        for name in ("decoder_top_ln_scale", "decoder_top_ln_bias"):
            if name in self.weights:
                self.weights[name] = to_float(self.weights[name]) * factor

    def _has_on_both(self, name: str) -> bool:
        """Return whether both sides have something; that only one has it is an error."""
        one, other = (self.variables.has(f"{side}/{name}") for side in _SIDES)
        if one != other:
            raise ModelError(f"only one of encoder and decoder has {name}: not supported")
        return one

    def _config(
        self, embeddings: Mapping[str, Any], dim: int, positions: str, sublayers: Sublayers
    ) -> TransformerConfig:
        rms = "decoder_l1_ffn_ffn_ln_bias" + sublayers.suffix not in self.weights
        activation = int(self._same("activation", 0))
        if not 0 <= activation < len(_ACTIVATIONS):
            raise ModelError(f"its activation function has the number {activation}: not supported")
        down = self.model.version < _ROUNDS_TO_NEAREST
        config = TransformerConfig(
            **embeddings,
            dim=dim,
            heads=sublayers.heads,
            head_size=sublayers.head_size,
            encoder_layers=self.variables.layers("encoder"),
            decoder_layers=self.variables.layers("decoder"),
            decoder="self-attention",
            activation=_ACTIVATIONS[activation],
            gated="decoder_l1_ffn_Wg" in self.weights,
            preprocess="n" if sublayers.pre_norm else "",
            postprocess="da" if sublayers.pre_norm else "dan",
            postprocess_embedding="n" if self._has_on_both("layernorm_embedding") else "",
            postprocess_top="n" if self._has_on_both("layer_norm") else "",
            embedding_factor=self._embedding_factor(dim),
            positions=positions,
            norm="rms" if rms else "layer",
            biases=any(sublayers.biased),
            epsilon=self.epsilon if self.epsilon is not None else (1e-6 if rms else 1e-5),
            rounding="rows down" if down else "rows",
        )
        config.check()
        return config

    def _alignment(self, config: TransformerConfig) -> tuple[int, int] | None:
        """Return the decoder layer and head that were trained to align, if it is known.

        Head 0 of the last layer is what converters write for want of anything better; only
        Marian's models (which begin with zeros) have really trained it.
        """
        layer = int(self._number("decoder", "alignment_layer", -1))
        heads = int(self._number("decoder", "alignment_heads", 1))
        layer += config.decoder_layers if layer < 0 else 0
        last = layer == config.decoder_layers - 1
        if not 0 <= layer < config.decoder_layers or (last and heads in (0, config.heads)):
            return None
        return (layer, 0) if not last or self._flag("start_from_zero_embedding") else None


def sinusoids(count: int, dim: int) -> Float32:
    """Return the codes of positions that CTranslate2 makes itself, in its own precision.

    They are counted from 1. # shape: (count, dim)
    """
    half = dim // 2
    step = np.float32(np.log(np.float32(10000))) / np.float32(max(half - 1, 1))
    frequencies = np.exp(np.arange(half, dtype=np.float32) * -step)
    return sines_and_cosines(np.arange(1, count + 1, dtype=np.float32), frequencies)

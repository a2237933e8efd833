"""The sublayers of a CTranslate2 model under Marian's names: attention, feed-forward, norms.

CTranslate2 has the matrices of queries, keys and values side by side in one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs.weights import Float32, Weight
from lexbeam.models.importers.ctranslate2.variables import Linear, Variables


@dataclass
class Sublayers:
    """Where sublayers are read from and written to, and what is known of all of them."""

    variables: Variables
    weights: dict[str, Weight]
    heads: int
    pre_norm: bool
    biased: list[bool]
    """Whether each dense layer has a bias."""
    head_size: int = 0

    @property
    def suffix(self) -> str:
        """How the names of norms end that belong to a sublayer."""
        return "_pre" if self.pre_norm else ""


def rename_norm(sublayers: Sublayers, scope: str, name: str, suffix: str) -> None:
    """Name a normalisation; one that does not centre has no bias."""
    variables, weights = sublayers.variables, sublayers.weights
    weights[f"{name}_ln_scale{suffix}"] = variables.floats(f"{scope}/gamma").reshape(-1)
    if variables.has(f"{scope}/beta"):
        weights[f"{name}_ln_bias{suffix}"] = variables.floats(f"{scope}/beta").reshape(-1)
    if variables.number(f"{scope}/layer_norm_use_residual", default=0):
        raise ModelError(f"it has {scope}/layer_norm_use_residual, which is not supported")


def rename_feed_forward(sublayers: Sublayers, scope: str, name: str) -> None:
    """Name the dense layers of a feed-forward sublayer, and its gate if there is one."""
    rename_norm(sublayers, f"{scope}/layer_norm", f"{name}_ffn", sublayers.suffix)
    parts = {"1": "linear_0", "2": "linear_1", "g": "linear_0_noact"}
    for kind, given in parts.items():
        if kind != "g" or sublayers.variables.has(f"{scope}/{given}"):
            _store(sublayers, name, kind, sublayers.variables.linear(f"{scope}/{given}"))


def rename_attention(sublayers: Sublayers, scope: str, name: str) -> None:
    """Name the dense layers of attention, and its tables of distances if it has any."""
    variables = sublayers.variables
    rename_norm(sublayers, f"{scope}/layer_norm", f"{name}_Wo", sublayers.suffix)
    to_itself = not variables.has(f"{scope}/linear_2")
    output = variables.linear(f"{scope}/linear_{1 if to_itself else 2}")
    inner = output.rows.shape[1]
    fused = variables.linear(f"{scope}/linear_0")
    queries = fused.part(0, inner)
    others = (
        fused.part(inner, fused.rows.shape[0])
        if to_itself
        else variables.linear(f"{scope}/linear_1")
    )
    size = _head_size(sublayers, scope, inner)
    scale = variables.number(f"{scope}/queries_scale", default=size**-0.5)
    keys, values = _keys_and_values(sublayers, scope, others, inner)
    queries = queries.times(scale * size**0.5) if abs(scale - size**-0.5) > 1e-7 else queries
    named = {"q": queries, "k": keys, "v": values, "o": output}
    for kind, linear in named.items():
        _store(sublayers, name, kind, linear)
    for kind, table in (("k", "relative_position_keys"), ("v", "relative_position_values")):
        if variables.has(f"{scope}/{table}"):
            sublayers.weights[f"{name}_R{kind}"] = _odd(variables.floats(f"{scope}/{table}"))


def _head_size(sublayers: Sublayers, scope: str, inner: int) -> int:
    """Return the numbers of a head, which all layers have to share."""
    size, rest = divmod(inner, sublayers.heads)
    given = int(sublayers.variables.number(f"{scope}/head_dim", default=size))
    if rest or given != size or not size or sublayers.head_size not in (0, size):
        raise ModelError(f"{scope}: {inner} numbers can't be divided among {sublayers.heads} heads")
    sublayers.head_size = size
    return size


def _keys_and_values(
    sublayers: Sublayers, scope: str, both: Linear, inner: int
) -> tuple[Linear, Linear]:
    """Split keys from values; heads that several queries share are repeated for each."""
    variables, size = sublayers.variables, sublayers.head_size
    variables.number(f"{scope}/num_heads_kv", f"{scope}/multi_query", default=0)
    half = both.rows.shape[0] // 2
    if not half or both.rows.shape[0] % 2 or inner % half or half % size:
        raise ModelError(f"{scope}: {both.rows.shape[0]} numbers are no keys and values")
    parts = both.part(0, half), both.part(half, 2 * half)
    if half == inner:
        return parts
    keys, values = (part.repeat_heads(size, inner // half) for part in parts)
    return keys, values


def _odd(table: Float32) -> Float32:
    """Check that a table of distances has a row for distance 0 in its middle."""
    if table.ndim != 2 or len(table) % 2 == 0:
        raise ModelError(f"a table of relative positions has the shape {table.shape}")
    return table


def _store(sublayers: Sublayers, name: str, kind: str, linear: Linear) -> None:
    sublayers.weights[f"{name}_W{kind}"] = linear.rows
    bias = linear.bias
    sublayers.biased.append(bias is not None)
    zeros = np.zeros(linear.rows.shape[0], np.float32)
    sublayers.weights[f"{name}_b{kind}"] = zeros if bias is None else bias

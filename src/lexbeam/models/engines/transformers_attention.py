"""Where a Hugging Face model attends: the attention of its decoder to its source.

Only the library's plain implementation of attention (``eager``) returns weights, so a model is
switched to it while they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lexbeam.errors import ModelError, SettingError
from lexbeam.search.arrays import ScoreArray

WITH_ATTENTION = "output_attentions"
"""The argument by which a model is asked for its attention."""

_PLAIN = "eager"

Alignment = tuple[int, int | None]
"""A decoder layer and one of its heads, counted from 0; None: the mean over its heads."""


@contextmanager
def plain_attention(model: Any) -> Iterator[None]:
    """Let a model compute attention in the way that can return it."""
    config = model.config
    before: Any = config._attn_implementation
    if before == _PLAIN:
        yield
        return
    parts = {key: getattr(config, key, None) for key in getattr(config, "sub_configs", ())}
    own = {key: part._attn_implementation for key, part in parts.items() if part is not None}
    model.set_attn_implementation(_PLAIN)
    try:
        yield
    finally:
        model.set_attn_implementation({"": before, **own} if own else before)


def gives_attention(outputs: Any) -> bool:
    """Return whether outputs of a model say where it attends in its source."""
    layers = getattr(outputs, "cross_attentions", None) or ()
    return bool(layers) and all(each is not None for each in layers)


def read_attention(model: Any, outputs: Any, alignment: Alignment | None) -> ScoreArray:
    """Return where the last token of each row attends. # shape: (rows, source tokens).

    It is the attention of one layer and head, or the mean over the heads of a layer; by default
    those of the last one.
    """
    if not gives_attention(outputs):
        raise ModelError(f"{type(model).__name__} can't say which source tokens it looks at")
    layers = outputs.cross_attentions
    layer, head = alignment or (len(layers) - 1, None)
    if not 0 <= layer < len(layers):
        raise SettingError(f"alignment: the decoder has {len(layers)} layers, there is no {layer}")
    heads = layers[layer][:, :, -1, :].float()  # shape: (rows, heads, source tokens)
    if head is not None and not 0 <= head < heads.shape[1]:
        raise SettingError(f"alignment: a layer has {heads.shape[1]} heads, there is no {head}")
    one = heads.mean(dim=1) if head is None else heads[:, head]
    weights: ScoreArray = one.cpu().numpy()
    return weights

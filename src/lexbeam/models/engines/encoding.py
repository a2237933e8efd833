"""Encode the sentences of a batch without paying for its longest one.

An encoder takes a table of tokens, as wide as the longest sentence, and computes the padding like
everything else. So sentences of like length are encoded together, and what comes out is put into
one table again. What a sentence gets does not depend on its group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lexbeam.models.engines.onnx_session import run_session
from lexbeam.search.arrays import IntArray

TIME = "time"
"""What graphs call the axis of tokens."""
_FEWEST = 4  # sentences of a group, unless there are no more
_SHORTEST = 0.8  # of the longest of its group

Arrays = dict[str, NDArray[Any]]


class Encoder:
    """The encoder of a network."""

    def __init__(self, session: ort.InferenceSession) -> None:
        self._session = session
        dims = [each.shape[1] for each in session.get_inputs() if each.name == "positions"]
        self.dim_of_positions: int | None = dims[0] if dims else None
        """The dimension of the embeddings of positions, if the network takes any."""
        outputs = session.get_outputs()
        self._names = [output.name for output in outputs]
        self._times = [
            output.shape.index(TIME) if TIME in output.shape else None for output in outputs
        ]

    def run(self, feed: Mapping[str, NDArray[Any]], lengths: IntArray) -> Arrays:
        """Encode sentences of so many tokens; return all outputs by name.

        All inputs but ``positions`` have the sentences as their first axis; ``tokens`` and
        ``mask`` have the tokens as their second, ``positions`` as its first.
        """
        groups = group_by_length(lengths)
        if len(groups) == 1:
            found = run_session(self._session, self._names, feed)
            return dict(zip(self._names, found, strict=True))
        parts = [
            run_session(self._session, self._names, _part(feed, group, int(lengths[group].max())))
            for group in groups
        ]
        longest = int(lengths.max())
        return {
            name: _put_together([part[i] for part in parts], groups, self._times[i], longest)
            for i, name in enumerate(self._names)
        }


def group_by_length(lengths: IntArray) -> list[IntArray]:
    """Return the indices of sentences in groups of like length, the longest first."""
    order = (-lengths).argsort(kind="stable")
    groups, start = [], 0
    for index in range(1, len(order)):
        full = index - start >= _FEWEST and len(order) - index >= _FEWEST
        if full and lengths[order[index]] < _SHORTEST * lengths[order[start]]:
            groups.append(order[start:index])
            start = index
    return [*groups, order[start:]]


def _part(feed: Mapping[str, NDArray[Any]], group: IntArray, length: int) -> Arrays:
    """Return what an encoder takes of some sentences, as wide as the longest of them."""
    part = {}
    for name, value in feed.items():
        if name == "positions":
            part[name] = value[:length]
        elif name in ("tokens", "mask"):
            part[name] = np.ascontiguousarray(value[group, :length])
        else:
            part[name] = value[group]
    return part


def _put_together(
    parts: Sequence[NDArray[Any]], groups: Sequence[IntArray], time: int | None, longest: int
) -> NDArray[Any]:
    """Return the outputs of all groups as one array, in the order of the batch."""
    shape = list(parts[0].shape)
    shape[0] = sum(map(len, groups))
    if time is not None:
        shape[time] = longest
    whole = np.zeros(shape, parts[0].dtype)
    for part, group in zip(parts, groups, strict=True):
        if time is None:
            whole[group] = part
        else:
            index: tuple[Any, ...] = tuple(
                slice(part.shape[i] if i == time else None) for i in range(1, part.ndim)
            )
            whole[(group, *index)] = part
    return whole

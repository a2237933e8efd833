"""Where a scorer looks while it is made to say given outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def attention_of(
    scorer: Any, sources: Sequence[Any], outputs: Sequence[Sequence[int]]
) -> list[NDArray[Any]]:
    """Return the attention with which each token of an output is scored, and its end.

    A sentence leaves the batch when its output is over. # shape of each: (tokens + 1, width)
    """
    found: list[list[NDArray[Any]]] = [[] for _ in sources]
    state = scorer.start(sources, [list(output) for output in outputs])
    alive = list(range(len(sources)))
    tokens, parents = [scorer.bos] * len(sources), list(range(len(sources)))
    for step in range(max(map(len, outputs)) + 1):
        none = np.zeros((len(tokens), 0), np.int64)
        scores = scorer.step(
            state, np.array(tokens), np.array(parents), none, none, 1, attention=True
        )
        state = scores.state
        for row, sentence in enumerate(alive):
            found[sentence].append(scores.attention[row])
        going_on = [(row, i) for row, i in enumerate(alive) if len(outputs[i]) > step]
        parents, alive = [row for row, _ in going_on], [i for _, i in going_on]
        tokens = [int(outputs[i][step]) for i in alive]
    return [np.array(rows) for rows in found]

"""Shortest paths between the states of a sentence."""

from __future__ import annotations

import numpy as np

from lexbeam.search import kernel
from lexbeam.search.arrays import BoolArray, IntArray

NEVER = 1 << 40
"""The need of a state from which no end can be reached."""

_FEW = 1 << 16


def fewest_steps(
    following: IntArray,
    closed: BoolArray,
    done: BoolArray,
) -> IntArray:
    """Return the fewest steps from each state to one that is done, `NEVER` if there is no way.

    ``following`` are the states that moves lead to, # shape: (states, moves), as that of
    ``closed``, which marks those that are forbidden. ``done`` marks states, # shape: (states,).
    They are found backwards from those that are done, so that each move is looked at once.
    """
    if kernel.compiled is not None:
        found = np.empty(len(done), np.int64)
        kernel.call(kernel.compiled.fewest_steps, following, closed, done, NEVER, found)
        return found
    need = np.where(done, 0, NEVER)
    rows, columns = (~closed).nonzero()
    reached = following[rows, columns]
    if len(need) <= _FEW:  # short numbers are sorted in a tenth of the time
        reached = reached.astype(np.uint16)
    order = reached.argsort(kind="stable")
    before = rows[order]  # the states that lead to each state, one state after the other
    ends = np.searchsorted(reached[order], np.arange(len(need)), side="right")
    counts = np.diff(ends, prepend=0)
    new, steps = np.flatnonzero(done), 0
    while len(new):
        steps += 1
        many = counts[new]
        last = many.cumsum()
        leading = np.arange(last[-1]) + (ends[new] - last).repeat(many)
        found = before[leading]
        need[found[need[found] == NEVER]] = steps
        new = np.unique(found[need[found] == steps])
    return need

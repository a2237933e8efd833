"""Bank adjustment: slots that a bank can't use go to banks that can (paper, section 3.2).

A bank has spare slots if it has fewer candidates than slots, and lacks slots if it has more. Spare
slots go to the nearest banks that lack some: banks look one bank away first, then two, and so on,
moving outward. Of two equally near banks the one with more constraint tokens met comes first.

`find_moves` is the rule for one sentence, move by move: the step of a single sentence uses it, and
the trace page shows it. `adjust` is the same for a batch, by arrays; for the few banks of a single
sentence arrays would take longer than the rest of the step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.search.arrays import IntArray

Move = tuple[int, int, int]
"""Slots that went from one bank to another: from, to, how many."""


def find_moves(slots: Sequence[int], counts: Sequence[int]) -> list[Move]:
    """Return the moves of slots between the banks of one sentence.

    ``slots`` are those of each bank before adjustment, ``counts`` its candidates.
    """
    banks = range(len(slots))
    spare = [max(slots[bank] - counts[bank], 0) for bank in banks]
    lacking = [max(counts[bank] - slots[bank], 0) for bank in banks]
    to_move = min(sum(spare), sum(lacking))
    moves: list[Move] = []
    distance = 0
    while to_move:
        distance += 1
        for outward in (distance, -distance):
            for giver in banks:
                taker = giver + outward
                if spare[giver] and taker in banks and lacking[taker]:
                    moved = min(spare[giver], lacking[taker])
                    spare[giver] -= moved
                    lacking[taker] -= moved
                    to_move -= moved
                    moves.append((giver, taker, moved))
    return moves


def adjust_one(slots: Sequence[int], counts: Sequence[int]) -> list[int]:
    """Return the slots of each bank of one sentence after adjustment."""
    adjusted = [min(given, count) for given, count in zip(slots, counts, strict=True)]
    for _, taker, moved in find_moves(slots, counts):
        adjusted[taker] += moved
    return adjusted


def adjust(slots: IntArray, counts: IntArray) -> IntArray:
    """Return the slots of each bank of a batch after adjustment.

    ``counts`` are the candidates of each bank. # shape of both: (sentences, banks).
    """
    spare = np.maximum(slots - counts, 0)
    lacking = np.maximum(counts - slots, 0)
    slots = np.minimum(slots, counts)
    to_move = int(np.minimum(spare.sum(axis=1), lacking.sum(axis=1)).sum())
    distance = 0
    while to_move:
        distance += 1
        lower, upper = np.s_[:, :-distance], np.s_[:, distance:]
        for giver, taker in ((lower, upper), (upper, lower)):
            moved = np.minimum(spare[giver], lacking[taker])
            spare[giver] -= moved
            lacking[taker] -= moved
            slots[taker] += moved
            to_move -= int(moved.sum())
    return slots

"""How the slots of a beam came to the banks, told once more for the reader.

A policy (`lexbeam.search.allocation`) only says which candidates fill the beam. What each bank was
given first, and which slots then moved where, is worked out here from the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexbeam.search.allocation import allocate

Move = tuple[int, int, int]
"""Slots that went from a bank to another: from, to, how many."""


def given(algorithm: str, beam_size: int, banks: int) -> list[int] | None:
    """Return the slots each bank has before adjustment; None where none are set apart."""
    if algorithm == "dba":
        slots: list[int] = allocate(beam_size, np.array([banks - 1]))[0].tolist()
        return slots
    if algorithm in ("gbs", "cbs"):
        return [beam_size] * banks
    return None


def moves(slots: Sequence[int], counts: Sequence[int]) -> list[Move]:
    """Return how bank adjustment moves slots that a bank has no candidates for (section 3.2).

    To the nearest bank that lacks slots, moving outward, the upper of two equally near first.
    """
    spare = [max(s - c, 0) for s, c in zip(slots, counts, strict=True)]
    lacking = [max(c - s, 0) for s, c in zip(slots, counts, strict=True)]
    moved = []
    for distance in range(1, len(slots)):
        for outward in (distance, -distance):
            for giver, taker in ((g, g + outward) for g in range(len(slots))):
                if 0 <= taker < len(slots) and (many := min(spare[giver], lacking[taker])):
                    spare[giver] -= many
                    lacking[taker] -= many
                    moved.append((giver, taker, many))
    return moved

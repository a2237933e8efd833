"""What can't be done is refused before decoding starts, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lexbeam.errors import ConstraintError, SettingError
from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.bit_layout import Demands
from lexbeam.search.automaton.patterns import Pattern
from lexbeam.search.automaton.remaining import NEVER, Room
from lexbeam.search.automaton.trie import ROOT, Trie
from lexbeam.search.request import Request, show_demand

MOST_SETS = 1024
"""Constrained beam search needs a bank for each set; more than this are refused."""


def refuse_impossible(
    requests: Sequence[Request], limits: IntArray, automaton: Automaton | None, room: Room | None
) -> None:
    """Raise unless every sentence has an output that keeps to its request and its limit."""
    for sentence, (request, limit) in enumerate(zip(requests, limits.tolist(), strict=True)):
        where = f"sentence {sentence}"
        if len(request.prefix) > limit:
            raise ConstraintError(
                f"{where}: prefix {list(request.prefix)} has {len(request.prefix)} tokens, "
                f"more than max_length {limit}"
            )
        for number, phrase in enumerate(request.phrases):
            if not isinstance(phrase, Pattern) and len(phrase) > limit:
                raise ConstraintError(
                    f"{where}: phrase {number} {list(phrase)} has {len(phrase)} tokens, "
                    f"more than max_length {limit}"
                )
        if automaton is None or room is None:
            continue
        if len(request.prefix) + room.worst[sentence] > limit:
            need = _need_after_prefix(sentence, request, automaton, room)
            if need >= NEVER:
                raise ConstraintError(
                    f"{where}: phrases {_show(request)} can't all be placed "
                    f"without one of the avoided phrases {[list(a) for a in request.avoid]}"
                )
            if len(request.prefix) + need > limit:
                behind = f" after a prefix of {len(request.prefix)}" if request.prefix else ""
                raise ConstraintError(
                    f"{where}: phrases {_show(request)} need {need} tokens{behind}, "
                    f"max_length is {limit}"
                )


def _show(request: Request) -> str:
    return ", ".join(map(show_demand, request.phrases))


def _need_after_prefix(sentence: int, request: Request, automaton: Automaton, room: Room) -> int:
    states = automaton.start().take(np.array([sentence]))
    for token in request.prefix:
        states = automaton.advance(states, np.array([token]))
        if automaton.breaks(states).any():
            return NEVER
    return room.need_of(sentence, states)


def count_sets(automaton: Automaton) -> IntArray:
    """Return how many sets of constraint tokens can be met, for each sentence.

    Raises:
        SettingError: constrained beam search would need too many banks.
    """
    sets = []
    for sentence, trie in enumerate(automaton.tries):
        sets.append(_sets_of(automaton.demands[sentence], trie))
        if sets[-1] > MOST_SETS:
            raise SettingError(
                f"sentence {sentence}: cbs would need {sets[-1]} banks for "
                f"{len(automaton.demands[sentence].met)} phrases, more than {MOST_SETS}; use dba"
            )
    return np.array(sets, dtype=np.int64)


def _sets_of(demands: Demands, trie: Trie) -> int:
    """Count the sets of met phrases, each with every phrase that may be in progress."""
    begun = sum(bool(node.begun) for node in trie.nodes[ROOT + 1 :])
    return prod(demands.settled) * (begun + 1)

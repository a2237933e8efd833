"""Hypotheses that may not end, and for which the model has ruled out all that may follow.

Tokens of constraints are taken even if the model rules them out. That is not enough where none of
them may stand: a word has to end before it, or to go on, or something has to stand between two
phrases. Then the token after which least is missing is opened, as improbable as those of
constraints that are ruled out, unless the model was asked for it.
"""

from __future__ import annotations

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.length_limit import LengthLimit
from lexbeam.search.prefix import ForcedPrefix
from lexbeam.search.scorer import IMPOSSIBLE, Scores
from lexbeam.search.ties import TiedStep


def may_be_dead_ends(scores: Scores) -> bool:
    """Return whether the model has ruled everything out for some row; mostly it has not."""
    best = scores.top_scores[:, :1]
    return bool(best.size) and bool(best.min() == -np.inf)


def open_dead_ends(
    scores: Scores,
    asked: IntArray,
    may_go: BoolArray,
    automaton: Automaton,
    here: States,
    sentence: IntArray,
    prefix: ForcedPrefix,
    limit: LengthLimit,
    tied: TiedStep | None = None,
    scored: IntArray | None = None,
) -> Scores:
    """Open a token for the rows that have nothing else to take.

    ``asked`` are the tokens of constraints, ``scored`` all that the model was asked for, if some of
    them were closed since, # shape of both: (rows, asked); ``may_go`` marks the rows that may end,
    or are still in their prefix, # shape: (rows,), as the states and ``sentence``.
    """
    dead = ~may_go & (scores.top_scores == -np.inf).all(axis=1) & (asked == PAD).all(axis=1)
    rows = dead.nonzero()[0]
    if not len(rows):
        return scores
    word_ends = None if prefix.word_ends is None else prefix.word_ends[sentence[rows]]
    tokens = limit.way_out(automaton, here.take(rows), sentence[rows], word_ends)
    found = tokens != PAD
    top_scores, top_ids = scores.top_scores.copy(), scores.top_ids.copy()
    rows, tokens = rows[found], tokens[found]
    top_scores[rows, 0], top_ids[rows, 0] = IMPOSSIBLE, tokens
    if tied is not None:  # It is given back later, as that of any other token.
        top_scores[rows, 0] -= tied.penalty(rows, tokens)
    if scored is not None:
        number, column = (scored[rows] == tokens[:, None]).nonzero()
        top_scores[rows[number], 0] = scores.ask_scores[rows[number], 1 + column]
    return scores._replace(top_scores=top_scores, top_ids=top_ids)

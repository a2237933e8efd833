"""When a sentence is done: the stopping rules that can be chosen.

Log-probabilities only fall, but a score is a log-probability divided by a power of the length,
and so may rise: whether something unfinished can still win is certain only under ``bound``, which
takes every output to be as long as it may be. ``likely`` takes it to be at most half as long again
as is usual for its source.
"""

from __future__ import annotations

import numpy as np

from lexbeam.beam import Beam, BoolArray, Finished, FloatArray
from lexbeam.scorer import IntArray
from lexbeam.settings import Settings

LENGTHS_EXPECTED = 1.5
"""How many times as long as expected an output is taken to be at most."""

_A_FEW = 3
"""Tokens that even the shortest output may have more."""


def are_done(
    settings: Settings,
    beam: Beam,
    finished: Finished,
    step: int,
    longest: IntArray | FloatArray,
    sizes: IntArray,
) -> BoolArray:
    """Say which sentences are done after a step. # shape: (sentences,).

    ``longest`` is the length of each one's longest output, its end counted, as far as outputs
    are looked ahead to; ``sizes`` is the number of its constraint tokens.
    """
    done: BoolArray = np.logical_not(beam.live.any(axis=1))
    worst = finished.score[:, -1]  # minus infinity until there are nbest of them
    if settings.stop == "first":
        done |= finished.score[:, 0] > -np.inf
    elif settings.stop == "full":
        done |= worst > -np.inf
    elif settings.stop in ("bound", "likely"):
        done |= ~(best_ever(beam, step, longest, settings.length_penalty) > worst)
    elif settings.stop == "now":
        best = best_now(beam, step, sizes, settings.length_penalty)
        done |= (worst > -np.inf) & ~(best > worst)
    return done


def likely_longest(expected: FloatArray, step: int) -> FloatArray:
    """Return how long outputs may become, if they are as long as expected or half as long again.

    # shape: (sentences,). What is longer already may end with the next token.
    """
    longest: FloatArray = np.maximum(LENGTHS_EXPECTED * expected + _A_FEW, step + 2)
    return longest


def best_ever(beam: Beam, step: int, longest: IntArray | FloatArray, power: float) -> FloatArray:
    """Return the best score that a live hypothesis could still get. # shape: (sentences,).

    What its log-probability will be divided by lies between the length it would have now and
    the longest there is.
    """
    now = best_log_prob(beam, beam.live)
    best: FloatArray = np.maximum(now / float(step + 2) ** power, now / longest**power)
    return best


def best_now(beam: Beam, step: int, sizes: IntArray, power: float) -> FloatArray:
    """Return the best score of what might end, if it did so here. # shape: (sentences,).

    Hypotheses that have phrases to place yet don't count: they look better than they are.
    """
    ready = beam.live
    if beam.states is not None:
        ready = ready & (beam.states.bank.reshape(ready.shape) == sizes[:, None])
    best: FloatArray = best_log_prob(beam, ready) / float(step + 1) ** power
    return best


def best_log_prob(beam: Beam, among: BoolArray) -> FloatArray:
    """Return the best log-probability of some hypotheses, minus infinity where there are none."""
    best: FloatArray = np.where(among, beam.log_prob, -np.inf).max(axis=1)
    return best

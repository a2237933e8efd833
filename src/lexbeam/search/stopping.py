"""When a sentence is done, and which hypotheses are pruned (paper, section 3.3).

Log-probabilities only fall, but a score is a log-probability divided by a power of the length,
and so may rise: whether something unfinished can still win is certain only under ``bound``, which
takes every output to be as long as it may be. ``likely`` takes it to be at most half as long again
as is usual for its source.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, flat_indices
from lexbeam.search.beam import Beam, Finished
from lexbeam.search.settings import Settings

LENGTHS_EXPECTED = 1.5
"""How many times as long as expected an output is taken to be at most."""


SLOTS_PER_LAG = 10.0
"""Where all banks are compared, a hypothesis may lag by one ``lag`` more for so many slots.

Expected costs are estimates, and a wide beam is there to be used.
"""


SPARED_LAGS = 5.0
"""How many times ``lag`` a hypothesis may lag where it is spared: what is even further behind is
lost, whatever is said next."""


class LookAhead(NamedTuple):
    """What a search that looks ahead knows of the hypotheses on its beam."""

    worth: FloatArray
    """Log-probabilities, and what constraints are expected to cost. # shape: as the beam"""
    drafts: IntArray
    """The tokens of each sentence's draft, its end counted; 0: it has none. # shape: (sentences,)
    """
    per_token: FloatArray
    """The mean log-probability of the draft's tokens. # shape: (sentences,)"""
    constrained: BoolArray
    """A mask of the sentences with something to place. # shape: (sentences,)"""
    tied: BoolArray | None = None
    """A mask of the sentences with ties, if there are any. # shape: (sentences,)"""


_MORE_TOKENS = 3
"""Tokens that even the shortest output may have more than that."""


def are_done(
    settings: Settings,
    beam: Beam,
    finished: Finished,
    step: int,
    longest: IntArray | FloatArray,
    sizes: IntArray,
) -> BoolArray:
    """Return a mask of the sentences that are done after a step. # shape: (sentences,).

    ``longest`` is the length of the longest output of each that is considered, its end counted;
    ``sizes`` is the number of its constraint tokens.
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
    longest: FloatArray = np.maximum(LENGTHS_EXPECTED * expected + _MORE_TOKENS, step + 2)
    return longest


def best_ever(beam: Beam, step: int, longest: IntArray | FloatArray, power: float) -> FloatArray:
    """Return the best score that a live hypothesis could still get. # shape: (sentences,).

    Its log-probability will be divided by a length between the one it would have if it ended
    next, and the longest.
    """
    now = best_log_prob(beam, beam.live)
    best: FloatArray = np.maximum(now / float(step + 2) ** power, now / longest**power)
    return best


def best_now(beam: Beam, step: int, sizes: IntArray, power: float) -> FloatArray:
    """Return the best score of a hypothesis that might end, if it did so here.

    # shape: (sentences,). Hypotheses with unmet phrases don't count: they have yet to pay for them.
    """
    ready = beam.live
    if beam.states is not None:
        ready = ready & (beam.states.bank.reshape(ready.shape) == sizes[:, None])
    best: FloatArray = best_log_prob(beam, ready) / float(step + 1) ** power
    return best


def best_log_prob(beam: Beam, among: BoolArray) -> FloatArray:
    """Return the best log-probability of some hypotheses per sentence; minus infinity: none."""
    best: FloatArray = np.where(among, beam.log_prob, -np.inf).max(axis=1)
    return best


_NARROW = 24
"""Up to this beam size it is quicker to compare all hypotheses of a sentence with each other."""


def prune(
    beam: Beam,
    finished: Finished,
    settings: Settings,
    ahead: LookAhead | None = None,
    spared: BoolArray | None = None,
) -> Beam:
    """Drop what is far below the best finished hypothesis, or below the best of its bank.

    Where a draft has shown what constraints cost, those that are still to be paid for count too,
    and all banks are compared. ``spared`` marks the sentences in which only what is very far behind
    others that are unfinished is dropped. # shape: (sentences,)
    """
    ended, live = beam.finished, beam.live
    kept = None
    drafted = ahead is not None and ahead.drafts.any()
    if settings.prune is not None and finished.any:  # paper, section 3.3
        near = _is_near_finished(beam, finished, settings.prune, ahead)
        ended, live = ended & near, live & near
    if spared is not None:
        kept = live & spared[:, None]
        if ahead is not None and settings.lag is not None:
            kept &= _is_near(live, ahead, SPARED_LAGS * settings.lag)
    if settings.lag is not None:
        near = beam.score >= best_of_bank(beam, live, finished.any) - settings.lag
        if ahead is not None and drafted:
            compared = _is_near(live, ahead, _lags(settings, ahead))
            near = np.where(ahead.drafts[:, None] > 0, compared, near)
        live = live & near
    if kept is not None:
        live = live | kept
    return beam if live is beam.live else beam._replace(finished=ended, live=live)


def _is_near_finished(
    beam: Beam, finished: Finished, threshold: float, ahead: LookAhead | None
) -> BoolArray:
    """Return a mask of what is not far below the best that has ended. # shape: as the beam.

    In the paper what has ended counts as it is divided by its length, and everything else as a
    sum. Where there is something to place, sums are compared: otherwise all that is long would be
    dropped as soon as an output has ended.
    """
    near: BoolArray = beam.score >= finished.score[:, :1] - threshold
    if ahead is None:
        return near
    alike = beam.finished | (beam.log_prob >= finished.log_prob[:, :1] - threshold)
    near = np.where(ahead.constrained[:, None], alike, near)
    if ahead.drafts.any():
        may_win = _may_win(beam, finished, ahead)
        near = np.where(ahead.drafts[:, None] > 0, beam.finished | may_win, near)
    return near


def _is_near(live: BoolArray, ahead: LookAhead, lag: float | FloatArray) -> BoolArray:
    """Return a mask of what is worth at most so much less than the best of its sentence."""
    worth = ahead.worth[:, : live.shape[1]]
    best = np.where(live, worth, -np.inf).max(axis=1, keepdims=True)
    near: BoolArray = worth >= best - lag
    return near


def lag_ahead(lag: float, beam_size: int) -> float:
    """Return how far what a draft has priced may lag: further in a wider beam."""
    return lag * (1.0 + beam_size / SLOTS_PER_LAG)


def _lags(settings: Settings, ahead: LookAhead) -> float | FloatArray:
    """Return how far what a draft has priced may lag in each sentence.

    One number, or one per sentence where they differ. # shape: (sentences, 1)
    Where there are ties, it is known when constraints are due, and at other times that is not
    needed.
    """
    assert settings.lag is not None
    lag = lag_ahead(settings.lag, settings.beam_size)
    if ahead.tied is None or not ahead.tied.any():
        return lag
    if ahead.tied.all():
        return settings.lag
    return np.where(ahead.tied, settings.lag, lag)[:, None]


def _may_win(beam: Beam, finished: Finished, ahead: LookAhead) -> BoolArray:
    """Return a mask of what may become better than the outputs that have been found.

    A score is divided by the length, so that an output that has paid much for its constraints
    gets better by running on. Here a further token counts as much as one of the draft has cost:
    for free outputs that comes to the same, and what constraints cost is no reason to be longer.
    # shape: as the beam.
    """
    found = finished.step[:, -1:] + 1
    longer = np.maximum(ahead.drafts[:, None] + _MORE_TOKENS - found, 0)
    gain = ahead.per_token[:, None] * longer
    may_win: BoolArray = beam.log_prob >= finished.log_prob[:, -1:] + gain
    return may_win


def best_of_bank(beam: Beam, live: BoolArray, any_finished: bool) -> FloatArray:
    """Return the score of the best live hypothesis of each one's bank. # shape: as score."""
    if beam.states is None and not any_finished:
        return beam.score[:, :1]  # plain search puts the best first
    score = np.where(live, beam.score, -np.inf)
    if beam.states is None:
        best: FloatArray = score.max(axis=1, keepdims=True)
        return best
    bank = beam.states.bank.reshape(score.shape)
    if score.shape[1] <= _NARROW:
        same = bank[:, :, None] == bank[:, None, :]  # shape: (sentences, beam, beam)
        best = np.where(same, score[:, None, :], -np.inf)
        return np.asarray(best.max(axis=2))
    bank = flat_indices(bank, len(score), int(bank.max()) + 1)
    best = np.full(int(bank.max()) + 1, -np.inf)
    np.maximum.at(best, bank, score)
    return best[bank]

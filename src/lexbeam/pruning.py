"""What is dropped from the beam: hypotheses too far behind to be worth another step."""

from __future__ import annotations

import numpy as np

from lexbeam.beam import Beam, BoolArray, Finished, FloatArray
from lexbeam.settings import Settings
from lexbeam.tables import through

_NARROW = 24
"""The beam up to which it is quicker to compare all hypotheses of a sentence with each other."""


def prune(beam: Beam, finished: Finished, settings: Settings) -> Beam:
    """Drop what is far behind the best finished hypothesis, or the best of its bank."""
    ended, live = beam.finished, beam.live
    if settings.prune is not None and finished.any:  # paper, section 3.3
        near = beam.score >= finished.score[:, :1] - settings.prune
        ended, live = ended & near, live & near
    if settings.lag is not None:
        live = live & (beam.score >= best_of_bank(beam, live, finished.any) - settings.lag)
    return beam if live is beam.live else beam._replace(finished=ended, live=live)


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
    bank = through(bank, len(score), int(bank.max()) + 1)
    best = np.full(int(bank.max()) + 1, -np.inf)
    np.maximum.at(best, bank, score)
    return best[bank]

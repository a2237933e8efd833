"""What is dropped from the beam: hypotheses too far behind to be worth another step."""

from __future__ import annotations

import numpy as np

from lexbeam.beam import Beam, Finished, FloatArray
from lexbeam.scorer import IntArray
from lexbeam.settings import Settings
from lexbeam.tables import through


def prune(beam: Beam, finished: Finished, sizes: IntArray, settings: Settings) -> Beam:
    """Drop what is far behind the best finished hypothesis, or the best of its bank.

    ``sizes`` are the constraint tokens of each sentence.
    """
    if settings.prune is not None and finished.any:  # paper, section 3.3
        near = beam.score >= finished.score[:, :1] - settings.prune
        beam = beam._replace(finished=beam.finished & near, live=beam.live & near)
    if settings.lag is not None:
        near = beam.score >= best_of_bank(beam, finished, sizes) - settings.lag
        beam = beam._replace(live=beam.live & near)
    return beam


def best_of_bank(beam: Beam, finished: Finished, sizes: IntArray) -> FloatArray:
    """Return the score of the best live hypothesis of each one's bank. # shape: as score."""
    if beam.states is None and not finished.any:
        return beam.score[:, :1]  # plain search puts the best first
    score = np.where(beam.live, beam.score, -np.inf)
    if beam.states is None:
        best: FloatArray = score.max(axis=1, keepdims=True)
        return best
    banks = int(sizes.max()) + 1
    bank = through(beam.states.bank.reshape(score.shape), len(score), banks)
    best = np.full(len(score) * banks, -np.inf)
    np.maximum.at(best, bank, score)
    return best[bank]

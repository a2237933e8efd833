"""The learning rate: warm-up, constant, linear decay at the end.

The constant part has no end of its own, so a run can be prolonged at will; the decay, which is
where most of the final gain shows, is decided late and can be repeated from the checkpoint
before it. Early stopping is an early decay.
"""

from __future__ import annotations

from lexbeam.train.checkpoint import Progress
from lexbeam.train.config import ScheduleConfig


def learning_rate(config: ScheduleConfig, progress: Progress) -> float:
    """Return the rate of the step that comes next."""
    rate = config.learning_rate
    if progress.step < config.warmup_steps:
        rate *= (progress.step + 1) / config.warmup_steps
    if progress.decay_start >= 0:
        done = progress.step - progress.decay_start
        rate *= max(0.0, 1 - done / (progress.decay_steps + 1))
    return rate


def begin_decay_if_due(config: ScheduleConfig, progress: Progress) -> bool:
    """Begin the final decay when its share of the budget is all that is left, or at a standstill.

    The steps that fit into the time that is left are reckoned once, here: from then on the run
    counts steps alone and is the same however often it is killed.
    """
    if progress.decay_start >= 0:
        return False
    steps = _decay_steps(config, progress)
    if steps is None:
        return False
    progress.decay_start = progress.step
    progress.decay_steps = max(0, min(steps, config.max_steps - progress.step))
    return True


def _decay_steps(config: ScheduleConfig, progress: Progress) -> int | None:
    """Return how many steps a decay that begins now takes; None if none is due."""
    share = config.decay_share
    budget = config.max_hours * 3600
    if progress.step >= round(config.max_steps * (1 - share)):
        return config.max_steps - progress.step
    if 0 < budget * (1 - share) <= progress.seconds:
        return int((budget - progress.seconds) * progress.step / progress.seconds)
    if 0 < config.patience <= progress.stale:
        return int(progress.step * share / (1 - share))
    return None


def is_done(progress: Progress) -> bool:
    """Tell whether the decay has come to its end."""
    decayed = progress.step - progress.decay_start
    return progress.decay_start >= 0 and decayed >= progress.decay_steps

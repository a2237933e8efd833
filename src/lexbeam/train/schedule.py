"""The learning rate: warm-up, constant, linear decay at the end.

The constant part has no end of its own, so a run can be prolonged at will; the decay, which is
where most of the final gain shows, is decided late and can be repeated from the checkpoint
before it. Early stopping is an early decay.

A decay counts steps, so that a run can be repeated exactly. Where an hour is set instead, at
which it has to be over, it follows the clock.
"""

from __future__ import annotations

from datetime import datetime

from lexbeam.train.checkpoint import Progress
from lexbeam.train.config import ScheduleConfig


def learning_rate(config: ScheduleConfig, progress: Progress, now: float) -> float:
    """Return the rate of the step that comes next; ``now`` is in seconds of the clock."""
    rate = config.learning_rate
    if progress.step < config.warmup_steps:
        rate *= (progress.step + 1) / config.warmup_steps
    if progress.decay_until > 0:
        rate *= _left(progress, now)
    elif progress.decay_start >= 0:
        done = progress.step - progress.decay_start
        rate *= max(0.0, 1 - done / (progress.decay_steps + 1))
    return rate


def begin_decay_if_due(config: ScheduleConfig, progress: Progress, now: float) -> bool:
    """Begin the final decay when its share of the budget is all that is left, or at a standstill.

    The steps that fit into the time that is left are reckoned once, here: from then on the run
    counts steps alone and is the same however often it is killed.
    """
    if progress.decay_start >= 0:
        return False
    if config.end:
        end = datetime.fromisoformat(config.end).timestamp()
        if now < end - config.decay_share * (end - (progress.begun or now)):
            return False
        decay_by_clock(progress, now, end)
        return True
    steps = _decay_steps(config, progress)
    if steps is None:
        return False
    progress.decay_start = progress.step
    progress.decay_steps = max(0, min(steps, config.max_steps - progress.step))
    return True


def decay_by_clock(progress: Progress, now: float, end: float) -> None:
    """Let the rate fall to zero from what it is ``now`` until ``end``, in seconds of the clock."""
    left = 1.0
    if progress.decay_until > 0:
        left = _left(progress, now)
    elif progress.decay_start >= 0:
        left = max(0.0, 1 - (progress.step - progress.decay_start) / (progress.decay_steps + 1))
    else:
        progress.decay_start = progress.step
    progress.decay_until = end
    progress.decay_from = end - max(0.0, end - now) / max(left, 1e-3)


def _left(progress: Progress, now: float) -> float:
    """Return the share of the full rate that a decay by the clock has left."""
    whole = progress.decay_until - progress.decay_from
    return min(1.0, max(0.0, (progress.decay_until - now) / whole)) if whole > 0 else 0.0


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


def is_done(progress: Progress, now: float) -> bool:
    """Tell whether the decay has come to its end."""
    if progress.decay_until > 0:
        return now >= progress.decay_until
    decayed = progress.step - progress.decay_start
    return progress.decay_start >= 0 and decayed >= progress.decay_steps

from __future__ import annotations

from itertools import pairwise

import pytest

pytest.importorskip("torch")

from lexbeam.train.checkpoint import Progress
from lexbeam.train.config import ScheduleConfig
from lexbeam.train.schedule import begin_decay_if_due, is_done, learning_rate

CONFIG = ScheduleConfig(learning_rate=1.0, warmup_steps=10, max_steps=100, decay_share=0.2)


def test_rates_rise_hold_and_fall() -> None:
    progress, rates = Progress(), []
    while not is_done(progress):
        begin_decay_if_due(CONFIG, progress)
        rates.append(learning_rate(CONFIG, progress))
        progress.step += 1
    assert len(rates) == 100
    assert rates[:10] == pytest.approx([0.1 * i for i in range(1, 11)])
    assert set(rates[10:80]) == {1.0}
    falls = [a - b for a, b in pairwise(rates[80:])]
    assert falls == pytest.approx([1 / 21] * 19)
    assert rates[-1] > 0


def test_the_time_budget_becomes_steps() -> None:
    config = ScheduleConfig(max_hours=1.0, decay_share=0.25)
    progress = Progress(step=300, seconds=2699.0)
    assert not begin_decay_if_due(config, progress)
    progress = Progress(step=300, seconds=2700.0)
    assert begin_decay_if_due(config, progress)
    assert (progress.decay_start, progress.decay_steps) == (300, 100)
    assert not begin_decay_if_due(config, progress)


def test_a_standstill_begins_the_decay() -> None:
    config = ScheduleConfig(patience=3, decay_share=0.2)
    assert not begin_decay_if_due(config, Progress(step=400, stale=2))
    progress = Progress(step=400, stale=3)
    assert begin_decay_if_due(config, progress)
    assert progress.decay_steps == 100

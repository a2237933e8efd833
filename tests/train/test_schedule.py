from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest

pytest.importorskip("torch")

from lexbeam.train.checkpoint import Progress
from lexbeam.train.config import ScheduleConfig
from lexbeam.train.schedule import (
    begin_decay_if_due,
    decay_by_clock,
    is_done,
    learning_rate,
)

CONFIG = ScheduleConfig(learning_rate=1.0, warmup_steps=10, max_steps=100, decay_share=0.2)
NOW = 1e9


def test_rates_rise_hold_and_fall() -> None:
    progress, rates = Progress(), []
    while not is_done(progress, NOW):
        begin_decay_if_due(CONFIG, progress, NOW)
        rates.append(learning_rate(CONFIG, progress, NOW))
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
    assert not begin_decay_if_due(config, progress, NOW)
    progress = Progress(step=300, seconds=2700.0)
    assert begin_decay_if_due(config, progress, NOW)
    assert (progress.decay_start, progress.decay_steps) == (300, 100)
    assert not begin_decay_if_due(config, progress, NOW)


def test_a_standstill_begins_the_decay() -> None:
    config = ScheduleConfig(patience=3, decay_share=0.2)
    assert not begin_decay_if_due(config, Progress(step=400, stale=2), NOW)
    progress = Progress(step=400, stale=3)
    assert begin_decay_if_due(config, progress, NOW)
    assert progress.decay_steps == 100


def test_a_decay_that_has_an_hour_follows_the_clock() -> None:
    end = datetime.fromtimestamp(NOW + 1000).isoformat()
    config = ScheduleConfig(learning_rate=1.0, warmup_steps=1, end=end, decay_share=0.5)
    progress = Progress(step=5, begun=NOW - 1000)
    assert not begin_decay_if_due(config, progress, NOW - 1)
    assert learning_rate(config, progress, NOW - 1) == 1.0
    assert begin_decay_if_due(config, progress, NOW)
    rates = [learning_rate(config, progress, NOW + t) for t in (0, 250, 750, 1000, 2000)]
    assert rates == pytest.approx([1.0, 0.75, 0.25, 0.0, 0.0])
    assert not is_done(progress, NOW + 999)
    assert is_done(progress, NOW + 1000)


def test_a_decay_can_be_hastened_without_a_jump() -> None:
    config = ScheduleConfig(learning_rate=1.0, warmup_steps=1)
    progress = Progress(step=5)
    decay_by_clock(progress, NOW, NOW + 1000)
    decay_by_clock(progress, NOW + 400, NOW + 500)
    rates = [learning_rate(config, progress, NOW + t) for t in (400, 450, 500)]
    assert rates == pytest.approx([0.6, 0.3, 0.0])
    assert progress.decay_start == 5
    assert is_done(progress, NOW + 500)


def test_a_decay_by_steps_can_be_hastened_too() -> None:
    config = ScheduleConfig(learning_rate=1.0, warmup_steps=1)
    progress = Progress(step=15, decay_start=10, decay_steps=9)
    decay_by_clock(progress, NOW, NOW + 100)
    assert learning_rate(config, progress, NOW) == pytest.approx(0.5)
    assert learning_rate(config, progress, NOW + 50) == pytest.approx(0.25)

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.toy_study import REFERENCES, make_experiment
from lexbeam.errors import InputError
from lexbeam.models.model import Model
from lexbeam.search import feasibility
from lexbeam.study.cells import ForcedReferences, Setting, Timed, Translated, choose_evenly


def test_a_cell_is_measured_once(toy_model: Model, tmp_path: Path) -> None:
    experiment = make_experiment(toy_model, tmp_path)
    cell = Translated("rand2", Setting(beam_size=3))
    first = experiment.result(cell)
    assert first["asked"] == first["met"] == 2 * len(REFERENCES)
    assert first["missed"] == []
    assert len(first["scores"]) == len(REFERENCES)
    again = make_experiment(toy_model, tmp_path)
    assert again.result(cell) == first
    assert again.counter.rows == 0
    other = make_experiment(toy_model, tmp_path, engine="other")
    assert other.result(cell) == first
    assert len(list((tmp_path / "cells").iterdir())) == 2


def test_some_sentences_may_do(toy_model: Model, tmp_path: Path) -> None:
    experiment = make_experiment(toy_model, tmp_path)
    whole = experiment.result(Translated("rand2", Setting(beam_size=3)))
    part = experiment.result(Translated("rand2", Setting(beam_size=3), sentences=2))
    assert part["texts"] == whole["texts"][::2]
    assert part["asked"] == 4


def test_work_is_counted(toy_model: Model, tmp_path: Path) -> None:
    experiment = make_experiment(toy_model, tmp_path)
    narrow, wide = (experiment.result(Timed("rand1", Setting(beam_size=k), 3)) for k in (1, 4))
    assert narrow["sentences"] == 3
    assert narrow["rows"] == narrow["steps"]
    assert narrow["rows"] < wide["rows"] < 4 * wide["steps"]
    assert wide["tokens"] >= 1
    assert wide["seconds"] > 0


def test_more_sets_than_can_be_are_no_end_of_a_study(
    toy_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feasibility, "MOST_SETS", 1)
    experiment = make_experiment(toy_model, tmp_path)
    setting = Setting("cbs", beam_size=1)
    for cell in (Translated("rand1", setting), Timed("rand1", setting, 2)):
        assert "cbs would need" in experiment.result(cell)["refused"]


def test_other_refusals_are(toy_model: Model, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown stop"):
        make_experiment(toy_model, tmp_path).result(Translated("none", Setting(stop="never")))


def test_references_are_scored_as_the_search_scores(toy_model: Model, tmp_path: Path) -> None:
    experiment = make_experiment(toy_model, tmp_path)
    experiment.text.references[0] = experiment.text.sources[0]  # what this model says by itself
    free = experiment.result(Translated("none", Setting("beam", 3)))
    forced = experiment.result(ForcedReferences())["scores"]
    assert free["texts"][0] == experiment.text.sources[0]
    assert forced[0] == pytest.approx(free["scores"][0], abs=1e-5)
    assert all(score < best for score, best in zip(forced[1:], free["scores"][1:], strict=True))


def test_progress_goes_from_nothing_to_all(toy_model: Model, tmp_path: Path) -> None:
    told: list[tuple[str, float, float]] = []
    experiment = make_experiment(toy_model, tmp_path)
    cells = [Translated(name, Setting(beam_size=2)) for name in ("none", "rand1")]
    experiment.measure([*cells, *cells], lambda *now: told.append(now))
    assert told[0][0] == "none-dba-k2"
    done = [done for _, done, _ in told]
    assert done[0] == 0
    assert done == sorted(done)
    assert done[-1] == told[-1][2]


def test_the_name_of_a_setting_leaves_out_what_is_usual() -> None:
    assert Setting().name == "dba-k10"
    assert Setting("gbs", 5, 0.0, "first", 3.0).name == "gbs-k5-prune-0-stop-first-lag-3"


def test_sentences_are_spread_over_the_text() -> None:
    assert choose_evenly(10, 5) == [0, 2, 4, 6, 8]
    assert choose_evenly(3, 5) == [0, 1, 2]

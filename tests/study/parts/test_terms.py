from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.toy_study import SOURCES, make_experiment, make_plan
from lexbeam.errors import SettingError
from lexbeam.models.model import Model
from lexbeam.study import run
from lexbeam.study.parts.terms import Terms
from lexbeam.study.pipeline import measure_and_report


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    path = tmp_path / "terms.tsv"
    rows = [(0, 4, "cat", "near", "cat"), (1, 4, "Haus", "alte", "Haus"), (9, 0, "x", "y", "z")]
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def test_terms_are_a_part_of_a_study(toy_model: Model, tmp_path: Path, terms: Path) -> None:
    experiment, plan = make_experiment(toy_model, tmp_path), make_plan(terms=terms)
    page = measure_and_report(experiment, plan, [Terms()], tmp_path, lambda *_: None)
    rows = json.loads((tmp_path / "tables" / "terms.json").read_text(encoding="utf-8"))["rows"]
    assert [row[""] for row in rows] == ["free", "terms, ties off", "tied terms"]
    assert [row["met"] for row in rows] == [0, 2, 2]
    assert "Terms that compete" in page.read_text(encoding="utf-8")
    times = json.loads((tmp_path / "times" / "terms-times.json").read_text(encoding="utf-8"))
    assert [row["sentences"] for row in times["rows"]] == [2, 2, 2]
    for cell in Terms().cells(plan):
        assert len(experiment.result(cell)["scores"]) == 2


def test_without_a_file_there_is_no_such_part(tmp_path: Path) -> None:
    assert Terms().cells(make_plan()) == []
    text = tmp_path / "text"
    text.write_text("\n".join(SOURCES), encoding="utf-8")
    with pytest.raises(SettingError, match="the part terms needs a file of terms"):
        run(None, text, text, tmp_path / "out", only=["terms"])

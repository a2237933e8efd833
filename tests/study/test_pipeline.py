from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers.toy_study import make_experiment, make_plan
from lexbeam.errors import InputError, SettingError
from lexbeam.models.model import Model
from lexbeam.study.experiment import Experiment
from lexbeam.study.pipeline import PARTS, choose_parts, measure_and_report
from lexbeam.study.report import writing


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing: figures take most of the time and are looked at elsewhere."""
    monkeypatch.setattr(writing, "render", lambda _: {"svg": b"<svg/>", "png": b""})


def study(model: Model, out: Path, only: list[str] | None = None, **changes: Any) -> list[str]:
    """Conduct a study; return what had to be measured."""
    measured: list[str] = []
    experiment = make_experiment(model, out)
    measure_and_report(
        experiment,
        make_plan(**changes),
        choose_parts(only),
        out,
        lambda name, *_: measured.append(name),
    )
    return list(dict.fromkeys(measured))


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a report that is promised to come out alike."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path.relative_to(folder).parts[0].split(".")[0] not in ("cells", "times")
    }


def test_a_whole_study_comes_out_alike_twice(toy_model: Model, tmp_path: Path) -> None:
    for name in ("one", "two"):
        study(toy_model, tmp_path / name, beams=(2,))
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert one == two
    written = one["report.md"].decode()
    for name in PARTS.keys() - {"terms"}:  # for which a file is needed
        assert f'id="{name}"'.encode() in one["report.html"]
    assert "**100.00 %**" in written
    assert "BLEU|nrefs:1|" in written
    for kind in ("png", "svg"):
        names = {
            "sets",
            "beam-dba",
            "speed",
            "prune",
            "placement",
            "aversion",
            "garbage",
        }
        assert {f"figures/{name}.{kind}" for name in names} <= one.keys()
    assert {"tables/oracle.json", "tables/dictionaries.md", "tables/stop-bleu.json"} <= one.keys()
    assert "seconds" not in written.replace("Seconds", "")
    assert (tmp_path / "one" / "times.html").is_file()


def test_the_page_needs_nothing_else(toy_model: Model, tmp_path: Path) -> None:
    study(toy_model, tmp_path, ["sets", "placement"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("data:image/svg+xml;base64,") == 2


@pytest.mark.usefixtures("without_figures")
def test_a_killed_study_goes_on(toy_model: Model, tmp_path: Path) -> None:
    names = study(toy_model, tmp_path / "whole", ["beam"])

    def kill(name: str, *_: object) -> None:
        if name == names[3]:
            raise KeyboardInterrupt

    out = tmp_path / "killed"
    experiment = make_experiment(toy_model, out)
    with pytest.raises(KeyboardInterrupt):
        measure_and_report(experiment, make_plan(), choose_parts(["beam"]), out, kill)
    assert not (out / "report.md").exists()
    assert study(toy_model, out, ["beam"]) == names[3:]
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.usefixtures("without_figures")
def test_nothing_is_measured_twice_and_all_that_changed_is(
    toy_model: Model, tmp_path: Path
) -> None:
    assert study(toy_model, tmp_path, ["beam"])
    assert study(toy_model, tmp_path, ["beam"]) == []
    assert study(toy_model, tmp_path, ["placement"]) == []  # rests on the same cells
    assert all("k4" in name for name in study(toy_model, tmp_path, ["beam"], beams=(2, 4)))
    assert len(study(toy_model, tmp_path, ["beam"], lag=1.0)) == 8


@pytest.mark.usefixtures("without_figures")
def test_parts_measured_before_stay_in_the_report(toy_model: Model, tmp_path: Path) -> None:
    study(toy_model, tmp_path, ["prune"])
    study(toy_model, tmp_path, ["aversion"])
    written = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "## Pruning" in written
    assert "## Reference aversion" in written
    assert "## Garbage" not in written


@pytest.mark.usefixtures("without_figures")
def test_unmet_constraints_are_listed(
    toy_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate = Experiment.translate

    def forget(self: Experiment, phrases: Any, *more: Any) -> Any:
        return translate(self, [[] for _ in phrases], *more)

    monkeypatch.setattr(Experiment, "translate", forget)
    study(toy_model, tmp_path, ["aversion"])
    written = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "**100.00 %**" not in written
    assert "Sentences that lack a constraint" in written


@pytest.mark.usefixtures("without_figures")
def test_algorithms_are_compared(toy_model: Model, tmp_path: Path) -> None:
    study(toy_model, tmp_path, ["beam"], algorithms=("dba", "cbs"), beams=(1, 2))
    for what in ("bleu", "score", "work", "p"):
        rows = json.loads((tmp_path / "tables" / f"algorithms-{what}.json").read_text())["rows"]
        assert {row["set"] for row in rows} >= {"rand1", "rand2", "phr3"}
        assert all(row["cbs k=2"] is not None for row in rows)
    assert all(0 <= row["cbs k=1"] <= 1 for row in rows)


def test_parts_are_chosen_by_name() -> None:
    assert [part.name for part in choose_parts(["stop", "sets"])] == ["sets", "stop"]
    assert len(choose_parts(None)) == len(PARTS)
    with pytest.raises(SettingError, match=r"unknown part 'bean'.*beam"):
        choose_parts(["bean"])


def test_a_plan_takes_known_algorithms_only() -> None:
    with pytest.raises(SettingError, match="unknown algorithm 'best'"):
        make_plan(algorithms=("best",))
    with pytest.raises(SettingError, match="at least one"):
        make_plan(beams=())
    with pytest.raises(InputError, match="unknown constraint set"):
        make_plan(sets=("some",))

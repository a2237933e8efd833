from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lexbeam import study
from lexbeam.cli.main import main
from lexbeam.errors import MissingExtraError, SettingError


@pytest.fixture
def text(tmp_path: Path) -> list[str]:
    """Two sentences for the model that comes along, as options of the command."""
    (tmp_path / "src").write_text("Open the file.\nThe house is old.\n", encoding="utf-8")
    (tmp_path / "ref").write_text("Öffnen Sie die Datei.\nDas Haus ist alt.\n", encoding="utf-8")
    return ["--src", str(tmp_path / "src"), "--ref", str(tmp_path / "ref")]


def test_the_command_writes_a_report(text: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["study", *text, "--out", str(out), "--only", "sets,placement", "--limit", "2"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(out / "report.html")
    assert "phr3-dba-k10" in result.stderr
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "en→de" in report
    assert "**100.00 %**" in report
    assert str(tmp_path) not in report


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--only", "everything"], "unknown part 'everything'"),
        (["--algorithms", "best"], "unknown algorithm 'best'"),
        (["--algorithms", "dba,x"], "unknown algorithm 'x'"),
        (["--sets", "few4"], "few4"),
        (["--beams", "0"], "beams must be at least 1"),
        (["--skip", "beams"], "unknown part 'beams'"),
    ],
)
def test_mistakes_are_one_line(text: list[str], tmp_path: Path, more: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["study", *text, "--out", str(tmp_path / "out"), *more])
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_sets_and_beams_can_be_chosen(text: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    chosen = ["--sets", "none,rand1", "--beams", "2,3", "--skip", "oracle,speed", "--only", "beam"]
    result = CliRunner().invoke(main, ["study", *text, "--out", str(out), *chosen])
    assert result.exit_code == 0, result.output
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "k=2" in report
    assert "k=3" in report
    assert "k=10" not in report
    assert "rand2" not in report
    assert "too few for conclusions" in report


def test_unknown_settings_are_refused(text: list[str], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="unknown setting beam"):
        study.run(None, text[1], text[3], tmp_path / "out", beam=3)


def test_without_the_extra_it_is_named(
    text: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(name: str) -> Any:
        return None if name == "sacrebleu" else importlib.util.find_spec(name)

    monkeypatch.setattr(study, "find_spec", find)
    with pytest.raises(MissingExtraError, match=r"lexbeam\[study\]"):
        study.run(None, text[1], text[3], tmp_path / "out")

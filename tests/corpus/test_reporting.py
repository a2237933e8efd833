from __future__ import annotations

from pathlib import Path

import pytest

from corpus.toy_corpus import translate, write_lines
from lexbeam.corpus.reporting import read_reports
from lexbeam.translation.asked import Asked
from lexbeam.translation.settings import TextSettings

pytestmark = pytest.mark.usefixtures("toy_model")


def test_the_reports_on_all_parts_are_one(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", ["the cat", "the house", "the dog"])
    asked = Asked(constraints=("gato",), settings=TextSettings(prices=True))
    out = tmp_path / "out"
    translate([source], out, asked=asked, shard_rows=2, report=True)
    parts = ["part-00000.txt", "part-00001.txt"]
    rows, summary = read_reports(out, parts)
    assert sorted((row.file, row.place, row.form) for row in rows) == [
        ("in.txt", "1", "gato"),
        ("in.txt", "2", "gato"),
        ("in.txt", "3", "gato"),
    ]
    assert all(row.cost is not None for row in rows)
    assert (summary.texts, summary.files, summary.errors) == (3, 1, [])
    assert [row.place for row in read_reports(out, parts[1:])[0]] == ["3"]


def test_without_being_asked_there_is_no_report(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.txt", ["the cat"])
    translate([source], tmp_path / "out")
    assert not (tmp_path / "out" / "reports").exists()
    assert read_reports(tmp_path / "out", ["part-00000.txt"])[0] == []

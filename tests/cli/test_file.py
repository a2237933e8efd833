from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from files.samples import PO, SAMPLES
from lexbeam.cli.main import main


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.po"
    path.write_text(PO)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["file", *map(str, arguments)])


def test_a_file_is_translated_with_the_terms_of_a_glossary(source: Path, tmp_path: Path) -> None:
    terms, out = tmp_path / "terms.csv", tmp_path / "out.po"
    terms.write_text("source,target\nOpen,Aufmachen\n")
    result = run(source, "-o", out, "--glossary", terms, "-k", 3)
    assert result.exit_code == 0, result.output
    assert not result.output
    assert "Aufmachen" in out.read_text()


def test_several_files_go_to_a_folder(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "strings.json"
    other.write_bytes(SAMPLES["sample.json"])
    result = run(source, other, "-O", tmp_path / "de", "-k", 1)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "de").iterdir()) == ["in.po", "strings.json"]


def test_a_file_that_can_not_be_read_does_not_stop_the_others(source: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.xlf"
    bad.write_text('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
    result = run(bad, source, "-O", tmp_path / "de", "-k", 1)
    assert result.exit_code == 1
    assert result.stderr == f"lexbeam: {bad}: entities are not allowed in a file\n"
    assert [path.name for path in (tmp_path / "de").iterdir()] == ["in.po"]


def test_a_unit_that_fails_is_named(source: Path, tmp_path: Path) -> None:
    result = run(
        source, "-o", tmp_path / "out.po", "-k", 1, "--max-length", 2, "-c", "ein zwei drei"
    )
    assert result.exit_code == 1
    assert result.stderr.startswith(f"lexbeam: {source}: line 8: 'Delete %s from %d files?': ")
    assert (tmp_path / "out.po").exists()


def test_a_dry_run_counts(source: Path) -> None:
    result = run(source, "--dry-run")
    assert result.output == f"{source}\tpo\t7 units\t5 open\t27 words\n"
    assert run(source.with_name("absent.po"), "--dry-run").exit_code == 1


@pytest.mark.parametrize("options", [[], ["-o", "x", "-O", "y"], ["in.po", "-o", "x"]])
def test_it_must_be_clear_where_to_write(options: list[str], source: Path) -> None:
    assert run(source, *options).exit_code == 2


def test_settings_of_translate_are_taken(source: Path, tmp_path: Path) -> None:
    result = run(source, "-o", tmp_path / "out.po", "--avoid", "Öffnen", "-k", 2)
    assert result.exit_code == 0, result.output
    assert '"Öffnen"' not in (tmp_path / "out.po").read_text()

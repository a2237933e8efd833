from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexbeam.cli.main import main


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    path = tmp_path / "terms.csv"
    path.write_text("house,Haus\nfactory,Fabrik\n", encoding="utf-8")
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["glossary", *map(str, arguments)])


def test_a_clean_glossary(terms: Path) -> None:
    result = run("check", terms)
    assert result.exit_code == 0
    assert result.output == f"{terms}: 2 entries; nothing wrong\n"


def test_what_is_wrong_is_shown(terms: Path) -> None:
    terms.write_text("house,Haus\nhouse,Gebäude\ncat\n", encoding="utf-8")
    result = run("check", terms)
    assert result.exit_code == 1
    clash = '"house" is also in line 1 as "Haus", here as "Gebäude": any of them will do'
    assert result.output.splitlines() == [
        f"{terms}:2: warning: {clash}",
        f'{terms}:3: error: "cat" has no target term',
        f"{terms}: 2 entries; 1 error, 1 warning",
    ]


def test_notes_do_not_fail(terms: Path) -> None:
    terms.write_text("house,Haus\nhouse,Haus\n", encoding="utf-8")
    result = run("check", terms)
    assert result.exit_code == 0
    assert "1 note" in result.output


def test_a_file_that_cannot_be_used_is_a_problem(terms: Path, tmp_path: Path) -> None:
    terms.write_bytes("size,Größe\n".encode("cp1252"))
    result = run("check", terms, tmp_path / "missing.tbx")
    assert result.exit_code == 1
    assert f"{terms}: error: line 1 is not utf-8: byte 0xf6" in result.output
    assert "missing.tbx: error: can't be read: No such file" in result.output
    assert run("check", terms, "--encoding", "cp1252").exit_code == 0


def test_as_json(terms: Path) -> None:
    terms.write_text("house,Haus\ncat\n", encoding="utf-8")
    (record,) = map(json.loads, run("check", "--json", terms).output.splitlines())
    assert record == {
        "level": "error",
        "file": str(terms),
        "line": 2,
        "message": '"cat" has no target term',
    }


def test_a_long_list_of_notes_is_cut(terms: Path) -> None:
    terms.write_text("house,Haus\n" * 30, encoding="utf-8")
    *notes, hidden, summary = run("check", terms).output.splitlines()
    assert len(notes) == 20
    assert {note.split(": ")[1] for note in notes} == {"note"}
    assert hidden == "… and 9 more notes (--all shows them)"
    assert summary.endswith("30 entries; 29 notes")
    *notes, summary = run("check", "--all", terms).output.splitlines()
    assert len(notes) == 29
    assert not any("more notes" in note for note in notes)


def test_a_list_of_notes_that_fits_is_not_cut(terms: Path) -> None:
    terms.write_text("house,Haus\n" * 21, encoding="utf-8")
    assert "more notes" not in run("check", terms).output
    terms.write_text("house,Haus\n" * 22, encoding="utf-8")
    assert "… and 1 more notes" in run("check", terms).output


def test_what_is_wrong_is_shown_behind_any_number_of_notes(terms: Path) -> None:
    terms.write_text("house,Haus\n" * 30 + "cat\n", encoding="utf-8")
    assert '31: error: "cat" has no target term' in run("check", terms).output


def test_languages_are_compared_in_all_directions(terms: Path) -> None:
    terms.write_text("en,de\nhouse,Haus\nbuilding,Haus\n", encoding="utf-8")
    assert '"Haus" is also in line 2 as "house", here as "building"' in run("check", terms).output
    assert run("check", terms, "--source", "en", "--target", "de").exit_code == 0
    missing = run("check", terms, "--source", "fr", "--target", "de")
    assert missing.exit_code == 1
    assert "has no terms in fr" in missing.output


def test_many_languages_are_compared_when_asked(terms: Path) -> None:
    terms.write_text("en,de,fr,it,es\na,b,c,d,e\na,x,c,d,e\n", encoding="utf-8")
    result = run("check", terms)
    assert "name --source and --target" in result.output
    assert "warning" not in result.output
    assert "warning" in run("check", terms, "--source", "en", "--target", "de").output


def test_find(terms: Path) -> None:
    result = run("find", terms, "The Factory and the house.")
    assert result.output.splitlines() == [
        f"Factory → Fabrik  [{terms}:2]",
        f"house → Haus  [{terms}:1]",
    ]
    assert run("find", terms, "Nothing.").output == "no terms found\n"


def test_find_asks_for_languages_as_the_command_line_takes_them(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("en,de\ncat,Katze\n", encoding="utf-8")
    result = run("find", str(path), "The cat.")
    assert result.exit_code == 2
    assert "has terms in de, en" in result.stderr
    assert "--source de --target en" in result.stderr
    named = run("find", str(path), "The cat.", "--source", "en", "--target", "de")
    assert "cat → Katze" in named.stdout


def test_find_shows_what_is_forbidden(terms: Path) -> None:
    terms.write_text("source,target,target forbidden\nhouse,,Bude\n", encoding="utf-8")
    assert run("find", terms, "house").output == f"house → – (not Bude)  [{terms}:2]\n"

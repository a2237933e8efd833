from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from files.fake import FakeTranslator, louder
from files.samples import PO, SAMPLES, TMX
from lexbeam import files
from lexbeam.errors import InputError, SettingError
from lexbeam.translation.translator import load

MANY = PO + "".join(
    f'\nmsgid "Click the button number {i} to open <b>file {i}</b> of %s."\nmsgstr ""\n'
    for i in range(600)
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.po"
    path.write_text(PO)
    return path


def test_a_file_can_be_translated_in_place(source: Path) -> None:
    report = files.translate(source, source, FakeTranslator())
    assert (report.units, report.open, report.translated) == (7, 5, 5)
    assert 'msgstr "OPEN"' in source.read_text()
    assert [path.name for path in source.parent.iterdir()] == ["in.po"]


def test_nothing_to_do_leaves_the_file_alone(source: Path, tmp_path: Path) -> None:
    files.translate(source, source, FakeTranslator())
    status = source.stat()
    files.translate(source, source, FakeTranslator())
    assert source.stat().st_mtime_ns == status.st_mtime_ns
    assert source.stat().st_ino == status.st_ino
    out = tmp_path / "out.po"
    files.translate(source, out, FakeTranslator())
    assert out.read_bytes() == source.read_bytes()


def test_the_output_has_the_permissions_of_the_input(source: Path, tmp_path: Path) -> None:
    source.chmod(0o640)
    files.translate(source, tmp_path / "out.po", FakeTranslator())
    assert (tmp_path / "out.po").stat().st_mode & 0o777 == 0o640


def test_a_unit_that_fails_stays_open_and_is_reported(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.po"
    report = files.translate(source, out, FakeTranslator(refused="Open"))
    assert [(each.id, each.reason) for each in report.failures] == [
        ("line 13: 'Open' (menu|File)", "can't be translated")
    ]
    assert report.translated == 4
    assert 'msgid "Open"\nmsgstr ""\n' in out.read_text()


def test_equal_texts_are_translated_once(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": "Same text {x}", "b": "Same text {y}", "c": "Same text {z}"}')
    translator = FakeTranslator()
    files.translate(path, path, translator)
    assert translator.texts == ["Same text ID1"]
    assert path.read_text() == '{"a": "SAME TEXT {x}", "b": "SAME TEXT {y}", "c": "SAME TEXT {z}"}'


def test_a_memory_is_asked_first(source: Path, tmp_path: Path) -> None:
    memory = tmp_path / "m.tmx"
    memory.write_text(
        TMX.replace("Good morning", "Delete %s from %d files?").replace(
            "Guten Morgen", "%s aus %d Dateien löschen?"
        )
    )
    translator = FakeTranslator()
    files.translate(source, source, translator, memory=[memory])
    assert 'msgstr "%s aus %d Dateien löschen?"' in source.read_text()
    assert not any("Delete" in text for text in translator.texts)
    memory.write_text("no TMX")
    with pytest.raises(InputError, match=r"m\.tmx: not well-formed"):
        files.translate(source, source, translator, memory=[memory])
    with pytest.raises(InputError, match=r"can't read .*absent"):
        files.translate(source, source, translator, memory=[tmp_path / "absent.tmx"])


def test_progress_counts_words(source: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    files.translate(
        source, tmp_path / "out.po", FakeTranslator(), progress=lambda *each: seen.append(each)
    )
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1] > 20


def test_a_journal_of_another_model_or_setting_is_not_used(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.po"

    class StoppedError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == total:
            raise StoppedError

    choices: list[dict[str, Any]] = [{}, {"beam_size": 3}, {"avoid": ["x"]}]
    for options in choices:
        with pytest.raises(StoppedError):
            files.translate(source, out, FakeTranslator(), progress=stop, **options)
    assert (tmp_path / ".out.po.lexbeam").exists()
    same, other = FakeTranslator(), FakeTranslator(target="nl")
    other.info["network"] = "another"
    files.translate(source, tmp_path / "x.po", FakeTranslator())
    text = source.read_text().replace("Language: de", "Language: nl")
    (tmp_path / "nl.po").write_text(text)
    files.translate(tmp_path / "nl.po", out, other)
    assert len(other.texts) == 6
    assert not (tmp_path / ".out.po.lexbeam").exists()
    with pytest.raises(StoppedError):
        files.translate(source, out, FakeTranslator(), progress=stop)
    with (tmp_path / ".out.po.lexbeam").open("a") as journal:
        journal.write('["torn", ["li')
    files.translate(source, out, same)
    assert same.texts == []
    assert out.read_bytes() == (tmp_path / "x.po").read_bytes()


def test_what_can_not_be_used_is_one_error(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.po: can't read the file: No such file"):
        files.translate(tmp_path / "absent.po", tmp_path / "x.po", FakeTranslator())
    with pytest.raises(InputError, match="can't write"):
        files.translate(source, tmp_path / "no" / "folder.po", FakeTranslator())
    with pytest.raises(InputError, match="can't read the file"):
        files.translate(tmp_path, tmp_path / "x.po", FakeTranslator(), format="po")
    with pytest.raises(SettingError, match="only must be one of"):
        files.translate(source, source, FakeTranslator(), only="some")


def test_units_can_be_looked_at(source: Path) -> None:
    found = files.units(source)
    assert [unit.state for unit in found] == [
        "untranslated", "untranslated", "untranslated", "fuzzy", "untranslated", "translated",
        "untranslated",
    ]  # fmt: skip
    assert found[1].context == "menu|File"
    assert found[1].note == "extracted note"
    assert found[3].target == "Alter Text %(x)s"
    assert found[2].source == "One %d file\n%d files"


def test_a_job_that_is_killed_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    source, whole, out = tmp_path / "in.po", tmp_path / "whole.po", tmp_path / "out.po"
    source.write_text(MANY)
    files.translate(source, whole, load(), beam_size=1)
    program = (
        "import sys, lexbeam\nfrom lexbeam import files\n"
        f"files.translate({str(source)!r}, {str(out)!r}, lexbeam.load(), beam_size=1)\n"
    )
    journal = tmp_path / ".out.po.lexbeam"
    process = subprocess.Popen([sys.executable, "-c", program], env=os.environ)
    for _ in range(1200):
        if journal.exists() and journal.stat().st_size > 1000:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    assert journal.stat().st_size > 1000
    files.translate(source, out, load(), beam_size=1)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.po", "out.po", "whole.po"]


def test_louder_leaves_masks_alone() -> None:
    assert louder("Click ID1 [2] %3") == "CLICK ID1 [2] %3"


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_embedded_model_translates_every_sample(name: str, tmp_path: Path) -> None:
    source = tmp_path / name
    source.write_bytes(SAMPLES[name])
    report = files.translate(source, tmp_path / f"out-{name}", load(), beam_size=2)
    assert not report.failures
    assert report.translated == report.open

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import polib
import pytest
from translate.storage import po as toolkit

from files.fake import FakeTranslator
from files.samples import PO, SAMPLES
from lexbeam import files
from lexbeam.errors import InputError


def translated(tmp_path: Path, text: str | bytes, target: str = "de", **options: object) -> bytes:
    source, out = tmp_path / "in.po", tmp_path / "out.po"
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    files.translate(source, out, FakeTranslator(target=target), **options)  # type: ignore[arg-type]
    return out.read_bytes()


@pytest.mark.parametrize("name", ["sample.po", "crlf.po", "template.pot", "headless.po"])
def test_other_readers_find_the_same_units(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.po"
    out.write_bytes(translated(tmp_path, SAMPLES[name]))
    before = {e.msgid: e for e in polib.pofile(SAMPLES[name].decode())}
    after = {e.msgid: e for e in polib.pofile(str(out))}
    assert list(before) == list(after)
    store = toolkit.pofile.parsefile(str(out))
    assert {str(unit.source) for unit in store.units if unit.source} >= {
        entry.msgid for entry in after.values() if not entry.obsolete
    }
    for entry in after.values():
        if not entry.obsolete:
            assert entry.msgstr or all(entry.msgstr_plural.values())
            assert entry.occurrences == before[entry.msgid].occurrences
            assert entry.msgctxt == before[entry.msgid].msgctxt
    if shutil.which("msgfmt"):
        subprocess.run(["msgfmt", "-c", "-o", "/dev/null", out], check=True, capture_output=True)


def test_only_what_was_open_is_changed(tmp_path: Path) -> None:
    before, after = PO.splitlines(), translated(tmp_path, PO).decode().splitlines()
    kept = [line for line in before if line not in ('msgstr ""', 'msgstr[0] ""', 'msgstr[1] ""')]
    rest = iter(after)
    for line in kept:
        if not line.startswith("#,"):
            assert line in rest, line  # in this order


def test_translations_are_fuzzy_unless_they_are_final(tmp_path: Path) -> None:
    out = tmp_path / "x.po"
    out.write_bytes(translated(tmp_path, PO))
    entries = {entry.msgid: entry for entry in polib.pofile(str(out))}
    assert entries["Open"].fuzzy
    assert entries["Delete %s from %d files?"].flags == ["fuzzy", "c-format"]
    assert entries["New text %(x)s"].msgstr == "Alter Text %(x)s"
    assert not entries["Done"].fuzzy
    out.write_bytes(translated(tmp_path, PO, final=True))
    assert not {e.msgid: e for e in polib.pofile(str(out))}["Open"].fuzzy


def test_fuzzy_ones_are_translated_on_request(tmp_path: Path) -> None:
    out = tmp_path / "x.po"
    out.write_bytes(translated(tmp_path, PO, only="fuzzy"))
    entries = {entry.msgid: entry for entry in polib.pofile(str(out))}
    assert entries["New text %(x)s"].msgstr == "NEW TEXT %(x)s"
    assert entries["New text %(x)s"].fuzzy
    assert entries["Open"].msgstr == ""
    out.write_bytes(translated(tmp_path, PO, only="fuzzy", final=True))
    assert "#, python-format" in out.read_text()


@pytest.mark.parametrize(("language", "forms"), [("ja", 1), ("de", 2), ("ru", 3), ("ar", 6)])
def test_plural_forms_are_those_of_the_language(language: str, forms: int, tmp_path: Path) -> None:
    out = tmp_path / "x.po"
    out.write_bytes(translated(tmp_path, SAMPLES["template.pot"], language))
    catalogue = polib.pofile(str(out))
    assert catalogue.metadata["Language"] == language
    assert f"nplurals={forms};" in catalogue.metadata["Plural-Forms"]
    entry = next(entry for entry in catalogue if entry.msgid_plural)
    assert sorted(entry.msgstr_plural) == list(range(forms))
    assert all(entry.msgstr_plural.values())
    if shutil.which("msgfmt"):
        subprocess.run(["msgfmt", "-c", "-o", "/dev/null", out], check=True, capture_output=True)


def test_a_catalogue_of_another_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"in\.po: the target language of the file is de"):
        translated(tmp_path, PO, "fr")


def test_a_charset_that_lacks_a_character_is_refused_unless_another_is_given(
    tmp_path: Path,
) -> None:
    text = PO.replace("UTF-8", "CP1251").replace("menu|File", "Файл").encode("cp1251")
    source, out = tmp_path / "in.po", tmp_path / "out.po"
    source.write_bytes(text)
    umlauts = FakeTranslator(lambda text: text.replace("e", "ü"))
    with pytest.raises(InputError, match=r"cp1251 of the file has no 'ü'.*--encoding utf-8"):
        files.translate(source, out, umlauts)
    assert not out.exists()
    files.translate(source, out, umlauts, encoding="utf-8")
    written = out.read_bytes().decode()
    assert "charset=UTF-8" in written
    assert "Файл" in written


@pytest.mark.parametrize(
    "text",
    [
        'msgid "a"\n',
        'msgstr "a"\n',
        'msgid "a\nmsgstr ""\n',
        'msgid "a"\nmsgid "b"\nmsgstr ""\n',
        "hello\n",
        'msgid "a" x\nmsgstr ""\n',
    ],
)
def test_what_is_no_catalogue_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"in\.po: line \d"):
        translated(tmp_path, text)

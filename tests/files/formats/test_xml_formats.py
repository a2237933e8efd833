"""Android, Qt, RESX, stringsdict, TMX."""

from __future__ import annotations

import plistlib
from pathlib import Path

import pytest
from lxml import etree
from translate.storage import resx, tmx
from translate.storage.ts2 import tsfile

from files.fake import FakeTranslator
from files.samples import SAMPLES
from lexbeam import files


def translated(tmp_path: Path, name: str, target: str = "de", **options: object) -> bytes:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(SAMPLES[name])
    files.translate(source, out, FakeTranslator(target=target), **options)  # type: ignore[arg-type]
    return out.read_bytes()


def test_android(tmp_path: Path) -> None:
    data = translated(tmp_path, "strings.xml")
    root = etree.fromstring(data)
    strings = {each.get("name"): each for each in root.iterfind("string")}
    assert strings["app"].text == "My App"
    assert strings["ref"].text == "@string/hello"
    hello = etree.tostring(strings["hello"], encoding="unicode", with_tail=False)
    assert "HELLO <b>%1$s</b>, YOU\\'VE <xliff:g" in hello
    assert ">%2$d</xliff:g> MAILS" in hello
    assert strings["quoted"].text == '"  KEPT   SPACES  "'
    assert b'<![CDATA[READ <a href="x">THIS</a> PAGE]]>' in data
    assert [item.text for item in root.find("string-array")] == ["MONDAY", "TUESDAY"]
    assert [item.text for item in root.find("plurals")] == ["%d FILE", "%d FILES & MORE"]
    assert strings["lines"].text == "FIRST LINE\\nSECOND LINE"
    assert b"<!-- comment -->" in data


@pytest.mark.parametrize(("language", "forms"), [("de", 2), ("ja", 1), ("pl", 3)])
def test_qt(language: str, forms: int, tmp_path: Path) -> None:
    data = translated(tmp_path, "sample.ts", language)
    root = etree.fromstring(data)
    assert root.get("language") == language
    messages = root.findall(".//message")
    translations = [message.find("translation") for message in messages]
    assert translations[0].text == "&FILE %1"
    assert translations[0].get("type") == "unfinished"
    assert [form.text for form in translations[1]] == ["%n FILE(S) FOUND"] * forms
    assert translations[2].text == "Fertig"
    assert translations[3].text == "Weg"
    assert len(tsfile.parsestring(data).units) == 4
    assert data.startswith(b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n')


def test_qt_final(tmp_path: Path) -> None:
    root = etree.fromstring(translated(tmp_path, "sample.ts", final=True))
    assert root.find(".//translation").get("type") is None


def test_resx(tmp_path: Path) -> None:
    data = translated(tmp_path, "sample.resx")
    assert b"<value>HELLO {0} &amp; WELCOME</value>" in data
    assert b"<value>AAAA</value>" in data
    assert b"<value>button1</value>" in data
    assert len(resx.RESXFile.parsestring(data).units) == len(
        resx.RESXFile.parsestring(SAMPLES["sample.resx"]).units
    )


def test_stringsdict(tmp_path: Path) -> None:
    found = plistlib.loads(translated(tmp_path, "sample.stringsdict"))["files"]
    assert found["NSStringLocalizedFormatKey"] == "FOUND %#@n@ HERE"
    assert found["n"]["one"] == "%d FILE"
    assert found["n"]["NSStringFormatSpecTypeKey"] == "NSStringPluralRuleType"


def test_tmx(tmp_path: Path) -> None:
    data = translated(tmp_path, "sample.tmx")
    root = etree.fromstring(data)
    first, second = root.iterfind(".//tu")
    assert [variant.get("{http://www.w3.org/XML/1998/namespace}lang") for variant in first] == [
        "en",
        "de",
    ]
    assert "".join(first[1].itertext()) == "HELLO <b>WORLD</b>"
    assert second[1][0].text == "Guten Morgen"
    assert len(tmx.tmxfile.parsestring(data).units) == 2

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from files.fake import FakeTranslator
from files.samples import SAMPLES, XLIFF1, XLIFF2
from lexbeam import files
from lexbeam.errors import InputError

ONE = {"x": "urn:oasis:names:tc:xliff:document:1.2"}
TWO = {"x": "urn:oasis:names:tc:xliff:document:2.0"}


def translated(tmp_path: Path, data: bytes, target: str = "de", **options: object) -> bytes:
    source, out = tmp_path / "in.xlf", tmp_path / "out.xlf"
    source.write_bytes(data)
    files.translate(source, out, FakeTranslator(target=target), **options)  # type: ignore[arg-type]
    return out.read_bytes()


def targets(data: bytes) -> dict[str, etree._Element]:
    root = etree.fromstring(data)
    return {
        unit.get("id", ""): unit.find("x:target", ONE)
        for unit in root.iterfind(".//x:trans-unit", ONE)
    }


@pytest.mark.parametrize("name", ["sample.xlf", "utf16.xlf", "crlf.xliff"])
def test_open_units_get_a_target_that_is_to_be_reviewed(name: str, tmp_path: Path) -> None:
    data = translated(tmp_path, SAMPLES[name])
    found = targets(data)
    assert list(found) == [str(i) for i in range(1, 12)]
    assert found["1"].get("state") == "needs-review-translation"
    assert found["1"].get("state-qualifier") == "leveraged-mt"
    assert "".join(found["1"].itertext()) == "HELLO BOLD  WORLD & MORE"
    assert [child.tag.split("}")[1] for child in found["1"].iter()] == ["target", "g", "x"]
    assert found["2"] is None
    assert found["3"].text == "Ja"
    assert found["5"] is None
    assert found["6"].text == "BUT NOT HERE"
    assert [mark.text for mark in found["7"]] == ["FIRST SENTENCE.", "SECOND ONE."]
    assert found["8"].text == "RAW <b>HTML</b> TEXT"
    assert found["9"] is None
    assert found["10"].get("state") == "translated"
    root = etree.fromstring(data)
    assert root.find("x:file", ONE).get("target-language") == "de"


def test_the_rest_stays_as_it_is(tmp_path: Path) -> None:
    after = translated(tmp_path, XLIFF1.encode()).decode()
    rest = iter(after.splitlines())
    for line in XLIFF1.splitlines():
        if not any(part in line for part in ("<target", "<file", "</source></trans-unit>")):
            assert line in rest, line
    assert "<![CDATA[RAW <b>HTML</b> TEXT]]>" in after


def test_final_targets_are_translated(tmp_path: Path) -> None:
    found = targets(translated(tmp_path, XLIFF1.encode(), final=True))
    assert found["1"].get("state") == "translated"
    assert found["1"].get("state-qualifier") is None


def test_version_2(tmp_path: Path) -> None:
    data = translated(tmp_path, XLIFF2.encode())
    root = etree.fromstring(data)
    assert root.get("trgLang") == "de"
    units = {unit.get("id"): unit for unit in root.iterfind(".//x:unit", TWO)}
    first, second = units["u1"].iterfind("x:segment", TWO)
    assert first.get("state") == "translated"
    target = first.find("x:target", TWO)
    assert [e.tag.split("}")[1] for e in target.iter()] == ["target", "pc", "ph", "ph"]
    assert "".join(target.itertext()) == "HELLO BOLD !NEXT"
    mark = second.find("x:target", TWO).find("x:mrk", TWO)
    assert mark.text == "Brand Name"
    assert [e.tag.split("}")[1] for e in second.find("x:target", TWO)] == ["mrk", "sc", "ec"]
    assert units["u2"].find(".//x:target", TWO) is None
    assert units["u3"].find(".//x:target", TWO).text == "OPEN AGAIN"
    assert units["u4"].find(".//x:target", TWO).text == "Gut"
    assert units["u5"].find(".//x:target", TWO) is None
    assert units["u1"].find("x:ignorable/x:target", TWO) is None


@pytest.mark.parametrize("data", [XLIFF1, XLIFF2])
def test_another_source_language_is_refused(data: str, tmp_path: Path) -> None:
    french = data.replace('"en-US"', '"fr"').replace('srcLang="en"', 'srcLang="fr"')
    with pytest.raises(InputError, match="the source language of the file is fr"):
        translated(tmp_path, french.encode())


def test_prefixed_elements_get_prefixed_targets(tmp_path: Path) -> None:
    data = b'<x:xliff version="1.2" xmlns:x="urn:oasis:names:tc:xliff:document:1.2"><x:file \
source-language="en"><x:body><x:trans-unit id="1"><x:source>Hi you</x:source></x:trans-unit>\
</x:body></x:file></x:xliff>'
    assert targets(translated(tmp_path, data))["1"].text == "HI YOU"


def test_latin_1_gets_references_for_what_it_lacks(tmp_path: Path) -> None:
    text = XLIFF1.replace("UTF-8", "ISO-8859-1").replace("Hello", "Café")
    source, out = tmp_path / "in.xlf", tmp_path / "out.xlf"
    source.write_bytes(text.encode("latin-1"))
    files.translate(source, out, FakeTranslator(lambda text: text.replace("o", "ő")))
    data = out.read_bytes()
    assert b"Caf\xe9" in data
    assert b"&#337;" in data
    assert "ő" in targets(data)["6"].text

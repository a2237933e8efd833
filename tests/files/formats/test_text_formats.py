"""JSON and its dialects, properties, strings, tables, subtitles."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from translate.storage import properties

from files.fake import FakeTranslator
from files.samples import SAMPLES
from lexbeam import files
from lexbeam.errors import InputError


def translated(tmp_path: Path, name: str, data: bytes | None = None, target: str = "de") -> bytes:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(SAMPLES[name] if data is None else data)
    files.translate(source, out, FakeTranslator(target=target))
    return out.read_bytes()


def test_json(tmp_path: Path) -> None:
    data = translated(tmp_path, "sample.json")
    found = json.loads(data)
    assert found["title"] == "HELLO {{name}}"
    assert found["nested"]["deep"] == ["ONE ITEM", "TWO <b>BOLD</b> ITEMS", 3, None, True]
    assert found["item_one"] == "{{count}} ITEM"
    assert found["url"] == "https://example.com/path"
    assert found["escaped"].startswith('LINE\nBREAK "QUOTED" ')
    assert found["icu"] == (
        "{n, plural, =0 {NO FILES} one {# FILE} other {# FILES IN {folder}}} WERE FOUND"
    )
    assert found["select"] == (
        "{g, select, male {HE SAID '{'X'}'} other {{n, plural, one {THEY HAVE # <i>THING</i>} "
        "other {THEY HAVE # THINGS}}}}"
    )
    assert data.isascii()  # as its source was


def test_json_keeps_its_layout(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"a":\t"x y"  ,\r\n "b" : [ "c d" ]}\r\n'
    assert translated(tmp_path, "x.json", data) == data.replace(b"x y", b"X Y").replace(
        b"c d", b"C D"
    )


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": }', '{"a": "b",}', "[1 2]", '{"a": "b"} x', '{a: "b"}', '{"a": "\x01"}',
     "[" * 100_000, '{"a":' * 100_000, "{'a': 'b'}", '{"a" "b"}', "[1,]", '{,}', "nul"],
)  # fmt: skip
def test_what_is_not_json_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.json: (?:not valid JSON|objects are nested)"):
        translated(tmp_path, "x.json", text.encode())


def test_web_extension(tmp_path: Path) -> None:
    before, after = (
        json.loads(SAMPLES["messages.json"]),
        json.loads(translated(tmp_path, "messages.json")),
    )
    assert after["hello"].pop("message") == "HELLO $USER$, WELCOME"
    before["hello"].pop("message")
    assert before == after


def test_arb(tmp_path: Path) -> None:
    before, after = json.loads(SAMPLES["app.arb"]), json.loads(translated(tmp_path, "app.arb"))
    assert after["pageTitle"] == "HOME PAGE OF {name}"
    assert after["count"] == "{n, plural, =1{ONE MESSAGE} other{{n} MESSAGES}}"
    assert after["@pageTitle"] == before["@pageTitle"]
    assert after["@@locale"] == "en"


def test_string_catalogue(tmp_path: Path) -> None:
    before = json.loads(SAMPLES["sample.xcstrings"])["strings"]
    after = json.loads(translated(tmp_path, "sample.xcstrings", target="pl"))["strings"]
    hello = after["Hello %@"]["localizations"]["pl"]["stringUnit"]
    assert hello == {"state": "needs_review", "value": "HELLO %@"}
    forms = after["files"]["localizations"]["pl"]["variations"]["plural"]
    assert sorted(forms) == ["few", "many", "one", "other"]
    assert forms["one"]["stringUnit"]["value"] == "%lld FILE"
    assert after["Brand"] == before["Brand"]
    assert after["files"]["localizations"]["en"] == before["files"]["localizations"]["en"]


def test_properties(tmp_path: Path) -> None:
    data = translated(tmp_path, "sample.properties")
    store = properties.javafile.parsestring(data)
    found = {unit.name: str(unit.value) for unit in store.units if unit.name}
    assert found["plain"] == "SIMPLE TEXT"
    assert found["message"] == "IT''S {0}''S FILE"
    assert found["long"].split() == [
        "A",
        "LONG",
        "TEXT",
        "THAT",
        "GOES",
        "ON",
        "HERE",
        "AND",
        "HERE",
    ]
    assert b"lead=\\ LEADING SPACE" in data
    assert b"# A comment\n! Another\n" in data
    assert data.isascii()


def test_properties_in_latin_1(tmp_path: Path) -> None:
    source, out = tmp_path / "x.properties", tmp_path / "y.properties"
    source.write_bytes(SAMPLES["latin1.properties"])
    files.translate(source, out, FakeTranslator(lambda text: text + " ő ü"))
    assert out.read_bytes() == b"key=Caf\xe9 au lait \\u0151 \xfc\n"


def test_apple_strings(tmp_path: Path) -> None:
    plain = translated(tmp_path, "sample.strings").decode()
    assert '"key" = "HELLO \\"YOU\\"\\n%@";' in plain
    assert 'unquoted = "PLAIN TEXT";' in plain
    assert translated(tmp_path, "utf16.strings").decode("utf-16") == plain


@pytest.mark.parametrize("text", ['"a" = "b"', '"a" "b";', '"a = "b";', "= ;", '"a" = ;'])
def test_what_are_no_strings_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.strings: "):
        translated(tmp_path, "x.strings", text.encode())


def test_table(tmp_path: Path) -> None:
    text = translated(tmp_path, "sample.csv").decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert [row[:3] for row in rows] == list(
        csv.reader(io.StringIO(SAMPLES["sample.csv"].decode()))
    )
    assert [row[3] for row in rows[:3]] == ["de", "HELLO!", 'HELLO, "FRIEND" OF {name}.']


def test_table_with_a_target_column(tmp_path: Path) -> None:
    data = b"source;target;note\r\nHello;;x\r\nBye;Ciao;y\r\n"
    expected = b"source;target;note\r\nHello;HELLO;x\r\nBye;Ciao;y\r\n"
    assert translated(tmp_path, "x.csv", data) == expected


def test_table_without_languages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must name a column"):
        translated(tmp_path, "x.csv", b"a,b\n1,2\n")


@pytest.mark.parametrize("name", ["sample.srt", "crlf.srt"])
def test_srt(name: str, tmp_path: Path) -> None:
    data = translated(tmp_path, name)
    cues = data.decode().replace("\r\n", "\n").strip().split("\n\n")
    assert [cue.split("\n", 2)[2] for cue in cues] == [
        "HELLO <i>THERE</i>,\nMY OLD FRIEND",
        "- WHO IS IT?\n- ME.",
        "{\\an8}ON TOP &amp; BOLD",
    ]
    assert "2\n00:00:03,000 --> 00:00:04,000 X1:1" in cues[1]
    assert data.count(b"\r\n") == SAMPLES[name].count(b"\r\n")


def test_vtt(tmp_path: Path) -> None:
    text = translated(tmp_path, "sample.vtt").decode()
    assert text.startswith("WEBVTT - Title here\n\nNOTE\nThis is not shown\n\nSTYLE\n::cue {")
    assert "<v Ann>HELLO &amp; <b>WELCOME</b></v>" in text
    assert "intro\n00:01.000 --> 00:02.000 align:start position:10%\n" in text
    assert "SECOND CUE\nOVER TWO LINES\n" in text

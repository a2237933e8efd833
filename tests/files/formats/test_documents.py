"""Markdown, HTML, Word and plain text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import html5lib
import pytest
from markdown_it import MarkdownIt

from files.fake import FakeTranslator
from files.samples import HTML, MARKDOWN, SAMPLES
from lexbeam import files
from lexbeam.errors import InputError


def translated(tmp_path: Path, name: str, data: bytes | None = None) -> bytes:
    source, out = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(SAMPLES[name] if data is None else data)
    files.translate(source, out, FakeTranslator())
    return out.read_bytes()


def kinds(text: str) -> list[str]:
    """Return the kinds of blocks and inline marks of a Markdown text."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found.append(token.type)
        marks = [t.type for t in token.children or () if t.type not in ("text", "softbreak")]
        found += marks
    return found


@pytest.mark.parametrize("name", ["sample.md", "crlf.md"])
def test_markdown(name: str, tmp_path: Path) -> None:
    text = translated(tmp_path, name).decode()
    assert kinds(text) == kinds(SAMPLES[name].decode())
    plain = text.replace("\r\n", "\n")
    assert 'title: "MY PAGE"\ndate: 2020-01-01' in plain
    assert "# HEADING WITH `code`" in plain
    assert '[LINK](http://x.y "Title")' in plain
    assert "![ALT TEXT](a.png)" in plain
    assert "[REFERENCE][ref]" in plain
    assert "\\*STARS\\* &amp;" in plain
    assert "> QUOTED LINE ONE\n> GOES ON HERE." in plain
    assert "- [ ] TASK" in plain
    assert "| ONE CELL | TWO `x` |" in plain
    assert '```python\ncode = "never"\n```' in plain
    assert '[ref]: http://example.com "Example"\n[^1]: THE FOOTNOTE TEXT' in plain
    assert "<p>HTML TEXT</p>" in plain
    assert '!!! note "A TITLE"\n    INSIDE THE NOTE.' in plain
    assert text.count("\r\n") == SAMPLES[name].count(b"\r\n")


def test_markdown_that_a_translation_could_turn_into_blocks(tmp_path: Path) -> None:
    source, out = tmp_path / "a.md", tmp_path / "b.md"
    source.write_text("Some text here.\n")
    files.translate(source, out, FakeTranslator(lambda _: "1. # not * a `list <b>"))
    html = MarkdownIt("commonmark").render(out.read_text())
    assert html == "<p>1. # not * a `list &lt;b&gt;</p>\n"


def test_html(tmp_path: Path) -> None:
    text = translated(tmp_path, "sample.html").decode()
    before, after = (html5lib.parse(each, namespaceHTMLElements=False) for each in (HTML, text))
    assert [e.tag for e in before.iter()] == [e.tag for e in after.iter()]
    for kept in (
        '<script>var x = "Never translate";</script>',
        "<style>p { color: red }</style>",
        '<p translate="no">Leave me</p>',
        '<p>MIND <span translate="no">BrandName</span> HERE</p>',
        "<!-- a comment -->",
        "<pre>Keep  this</pre>",
        "<textarea>Typed</textarea>",
    ):
        assert kept in text
    assert (
        '<p>READ <a href="x" title="GO THERE">THE <b>DOCS</b></a> &amp; <code>run()</code> IT.<br>'
        "SECOND LINE</p>"
    ) in text
    assert 'content="A PAGE ABOUT THINGS"' in text
    assert 'alt="A PICTURE"' in text
    assert 'placeholder="YOUR NAME"' in text
    assert 'value="SEND"' in text
    assert "<ul><li>ONE<li>TWO</ul>" in text


def test_html_attributes_stay_quoted(tmp_path: Path) -> None:
    source, out = tmp_path / "a.html", tmp_path / "b.html"
    source.write_text("<img alt=one><img alt='two'><img alt=\"three\">")
    files.translate(source, out, FakeTranslator(lambda text: f"{text} \"a\" 'b' <c> & d"))
    found = html5lib.parse(out.read_text(), namespaceHTMLElements=False)
    assert [e.get("alt") for e in found.iter("img")] == [
        f"{word} \"a\" 'b' <c> & d" for word in ("one", "two", "three")
    ]


def test_word_document(tmp_path: Path) -> None:
    data = translated(tmp_path, "sample.docx")
    document = docx.Document(io.BytesIO(data))
    first, second = document.paragraphs[:2]
    assert first.text == "HELLO BOLD WORDS IN A LINE."
    assert [run.text for run in first.runs if run.bold] == ["BOLD WORDS"]
    assert second.text == "SEE THE SITE NOW\tAFTER TAB"
    assert second.hyperlinks[0].text == "THE SITE"
    assert document.tables[0].cell(0, 0).text == "CELL TEXT"
    before = zipfile.ZipFile(io.BytesIO(SAMPLES["sample.docx"]))
    after = zipfile.ZipFile(io.BytesIO(data))
    assert before.namelist() == after.namelist()
    for name in before.namelist():
        if name != "word/document.xml":
            assert before.read(name) == after.read(name)
    assert after.read("word/document.xml").count(b"w:fldChar ") == 2


def archive(**parts: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in parts.items():
            written.writestr(name.replace("__", "/"), content)
    return data.getvalue()


def test_hostile_archives_are_refused(tmp_path: Path) -> None:
    bomb = archive(**{"word/document.xml": b"\0" * 300_000_000})
    outside = archive(**{"../evil.xml": b"x", "word/document.xml": b"<x/>"})
    absolute = archive(**{"/etc/passwd": b"x", "word/document.xml": b"<x/>"})
    entities = archive(**{"word/document.xml": b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'})
    for data, reason in [
        (bomb, "unpacks to"),
        (outside, "leads out of it"),
        (absolute, "leads out of it"),
        (entities, "entities"),
        (archive(other=b"x"), r"no word/document\.xml"),
        (SAMPLES["sample.docx"][:500], "not a ZIP archive"),
        (b"hello", "not a ZIP archive"),
    ]:
        with pytest.raises(InputError, match=rf"x\.docx: .*{reason}"):
            translated(tmp_path, "x.docx", data)


def test_plain_text(tmp_path: Path) -> None:
    text = translated(tmp_path, "sample.txt").decode()
    assert "* A BULLET WITH %s\n1. A NUMBER\n\n-----\n" in text
    assert (
        "THIS LINE IS LONG ENOUGH TO BE TAKEN FOR ONE THAT WAS WRAPPED BY AN\n"
        "EDITOR, AND SO THIS ONE BELONGS TO IT.\n"
    ) in text


def test_markdown_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "markdown_it", None)
    with pytest.raises(ImportError, match=r"lexbeam\[files\]"):
        translated(tmp_path, "x.md", MARKDOWN.encode())

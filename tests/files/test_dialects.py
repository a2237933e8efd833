"""What single formats are particular about, as far as it is seen without a model."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from files.fake import FakeTranslator, opened
from files.samples import MARKDOWN, SAMPLES
from lexbeam import files
from lexbeam.errors import InputError
from lexbeam.files.formats import find_format, markdown
from lexbeam.files.json_scanner import scan_json
from lexbeam.files.units import Options

XLIFF = (
    '<xliff version="1.2"><file original="a" source-language="en" target-language="de" '
    'datatype="plaintext"><body>{}</body></file></xliff>'
)
NEW = '<target state="needs-review-translation" state-qualifier="leveraged-mt">'


def translated(name: str, source: str, tmp_path: Path, **options: Any) -> str:
    path = tmp_path / name
    path.write_bytes(source.encode())
    files.translate(path, path, FakeTranslator(), **options)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        pytest.param(
            "a.po",
            'msgid "a file"\nmsgstr ""',
            'msgid ""\nmsgstr ""\n"MIME-Version: 1.0\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
            '"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n#, fuzzy\n'
            'msgid "a file"\nmsgstr "A FILE"',
            id="a new header stands before everything",
        ),
        pytest.param(
            "a.xlf",
            XLIFF.format(
                '<trans-unit id="1"><source>a file</source><alt-trans><source>b</source>'
                "<target>c</target></alt-trans></trans-unit>"
            ),
            XLIFF.format(
                f'<trans-unit id="1"><source>a file</source>{NEW}A FILE</target><alt-trans>'
                "<source>b</source><target>c</target></alt-trans></trans-unit>"
            ),
            id="an alternative is not the translation",
        ),
        pytest.param(
            "a.sdlxliff",
            XLIFF.format(
                '<trans-unit id="1"><source><g id="1">one</g></source><seg-source><g id="1">'
                '<mrk mtype="seg" mid="1">one</mrk></g></seg-source><target><g id="1">'
                '<mrk mtype="seg" mid="1"/></g></target></trans-unit>'
            ),
            XLIFF.format(
                '<trans-unit id="1"><source><g id="1">one</g></source><seg-source><g id="1">'
                f'<mrk mtype="seg" mid="1">one</mrk></g></seg-source>{NEW}<g id="1">'
                '<mrk mtype="seg" mid="1">ONE</mrk></g></target></trans-unit>'
            ),
            id="empty segments inside of codes",
        ),
        pytest.param(
            "a.xlf",
            XLIFF.format(
                '<trans-unit id="1"><source>go &lt;b&gt; on <it id="1" pos="open">i</it> now'
                "</source></trans-unit>"
            ),
            XLIFF.format(
                '<trans-unit id="1"><source>go &lt;b&gt; on <it id="1" pos="open">i</it> now'
                f'</source>{NEW}GO &lt;b&gt; ON <it id="1" pos="open">i</it> NOW</target>'
                "</trans-unit>"
            ),
            id="spaces on both sides of a code stay",
        ),
        pytest.param(
            "a.properties",
            "a={0,choice,0#no files|1#one file|1<{0} files} aren''t there\n",
            "a={0,choice,0#NO FILES|1#ONE FILE|1<{0} FILES} AREN''T THERE\n",
            id="choices of MessageFormat",
        ),
        pytest.param(
            "a.json",
            '{"a": "{0,choice,0#none|1#one}", "color": "#ffaacc"}',
            '{"a": "{0,choice,0#NONE|1#ONE}", "color": "#ffaacc"}',
            id="choices in JSON, colours",
        ),
        pytest.param(
            "a.json",
            '{"a": "{n, plural, one {is <1>#</1> it} other {are <1>#</1> they}}"}',
            '{"a": "{n, plural, one {IS <1>#</1> IT} other {ARE <1>#</1> THEY}}"}',
            id="tags around arguments",
        ),
        pytest.param(
            "a.properties",
            'a=<a href="{0}x{1}">the {2}</a> has {3,choice,0#none|1<{3} of them}\n',
            'a=<a href="{0}x{1}">THE {2}</a> HAS {3,choice,0#NONE|1<{3} OF THEM}\n',
            id="tags with arguments in them",
        ),
        pytest.param(
            "a.csv",
            "key,en\nA,one\nB,\n",
            "key,en,de\nA,one,ONE\nB,,\n",
            id="a new column is in every row",
        ),
        pytest.param(
            "a.xhtml",
            "<p>a&#160;b <!-- c --> d <img alt='x y'/> e</p>",
            "<p>A&#160;B <!-- c --> D <img alt='X Y'/> E</p>",
            id="references that XML knows",
        ),
        pytest.param(
            "a.md",
            "caf&eacute; &copy; of $x^2$ :smile: here\n",
            "CAFé &copy; OF $x^2$ :smile: HERE\n",
            id="references, formulas and emoji of Markdown",
        ),
        pytest.param(
            "a.strings",
            '"a" /* c */ = // d\n "b" ; "url" = "https://x.org"; key;\n',
            '"a" /* c */ = // d\n "B" ; "url" = "https://x.org"; key;\n',
            id="comments inside of a pair",
        ),
    ],
)
def test_what_is_written(name: str, source: str, expected: str, tmp_path: Path) -> None:
    assert translated(name, source, tmp_path) == expected


@pytest.mark.parametrize(
    ("name", "source", "unit"),
    [
        (
            "a.xlf",
            XLIFF.format(
                '<trans-unit id="u" maxwidth="5" size-unit="char"><source>a <g id="1">file</g>'
                "</source></trans-unit>"
            ),
            "u",
        ),
        (
            "b.xlf",
            (
                '<xliff version="2.1" xmlns:slr="urn:oasis:names:tc:xliff:sizerestriction:2.0" '
                'srcLang="en" trgLang="de"><file id="f"><unit id="u" slr:sizeRestriction="5">'
                "<segment><source>a file</source></segment></unit></file></xliff>"
            ),
            "f/u/1",
        ),
    ],
)
def test_a_translation_that_is_too_long_is_reported(
    name: str, source: str, unit: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(source)
    report = files.translate(path, path, FakeTranslator())
    assert [(failure.id, failure.reason) for failure in report.failures] == [
        (unit, "the translation has 6 characters, and the file allows 5")
    ]
    assert path.read_text() == source
    path.write_text(source.replace('"5"', '"6"'))
    assert files.translate(path, path, FakeTranslator()).translated == 1


def test_a_page_names_its_new_encoding(tmp_path: Path) -> None:
    source = '<meta charset="windows-1251"><p>a file</p>'
    expected = '<meta charset="utf-8"><p>A FILE</p>'
    assert translated("a.html", source, tmp_path, encoding="utf-8") == expected
    with pytest.raises(InputError, match="unknown encoding 'nonsense'"):
        translated("a.html", source, tmp_path, encoding="nonsense")
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_what_is_seen_at_a_glance_is_what_is_read_in_full(name: str) -> None:
    data = SAMPLES[name]
    chosen = find_format(Path(name), data[:4096])
    whole = list(chosen.open(data, Options("en", "de")).units())
    brief = list(chosen.open(data, Options("en", "de", brief=True)).units())
    assert len(whole) == len(brief)
    assert [u.id for u in whole if u.is_open()] == [u.id for u in brief if u.is_open()]


def test_markdown_in_chunks_is_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = MARKDOWN * 3 + "\n- a list\n\n  of *two* paragraphs\n\n!!! note\n    one\n\n    two\n"
    whole = [(unit.id, unit.source) for unit in opened("a.md", text.encode()).units()]
    for size in (1, 50, 333):
        monkeypatch.setattr(markdown, "_CHUNK", size)
        found = [(unit.id, unit.source) for unit in opened("a.md", text.encode()).units()]
        assert sorted(found) == sorted(whole)


def _value(depth: int, generator: random.Random) -> Any:
    kind = generator.random()
    if depth > 4 or kind < 0.4:
        return generator.choice([1, -2.5, True, None, "a", 'b"\\\n', "", "é", 0])
    if kind < 0.7:
        return [_value(depth + 1, generator) for _ in range(generator.randrange(5))]
    return {f"{i}\n": _value(depth + 1, generator) for i in range(generator.randrange(5))}


def _strings(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[Any, str]]:
    if isinstance(value, str):
        return [(path, value)]
    if not isinstance(value, dict | list):
        return []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [found for key, inner in items for found in _strings(inner, (*path, key))]


@pytest.mark.parametrize("seed", range(100))
def test_json_is_read_as_the_standard_library_reads_it(seed: int) -> None:
    generator = random.Random(seed)
    value = _value(0, generator)
    text = json.dumps(value, indent=generator.choice([None, 2]))
    found = [
        (event.path, json.loads(text[event.start : event.end]))
        for event in scan_json(text)
        if event.kind == "string"
    ]
    assert found == _strings(value)
    for _ in range(5):
        damaged = list(text)
        damaged[generator.randrange(len(damaged))] = generator.choice('{}[],:"1a ')
        try:
            json.loads("".join(damaged))
        except ValueError:
            with pytest.raises(InputError):
                list(scan_json("".join(damaged)))
        else:
            list(scan_json("".join(damaged)))

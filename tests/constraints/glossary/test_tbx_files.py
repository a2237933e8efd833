from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lexbeam.constraints.glossary.entries import Contents
from lexbeam.constraints.glossary.tbx_files import read_tbx
from lexbeam.errors import InputError

SECOND = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX" xml:lang="en"><martifHeader><fileDesc><sourceDesc><p>x</p></sourceDesc>
</fileDesc></martifHeader><text><body>
<termEntry id="c1">
  <descrip type="definition">something to live in</descrip>
  <langSet xml:lang="en"><tig><term>house</term></tig></langSet>
  <langSet xml:lang="de-DE">
    <tig><term>Haus</term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote>
    </tig>
    <ntig><termGrp><term>Ge<hi>bäu</hi>de</term>
      <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></termGrp></ntig>
  </langSet>
</termEntry>
</body></text></martif>
"""

THIRD = """<?xml version="1.0"?>
<tbx style="dca" type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">
<tbxHeader/><text><body>
<conceptEntry id="c1">
  <langSec xml:lang="en"><termSec><term>house</term></termSec></langSec>
  <langSec xml:lang="de-DE">
    <termSec><termNote type="administrativeStatus">admittedTerm-admn-sts</termNote>
      <term>Haus</term></termSec>
    <termSec><term> Gebäude </term>
      <termNote type="administrativeStatus">supersededTerm-admn-sts</termNote></termSec>
  </langSec>
</conceptEntry>
</body></text></tbx>
"""

TAGS = (
    THIRD.replace('style="dca"', 'style="dct" xmlns:min="http://www.tbxinfo.net/ns/min"')
    .replace('<termNote type="administrativeStatus">', "<min:administrativeStatus>")
    .replace("</termNote>", "</min:administrativeStatus>")
)


def read(tmp_path: Path, text: str | bytes) -> Contents:
    path = tmp_path / "terms.tbx"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_tbx(path)


@pytest.mark.parametrize("text", [SECOND, THIRD, TAGS])
def test_the_versions(tmp_path: Path, text: str) -> None:
    contents = read(tmp_path, text)
    (concept,) = contents.concepts
    assert [(term.text, term.language, term.forbidden) for term in concept.terms] == [
        ("house", "en", False),
        ("Haus", "de-de", False),
        ("Gebäude", "de-de", True),
    ]
    assert concept.line == next(i for i, x in enumerate(text.splitlines(), 1) if 'id="c1"' in x)
    assert contents.languages == {"en", "de-de"}
    assert not contents.problems


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "iso-8859-1", "windows-1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    declared = SECOND.replace("UTF-8", "utf-8" if "sig" in encoding else encoding)
    contents = read(tmp_path, declared.encode(encoding))
    assert contents.concepts[0].terms[2].text == "Gebäude"


def test_a_wrong_encoding_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"terms.tbx: line 11 is not well-formed XML"):
        read(tmp_path, SECOND.encode("iso-8859-1"))
    with pytest.raises(InputError, match="unknown encoding"):
        read(tmp_path, SECOND.replace("UTF-8", "klingon"))


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE tbx [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><tbx>&i;</tbx>"
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        '<!DOCTYPE tbx [<!ENTITY x SYSTEM "file:///etc/hostname">]><tbx>&x;</tbx>',
        '<!DOCTYPE tbx [<!ENTITY % x SYSTEM "http://localhost:9/x.dtd"> %x;]><tbx/>',
        '<!DOCTYPE tbx [<!ENTITY x PUBLIC "a" "http://localhost:9/">]><tbx/>',
        '<!DOCTYPE tbx SYSTEM "http://localhost:9/x.dtd"><tbx>&unknown;</tbx>',
    ],
)
def test_entities_are_refused(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the parser went out")

    path = tmp_path / "terms.tbx"
    path.write_text(text)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match=r"terms.tbx: line 1 declares or uses an XML entity"):
        read_tbx(path)


def test_an_external_definition_is_left_where_it_is(tmp_path: Path) -> None:
    text = THIRD.replace("<tbx ", '<!DOCTYPE tbx SYSTEM "http://localhost:9/x.dtd"><tbx ')
    assert len(read(tmp_path, text).concepts) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no element found"),
        ("house,Haus", "not well-formed"),
        ("<tbx><text></tbx>", "mismatched tag"),
        ("<tbx>", "no element found"),
        ("<html><body/></html>", "begins with <html>"),
        ('<?xml version="1.0"?>\n<x:tbx/>', "unbound prefix"),
    ],
)
def test_what_is_not_a_term_base_is_an_error(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"terms.tbx: line \d.*{reason}"):
        read(tmp_path, text)


def test_entries_that_cannot_be_used_are_reported(tmp_path: Path) -> None:
    contents = read(
        tmp_path,
        """<tbx><text><body>
<conceptEntry><langSec xml:lang="en"><termSec><term>alone</term></termSec></langSec></conceptEntry>
<conceptEntry/>
<conceptEntry><langSec xml:lang="en"><termSec><term> </term></termSec></langSec></conceptEntry>
<conceptEntry><langSec><termSec><term>x</term></termSec></langSec></conceptEntry>
</body></text></tbx>""",
    )
    assert not contents.concepts
    assert [(p.line, p.message.split(":")[0]) for p in contents.problems] == [
        (2, 'an entry with only "alone"'),
        (3, "an entry with no terms"),
        (4, "a term section without a term"),
        (4, "an entry with no terms"),
        (5, "a language section without xml"),
        (5, "an entry with no terms"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<tbx>" + "a" * 10_000_000 + "</tbx>",
        "<tbx " + "a" * 10_000_000,
        '<tbx x="' + "a" * 10_000_000 + '"/>',
        "<tbx>" + "<term>" * 1_000_000,
        THIRD.replace("house", "a" * 10_000_000).replace("Haus", "b" * 10_000_000),
    ],
)
def test_ten_megabytes_of_one_line(tmp_path: Path, text: str) -> None:
    try:
        contents = read(tmp_path, text)
        messages = [problem.message for problem in contents.problems]
        assert len(contents.concepts) <= 1
    except InputError as error:
        messages = [str(error)]
    assert all(len(message) < 300 for message in messages)

from __future__ import annotations

from itertools import pairwise

import pytest

from lexbeam.errors import InputError
from lexbeam.files.units import Edit
from lexbeam.files.xml_scanner import XmlFile


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "entities"),
        (b'<!DOCTYPE x [<!ENTITY % a "b">]><x/>', "entities"),
        (b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>', "entities"),
        (b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>', "entities"),
        (b'<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd"><x>&undefined;</x>', "entities"),
        (b"<x>&nbsp;</x>", "not well-formed"),
        (b"<x>", "not well-formed"),
        (b"<x></y>", "not well-formed"),
        (b"", "not well-formed"),
        (b"hello", "not well-formed"),
        (b"<x>\x01</x>", "not well-formed"),
        (b"<x>\0</x>", "NUL"),
        (b"<x>\xff</x>", "not well-formed"),
        (b"<x a='1' a='2'/>", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><x/>', "unknown encoding 'klingon'"),
        (b'<?xml version="1.0" encoding="utf-7"?><x/>', "can't be used"),
        (b'<?xml version="1.0" encoding="rot13"?><x/>', "can't be used"),
        (b'<?xml version="1.0" encoding="utf-16"?><x/>', "not valid UTF-16|not well-formed"),
        ('<?xml version="1.0" encoding="utf-8"?><x/>'.encode("utf-16"), "it is UTF-16"),
        ("<x>é</x>".encode("latin-1"), "not well-formed"),
        (b"<x>" * 100_000 + b"</x>" * 100_000, "nested more than 500 deep"),
    ],
)
def test_hostile_files_are_refused_with_one_line(data: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        XmlFile(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252", "koi8-r"])
def test_files_come_back_in_their_encoding(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\r\n<x a=\'1\'><!-- c --><y/>z &lt;</x >\n'
    data = text.encode(encoding)
    xml = XmlFile(data)
    assert b"".join(xml.spliced([])) == data
    at = xml.data.index(b"z &lt;")
    written = b"".join(xml.spliced([Edit(at, at + 1, "ж")]))
    assert XmlFile(written).text(0, len(XmlFile(written).data)).strip() == "ж <"


def test_a_document_type_without_declarations_is_fine() -> None:
    for doctype in (
        b"<!DOCTYPE x>",
        b'<!DOCTYPE x PUBLIC "a" "http://b/c.dtd">',
        b"<!DOCTYPE x []>",
    ):
        data = doctype + b"<x>y</x>"
        assert b"".join(XmlFile(data).spliced([])) == data


def test_tokens_cover_the_file() -> None:
    data = b"""<?xml version="1.0"?><!DOCTYPE a><a x='>' y="/"><!-- <b> --><b/>"""
    data += b"<![CDATA[<c>]]>t<?p <q> ?></a>"
    tokens = list(XmlFile(data).tokens())
    assert [token.kind for token in tokens] == [
        "pi", "doctype", "start", "comment", "empty", "cdata", "text", "pi", "end",
    ]  # fmt: skip
    assert tokens[0].start == 0
    assert tokens[-1].end == len(data)
    assert all(one.end == other.start for one, other in pairwise(tokens))


def test_attributes_are_found_and_set() -> None:
    xml = XmlFile(b"""<a one='1 &amp; 2' x:two = "3" xmlns:x="y"/>""")
    token = next(xml.tokens())
    assert xml.attributes(token) == {"one": "1 & 2", "x:two": "3", "xmlns:x": "y"}
    edits = list(xml.set_attributes(token, one="5", new_name='"<'))
    assert b"".join(xml.spliced(edits)) == (
        b"""<a one='5' x:two = "3" xmlns:x="y" new-name="&quot;&lt;"/>"""
    )

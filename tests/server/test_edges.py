"""Unusual requests that clients, proxies and strangers send."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import time
import zlib
from typing import Any
from urllib.parse import urlsplit

import pytest

from helpers.http_client import ask
from lexbeam.server.errors import ApiError
from lexbeam.server.hosts import allowed_names, may_be_called
from lexbeam.server.memory import HeldMemory

HELLO: dict[str, Any] = {"text": ["Restart the computer."], "target_lang": "DE"}
GERMAN = "Starten Sie den Computer neu."
BODY = json.dumps(HELLO).encode()
GLOSSARY = {
    "name": "Terms",
    "source_lang": "en",
    "target_lang": "de",
    "entries": "mouse\tMaus",
    "entries_format": "tsv",
}


def packed(server: str, body: bytes, encoding: str) -> int:
    headers = {"Content-Encoding": encoding}
    return ask(server, "POST", "/v2/translate", body, headers=headers).status


def test_packed_bodies(server: str) -> None:
    assert packed(server, gzip.compress(BODY), "gzip") == 200
    assert packed(server, zlib.compress(BODY), "deflate") == 200
    assert packed(server, gzip.compress(b"a" * 10_000_000), "gzip") == 413
    assert packed(server, gzip.compress(BODY)[:-9], "gzip") == 400
    assert packed(server, BODY, "gzip") == 400
    assert packed(server, BODY, "br") == 415


@pytest.mark.parametrize("path", ["/translate/", "//translate", "/translate"])
def test_slashes_too_many(server: str, path: str) -> None:
    sent = {"q": "Restart the computer.", "source": "en", "target": "de"}
    assert ask(server, "POST", path, sent).json == {"translatedText": GERMAN}


def test_addresses_that_are_too_long(server: str) -> None:
    for length, status in ((60_000, 200), (62_000, 414), (140_000, 414)):
        reply = ask(server, "POST", f"/v2/translate?more={'a' * length}", HELLO)
        assert reply.status == status
    assert isinstance(reply.json["message"], str)


def test_more_texts_than_deepl_once_took(server: str) -> None:
    sent = {**HELLO, "text": [str(n) for n in range(5000)]}
    found = ask(server, "POST", "/v2/translate", sent).json["translations"]
    assert [each["text"] for each in found] == sent["text"]
    form = {"text": sent["text"], "target_lang": "DE"}
    assert len(ask(server, "POST", "/v2/translate", form=form).json["translations"]) == 5000


@pytest.mark.parametrize("name", ["preserve_formatting", "outline_detection"])
def test_flags(server: str, name: str) -> None:
    for value in (True, False, 0, 1, "0", "1"):
        assert ask(server, "POST", "/v2/translate", {**HELLO, name: value}).status == 200
    reply = ask(server, "POST", "/v2/translate", {**HELLO, name: "perhaps"})
    assert reply.status == 400
    assert name in reply.json["message"]


def test_our_fields_in_forms(server: str) -> None:
    form = {"text": ["Restart the computer."] * 2, "target_lang": "de", "prefix": "Starten"}
    form |= {"constraints": "Rechner"}
    found = ask(server, "POST", "/v2/translate", form=form).json["translations"]
    assert [each["text"] for each in found] == ["Starten Sie den Rechner neu."] * 2
    form = {"q": "It was in 2024.", "source": "en", "target": "de", "constraints": "2024"}
    assert "2024" in ask(server, "POST", "/translate", form=form).json["translatedText"]


def test_dictionaries_keep_their_order(server: str) -> None:
    pairs = [("en", "de"), ("de", "en"), ("en", "fr")]
    dictionaries = [
        {**GLOSSARY, "source_lang": source, "target_lang": target} for source, target in pairs
    ]
    made = ask(server, "POST", "/v3/glossaries", {"name": "Many", "dictionaries": dictionaries})
    path = f"/v3/glossaries/{made.json['glossary_id']}"
    ask(server, "PUT", f"{path}/dictionaries", {**dictionaries[0], "entries": "a\tb\nc\td"})
    ask(server, "PATCH", path, {"dictionaries": [{**dictionaries[1], "entries": "e\tf"}]})
    listed = ask(server, "GET", path).json["dictionaries"]
    assert [(each["source_lang"], each["target_lang"]) for each in listed] == pairs
    assert [each["entry_count"] for each in listed] == [2, 2, 1]
    assert ask(server, "DELETE", path).status == 204


def test_entries_are_there_as_tsv_only(server: str) -> None:
    made = ask(server, "POST", "/v2/glossaries", GLOSSARY).json["glossary_id"]
    path = f"/v2/glossaries/{made}/entries"
    assert ask(server, "GET", path, headers={"Accept": "text/csv"}).status == 415
    for accepted in ("text/tab-separated-values", "*/*", "application/json, text/*;q=0.5"):
        reply = ask(server, "GET", path, headers={"Accept": accepted})
        assert reply.content == b"mouse\tMaus"
    ask(server, "DELETE", f"/v2/glossaries/{made}")


def test_terms_may_have_1024_bytes(server: str) -> None:
    for term, status in (("ü" * 512, 201), ("a" * 1024, 201), ("ü" * 513, 400)):
        sent = {**GLOSSARY, "entries": f"{term}\tMaus"}
        reply = ask(server, "POST", "/v2/glossaries", sent)
        assert reply.status == status
        if status == 201:
            ask(server, "DELETE", f"/v2/glossaries/{reply.json['glossary_id']}")


def test_glossaries_may_have_ten_mebibytes(server: str) -> None:
    lines = [f"{'term' * 250} {n}\t{n}" for n in range(10_300)]
    large = {**GLOSSARY, "entries": "\n".join(lines[:10_200])}
    made = ask(server, "POST", "/v2/glossaries", form=large)
    assert made.json["entry_count"] == 10_200
    ask(server, "DELETE", f"/v2/glossaries/{made.json['glossary_id']}")
    too_large = {**GLOSSARY, "entries": "\n".join(lines) + " " * 500_000}
    assert ask(server, "POST", "/v2/glossaries", too_large).status == 413


def test_a_request_that_fails_costs_nothing(server: str) -> None:
    before = ask(server, "GET", "/v2/usage").json["character_count"]
    wrong = {**HELLO, "constraints": ["neu"], "avoid": ["neu"]}
    assert ask(server, "POST", "/v2/translate", wrong).status == 400
    assert ask(server, "GET", "/v2/usage").json["character_count"] == before


def test_no_more_is_held_than_there_is_room_for() -> None:
    async def hold_two(first: int, second: int) -> None:
        memory = HeldMemory(most=100 << 20, patience=0.1)
        async with memory.hold(first), memory.hold(second):
            pass
        async with memory.hold(100 << 20):  # all was given back
            pass

    asyncio.run(hold_two(60 << 20, 40 << 20))
    asyncio.run(hold_two(100 << 20, 1000))
    with pytest.raises(ApiError) as refused:
        asyncio.run(hold_two(60 << 20, 41 << 20))
    assert refused.value.status == 429


def test_languages_of_version_3(server: str) -> None:
    assert ask(server, "GET", "/v3/languages").status == 400
    assert ask(server, "GET", "/v3/languages?resource=bogus").status == 400
    assert ask(server, "GET", "/v3/languages?resource=write").json == []
    names = [each["name"] for each in ask(server, "GET", "/v3/languages/resources").json]
    assert {"translate_text", "translate_document", "glossary", "write"} <= set(names)


@pytest.mark.parametrize(
    ("header", "allowed"),
    [
        ("localhost:5000", True),
        ("127.0.0.1:5000", True),
        ("[::1]:5000", True),
        ("::1", True),
        ("", True),
        ("lexbeam", True),
        ("lexbeam.localhost", True),
        ("translate.example", True),
        ("Translate.Example.:443", True),
        ("evil.example", False),
        ("localhost.evil.example:5000", False),
        ("127.0.0.1.evil.example", False),
    ],
)
def test_names_by_which_a_server_is_called(header: str, allowed: bool) -> None:
    names = allowed_names("127.0.0.1", ["translate.example"])
    assert may_be_called(header, names) is allowed


def test_servers_for_a_network_take_any_name_unless_told() -> None:
    assert allowed_names("0.0.0.0", []) is None
    assert allowed_names("127.0.0.1", ["*"]) is None
    assert not may_be_called("evil.example", allowed_names("0.0.0.0", ["my.example"]))
    assert not may_be_called("evil.example", allowed_names("localhost", []))


def test_an_unknown_name_is_refused(server: str) -> None:
    for path, key in (("/health", "error"), ("/v2/usage", "message")):
        reply = ask(server, "GET", path, headers={"Host": "evil.example"})
        assert reply.status == 403
        assert "--allow-host" in reply.json[key]


def connected(server: str) -> socket.socket:
    address = urlsplit(server)
    return socket.create_connection((address.hostname or "", address.port or 0), timeout=30)


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes the connection."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    "start",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
        b"POST /detect HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Long: ",
    ],
)
def test_headers_without_end_do_not_fill_the_memory(server: str, start: bytes) -> None:
    def send() -> None:
        connection.sendall(start)
        for _ in range(200):  # 13 MB; the server closes the connection before that
            connection.sendall(b"a" * 65536)
            time.sleep(0.001)

    with connected(server) as connection, pytest.raises(OSError, match=r"reset|pipe"):
        send()
    assert ask(server, "GET", "/health").status == 200


def test_requests_one_behind_the_other_on_one_connection(server: str) -> None:
    requests = []
    for text in ("Restart the computer.", "1", "2"):
        body = json.dumps({**HELLO, "text": [text]}).encode()
        head = f"POST /v2/translate HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n"
        requests.append(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
    with connected(server) as connection:
        connection.sendall(b"".join(requests) + b"GET /health HTTP/1.0\r\n\r\n")
        found = received(connection)
    texts = re.findall(rb'"text":"(.*?)"', found)
    assert texts == [GERMAN.encode(), b"1", b"2"]
    assert found.endswith(b'{"status":"ok"}')

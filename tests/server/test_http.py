"""What any client may meet: shapes of requests, limits, headers, our own endpoints."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from helpers.http_client import ask
from helpers.running_server import serving
from lexbeam.server.context import Limits

HELLO = {"text": ["Restart the computer."], "target_lang": "DE"}


def test_forms_as_the_client_for_node_sends_them(server: str) -> None:
    form = {"text": ["Hello.", "Hello."], "target_lang": "de", "show_billed_characters": "1"}
    assert len(ask(server, "POST", "/v2/translate", form=form).json["translations"]) == 2
    form = {
        "name": "Node",
        "dictionaries[0].source_lang": "en",
        "dictionaries[0].target_lang": "de",
        "dictionaries[0].entries": "mouse\tMaus",
        "dictionaries[0].entries_format": "tsv",
    }
    made = ask(server, "POST", "/v3/glossaries", form=form)
    assert made.status == 201
    assert made.json["dictionaries"][0]["entry_count"] == 1
    assert "." in made.json["creation_time"]
    assert ask(server, "DELETE", f"/v2/glossaries/{made.json['glossary_id']}").status == 204


def test_a_form_in_the_body_of_a_get(server: str) -> None:
    reply = ask(server, "GET", "/v2/languages", form={"type": "target"})
    assert reply.json == [{"language": "DE", "name": "German", "supports_formality": False}]


def test_weblate(server: str) -> None:
    listed = ask(server, "GET", "/v3/languages?resource=translate_text").json
    assert {each["lang"]: each["usable_as_target"] for each in listed} == {"de": True, "en": False}
    assert len(ask(server, "GET", "/v3/languages?resource=glossary").json) > 30
    sent = {
        "text": [f'Delete <x id="{n}"></x> now' for n in range(20)],
        "source_lang": "EN",
        "target_lang": "DE",
        "tag_handling": "xml",
        "ignore_tags": ["x"],
    }
    found = ask(server, "POST", "/v2/translate", sent).json["translations"]
    for n, each in enumerate(found):
        assert each["text"].count(f'<x id="{n}"></x>') == 1


@pytest.mark.parametrize("path", ["/v2/write/rephrase", "/v3/style_rules", "/v2/admin/keys"])
def test_what_is_not_there_is_404_with_a_message(server: str, path: str) -> None:
    reply = ask(server, "GET", path)
    assert reply.status == 404
    assert isinstance(reply.json["message"], str)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"text": ["Hello."]},
        {"text": [], "target_lang": "DE"},
        {"text": [5], "target_lang": "DE"},
        {**HELLO, "tag_handling": "markdown"},
        {**HELLO, "split_sentences": "2"},
        {**HELLO, "style_id": "abc"},
        {**HELLO, "glossary_id": "b10c8a3e-0b0e-4d2c-9d52-1f0f6fd3cf2f"},
        {**HELLO, "source_lang": "DE"},
        {**HELLO, "constraints": [["a"], ["b"]]},
        {**HELLO, "constraints": ["neu"], "avoid": ["neu"]},
    ],
)
def test_wrong_requests_to_deepl(server: str, sent: Any) -> None:
    reply = ask(server, "POST", "/v2/translate", sent)
    assert reply.status == 400
    assert isinstance(reply.json["message"], str)


@pytest.mark.parametrize(
    "body", [b"{", b"[1]", b"\xff", b'{"text": NaN}', b'{"text": "a", "id": 1e400}', b"[" * 100_000]
)
def test_bodies_that_are_no_json(server: str, body: bytes) -> None:
    assert ask(server, "POST", "/v2/translate", body).status == 400
    assert ask(server, "POST", "/v1/translate", body).status == 400


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/alternatives", {"text": "The \ud83d file.", "translation": "Die Datei.", "start": 4}),
        ("/v1/alternatives", {"text": "The file.", "translation": "Die \ud800 Datei.", "start": 6}),
        ("/v2/glossaries", {"entries": "a\tb", "entries_format": "tsv"}),
        ("/v3/glossaries", {"dictionaries": [{"entries": "a\tb", "entries_format": "tsv"}]}),
        ("/v1/translate", {"text": "The \ud83d file."}),
        ("/v2/translate", {"text": ["The \ud83d file."], "target_lang": "DE"}),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(server: str, path: str, sent: dict[str, Any]) -> None:
    languages = {"source_lang": "en", "target_lang": "de"}
    if "glossaries" in path:
        sent = {"name": "x\ud800", **languages, **sent}
        sent["dictionaries"] = [{**languages, **each} for each in sent.get("dictionaries", [])]
    assert ask(server, "POST", path, sent).status == 400


def test_limits_differ_by_route(server: str) -> None:
    large = {"text": ["a " * 70_000], "target_lang": "DE"}
    assert ask(server, "POST", "/v2/translate", large).status == 413
    entries = "\n".join(f"term {n}\tBegriff {n}" for n in range(20_000))
    sent = {
        "name": "Large",
        "source_lang": "en",
        "target_lang": "de",
        "entries": entries,
        "entries_format": "tsv",
    }
    made = ask(server, "POST", "/v2/glossaries", sent)
    assert made.json["entry_count"] == 20_000
    ask(server, "DELETE", f"/v2/glossaries/{made.json['glossary_id']}")


@pytest.mark.parametrize(
    "entries", ["a\tb\na\tc", "no separator", "", "a\t", "\tb", "a\tb\tc", "a\u0000\tb"]
)
def test_entries_that_are_refused(server: str, entries: str) -> None:
    sent = {
        "name": "Bad",
        "source_lang": "en",
        "target_lang": "de",
        "entries": entries,
        "entries_format": "tsv",
    }
    assert ask(server, "POST", "/v2/glossaries", sent).status == 400


def test_white_space_and_line_breaks(server: str) -> None:
    sent = {"text": ["\n  Hello.\r\n\r\nRestart the computer. \t"], "target_lang": "DE"}
    (found,) = ask(server, "POST", "/v2/translate", sent).json["translations"]
    assert found["text"].startswith("\n  ")
    assert found["text"].endswith(" \t")
    assert "\r\n\r\nStarten" in found["text"]


def test_many_tags_take_no_longer(server: str) -> None:
    text = "<b>a</b>" * 500
    sent = {"text": [text], "target_lang": "DE", "tag_handling": "xml"}
    found = ask(server, "POST", "/v2/translate", sent).json["translations"][0]["text"]
    assert found.count("<b>") == found.count("</b>") == 500


def test_security_headers(server: str) -> None:
    headers = ask(server, "GET", "/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers or "uvicorn" in headers["server"]


def test_records(server: str) -> None:
    records: list[dict[str, Any]] = [
        {"text": "Restart the computer.", "constraints": ["Rechner"], "id": 7},
        {"text": "Hello.", "constraints": "wrong"},
    ]
    first, second = ask(server, "POST", "/v1/translate", {"records": records}).json["records"]
    assert first["translation"] == "Starten Sie den Rechner neu."
    assert first["id"] == 7
    assert first["constraints"][0]["met"] is True
    assert "must be a list" in second["error"]
    single = ask(server, "POST", "/v1/translate", {**records[0], "settings": {"prices": True}})
    assert single.json["constraints"][0]["price"] > 0


def other_choices(server: str, text: str, translation: str, word: str) -> list[Any]:
    sent = {"text": text, "translation": translation, "start": translation.index(word)}
    found: list[Any] = ask(server, "POST", "/v1/alternatives", sent).json["alternatives"]
    for each in found:
        assert each["translation"][each["start"] :].startswith(each["text"])
    return found


def test_other_choices_at_a_place(server: str) -> None:
    text, translation = "The password is wrong.", "Das Kennwort ist falsch."
    (first, *_) = found = other_choices(server, text, translation, "Kennwort")
    assert first["text"] == "Passwort"
    assert all(each["translation"].startswith("Das ") for each in found)
    sent = {"text": text, "translation": translation, "start": 99}
    assert ask(server, "POST", "/v1/alternatives", sent).status == 400
    for start in (0, 3, 23, 24):  # a word, a space, punctuation, the end
        assert ask(server, "POST", "/v1/alternatives", {**sent, "start": start}).status == 200


def test_a_translation_that_is_far_too_long_has_no_other_choices(server: str) -> None:
    sent = {"text": "The password is wrong.", "translation": "x" * 3000, "start": 4}
    refused = ask(server, "POST", "/v1/alternatives", sent)
    assert refused.status == 400
    assert "3000 characters" in refused.content.decode()


@pytest.mark.parametrize("value", [[1], {"a": 1}, 1.5, [[]]])
def test_a_flag_that_is_none_is_refused(server: str, value: Any) -> None:
    for path, field in (
        ("/v1/translate", "signature"),
        ("/v2/translate", "show_billed_characters"),
        ("/v2/translate", "outline_detection"),
    ):
        sent = {"text": ["Hello."], "target_lang": "DE", field: value}
        if path == "/v1/translate":
            sent["text"] = "Hello."
        refused = ask(server, "POST", path, sent)
        assert refused.status == 400
        assert field in refused.content.decode()


def test_other_choices_may_change_what_stands_before(server: str) -> None:
    translation = "Sie hat gestern ein neues Auto gekauft."
    found = other_choices(server, "She bought a new car yesterday.", translation, "Auto")
    wagen = next(each for each in found if each["text"] == "Wagen")
    assert wagen["translation"] == "Sie hat gestern einen neuen Wagen gekauft."


@pytest.mark.parametrize(
    ("text", "translation", "word"),
    [
        ("The factory is closed today.", "Die Fabrik ist heute geschlossen.", "Fabrik"),
        ("The children are playing.", "Die Kinder spielen.", "Kinder"),
    ],
)
def test_choices_are_no_misspelt_forms_of_the_word(
    server: str, text: str, translation: str, word: str
) -> None:
    found = [each["text"] for each in other_choices(server, text, translation, word)]
    assert not [other for other in found if word.lower()[:4] in other.lower()]


def test_a_trace(server: str) -> None:
    reply = ask(server, "POST", "/v1/trace", {"text": "Hello.", "constraints": ["Hallo"]})
    assert reply.headers["content-type"].startswith("text/html")
    record = json.dumps({"text": "Hello."})
    assert ask(server, "POST", "/v1/trace", form={"record": record}).content[:9] == b"<!doctype"


def test_sentences_and_models(server: str) -> None:
    sent = {"text": "One. Two.\nThree."}
    found = ask(server, "POST", "/v1/sentences", sent).json["sentences"]
    assert [each["text"] for each in found] == ["One.", "Two.", "Three."]
    (model,) = ask(server, "GET", "/v1/models").json["models"]
    assert model["target"] == {"code": "de", "name": "German"}
    assert "files" not in model


def test_metrics_have_no_text(server: str) -> None:
    ask(server, "POST", "/translate", {"q": "Xylophone.", "source": "en", "target": "de"})
    shown = ask(server, "GET", "/metrics").content.decode()
    assert "lexbeam_requests_total" in shown
    assert "Xylophone" not in shown


def test_too_many_requests_are_told_to_wait(tmp_path: Path) -> None:
    limits = Limits(waiting_sentences=0, waiting_requests=0, patience=0.1)
    statuses: list[int] = []
    headers: list[dict[str, str]] = []

    def send(n: int) -> None:
        sent = {"q": f"The number is {n}.", "source": "en", "target": "de"}
        reply = ask(address, "POST", "/translate", sent)
        statuses.append(reply.status)
        if reply.status == 429:
            headers.append(reply.headers)

    with serving(tmp_path, limits=limits) as address:
        threads = [threading.Thread(target=send, args=(n,)) for n in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200, 429}
    assert all(int(each["retry-after"]) > 0 for each in headers)


def test_a_glossary_for_all_requests(tmp_path: Path) -> None:
    terms = tmp_path / "terms.csv"
    terms.write_text("computer,Rechner\n")
    with serving(tmp_path, glossaries=[terms]) as address:
        found = ask(address, "POST", "/v2/translate", HELLO).json["translations"][0]["text"]
        assert "Rechner" in found
        own = {**HELLO, "glossary": {"computer": "PC"}}
        found = ask(address, "POST", "/v2/translate", own).json["translations"][0]["text"]
        assert "PC" in found


def test_a_client_that_has_gone_leaves_the_queue(server: str) -> None:
    address = urlsplit(server)
    text = " ".join(f"Page {n} of the book has {n} words." for n in range(1500))
    body = json.dumps({"q": text, "source": "en", "target": "de"}).encode()
    head = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        _wait_for(server, lambda waiting: waiting > 100)
    _wait_for(server, lambda waiting: waiting == 0)


def _wait_for(server: str, is_so: Callable[[float], bool]) -> None:
    for _ in range(200):
        shown = ask(server, "GET", "/metrics").content.decode()
        (line,) = [x for x in shown.splitlines() if x.startswith("lexbeam_waiting_sentences ")]
        if is_so(float(line.split()[1])):
            return
        time.sleep(0.05)
    pytest.fail("it did not happen")


@pytest.mark.parametrize(
    ("text", "word", "wanted", "unwanted"),
    [
        ("The password of your account is wrong.", "Kennwort", {"Passwort"}, set[str]()),
        (
            "The password of your account is wrong.",
            "Kontos",
            set[str](),
            {"Kontokontos", "accounts"},
        ),
        ("Enter the address of the server.", "des", set[str](), {"desservers"}),
    ],
)
def test_other_choices_are_words(
    server: str, text: str, word: str, wanted: set[str], unwanted: set[str]
) -> None:
    translation = ask(server, "POST", "/v1/translate", {"text": text}).json["translation"]
    sent = {"text": text, "translation": translation, "start": translation.index(f"{word} ")}
    found = ask(server, "POST", "/v1/alternatives", sent).json["alternatives"]
    words = {each["text"] for each in found}
    assert wanted <= words
    assert not words & unwanted


def test_detecting_several_texts(server: str) -> None:
    german = {"q": ["Das ist ein Haus.", "Wo ist die Katze?"]}
    assert ask(server, "POST", "/detect", german).json[0]["language"] == "de"
    for wrong in (b"[]", b"[1]", b"{}"):
        assert ask(server, "POST", "/detect", b'{"q": ' + wrong + b"}").status == 400


def test_the_description_is_where_libretranslate_has_it(server: str) -> None:
    assert ask(server, "GET", "/spec").json == ask(server, "GET", "/openapi.json").json

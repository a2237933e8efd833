"""LibreTranslate's API, by its clients and by hand."""

from __future__ import annotations

from typing import Any

import pytest
from deep_translator import LibreTranslator  # type: ignore[import-untyped]
from libretranslatepy import LibreTranslateAPI  # type: ignore[import-untyped]

from helpers.http_client import ask

ENGLISH, GERMAN = "Restart the computer.", "Starten Sie den Computer neu."


def test_libretranslatepy(server: str) -> None:
    client = LibreTranslateAPI(server)
    assert client.translate(ENGLISH, "en", "de") == GERMAN
    assert client.detect("The weather is nice today.")[0]["language"] == "en"
    assert client.languages()[-1] == {"code": "en", "name": "English", "targets": ["de"]}


def test_libretranslatepy_with_a_key(locked_server: str) -> None:
    assert LibreTranslateAPI(locked_server, "good").translate(ENGLISH, "en", "de") == GERMAN


def test_deep_translator(server: str) -> None:
    client = LibreTranslator(
        source="en", target="de", custom_url=f"{server}/", api_key="any", use_free_api=False
    )
    assert client.translate(ENGLISH) == GERMAN


@pytest.mark.parametrize("as_form", [False, True])
def test_json_and_forms(server: str, as_form: bool) -> None:
    sent = {"q": ENGLISH, "source": "en", "target": "de"}
    reply = ask(server, "POST", "/translate", **{"form" if as_form else "body": sent})
    assert reply.json == {"translatedText": GERMAN}


def test_lists(server: str) -> None:
    sent = {"q": [ENGLISH, "", "🙂 42"], "source": "auto", "target": "de"}
    reply = ask(server, "POST", "/translate", sent)
    assert reply.json["translatedText"] == [GERMAN, "", "🙂 42"]
    assert len(reply.json["detectedLanguage"]) == 3


def test_alternatives_only_if_asked(server: str) -> None:
    text = "How are you?"
    sent: dict[str, Any] = {"q": text, "source": "en", "target": "de", "alternatives": 3}
    reply = ask(server, "POST", "/translate", sent)
    others = reply.json["alternatives"]
    assert 1 <= len(others) <= 3
    assert reply.json["translatedText"] not in others
    assert "detectedLanguage" not in reply.json
    assert ask(server, "POST", "/translate", {**sent, "alternatives": 21}).status == 400


def test_html(server: str) -> None:
    text = '<p>Select <a href="x?a=1&amp;b=2">a printer</a>.</p><p>&lt;Hello&gt;</p>'
    sent = {"q": text, "source": "en", "target": "de", "format": "html"}
    found = ask(server, "POST", "/translate", sent).json["translatedText"]
    assert '<a href="x?a=1&amp;b=2">einen Drucker</a>' in found
    assert found.count("<p>") == found.count("</p>") == 2
    assert "&lt;" in found


@pytest.mark.parametrize(
    "wrong",
    [
        {"q": ""},
        {"q": None},
        {"q": 5},
        {"q": [1]},
        {"source": None},
        {"target": "xx"},
        {"source": "fr"},
        {"format": "pdf"},
        {"alternatives": "many"},
        {"constraints": "Rechner"},
        {"constraints": [""]},
        {"settings": {"beam_size": 100000}},
        {"settings": {"nonsense": 1}},
        {"keep": ["(a+)+$"]},
        {"keep": [{}]},
    ],
)
def test_wrong_requests_are_refused_with_one_error(server: str, wrong: dict[str, Any]) -> None:
    sent = {"q": ENGLISH, "source": "en", "target": "de", **wrong}
    reply = ask(server, "POST", "/translate", sent)
    assert reply.status == 400
    assert isinstance(reply.json["error"], str)


def test_keys(locked_server: str) -> None:
    sent = {"q": "Hi.", "source": "en", "target": "de"}
    assert ask(locked_server, "POST", "/translate", sent).status == 400
    assert ask(locked_server, "POST", "/translate", {**sent, "api_key": "bad"}).status == 403
    assert ask(locked_server, "POST", "/translate?api_key=good", sent).status == 200
    for path in ("/languages", "/health", "/frontend/settings"):
        assert ask(locked_server, "GET", path).status == 200
    assert ask(locked_server, "GET", "/frontend/settings").json["keyRequired"] is True


def test_files(server: str) -> None:
    boundary = "x"
    lines = []
    for name, value in (("source", "en"), ("target", "de")):
        lines += [f"--{boundary}", f'Content-Disposition: form-data; name="{name}"', "", value]
    lines += [
        f"--{boundary}",
        'Content-Disposition: form-data; name="file"; filename="../../a.txt"',
        "Content-Type: text/plain",
        "",
        ENGLISH,
        f"--{boundary}--",
        "",
    ]
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    reply = ask(server, "POST", "/translate_file", "\r\n".join(lines).encode(), headers=headers)
    path = reply.json["translatedFileUrl"].removeprefix(server)
    fetched = ask(server, "GET", path)
    assert fetched.content.decode() == GERMAN
    assert ask(server, "HEAD", path).status == 200
    assert ask(server, "GET", path).content == fetched.content
    assert "attachment" in fetched.headers["content-disposition"]
    assert ask(server, "GET", "/download_file/..%2f..%2fetc%2fpasswd").status in (400, 404)


def test_what_browsers_ask(server: str) -> None:
    reply = ask(server, "OPTIONS", "/translate", headers={"Origin": "https://example.org"})
    assert reply.status == 204
    assert reply.headers["access-control-allow-origin"] == "*"
    assert ask(server, "GET", "/languages").headers["access-control-allow-origin"] == "*"
    for path in ("/languages", "/health", "/frontend/settings", "/"):
        assert ask(server, "HEAD", path).status == 200


def test_suggestions_are_off(server: str) -> None:
    assert ask(server, "POST", "/suggest", {}).status == 403

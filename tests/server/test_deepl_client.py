"""DeepL's own client for Python against our server."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import deepl
import pytest
from deepl.api_data import MultilingualGlossaryDictionaryEntries


@pytest.fixture(scope="module")
def client(server: str) -> Iterator[deepl.DeepLClient]:
    deepl.http_client.max_network_retries = 0
    client = deepl.DeepLClient("any", server_url=server, send_platform_info=False)
    yield client
    client.close()  # type: ignore[no-untyped-call]


def test_translates_a_text(client: deepl.DeepLClient) -> None:
    result = client.translate_text("Restart the computer.", target_lang="DE")
    assert isinstance(result, deepl.TextResult)
    assert result.text == "Starten Sie den Computer neu."
    assert result.detected_source_lang == "EN"
    assert result.billed_characters == len("Restart the computer.")


def test_translates_a_list_in_order_with_empty_texts(client: deepl.DeepLClient) -> None:
    results = client.translate_text(
        ["The password is wrong.", "", "Select a printer."], source_lang="en", target_lang="de"
    )
    assert isinstance(results, list)
    assert [each.text for each in results] == [
        "Das Kennwort ist falsch.",
        "",
        "Wählen Sie einen Drucker aus.",
    ]


def test_says_which_model_type_was_used(client: deepl.DeepLClient) -> None:
    result = client.translate_text("Hello.", target_lang="DE", model_type="quality_optimized")
    assert isinstance(result, deepl.TextResult)
    assert result.model_type_used == "quality_optimized"


def test_takes_constraints_as_extra_fields(client: deepl.DeepLClient) -> None:
    result = client.translate_text(
        "Restart the computer.",
        target_lang="DE",
        extra_body_parameters={"constraints": ["Rechner"], "avoid": ["neu"]},
    )
    assert isinstance(result, deepl.TextResult)
    assert "Rechner" in result.text
    assert "neu" not in result.text.split()


def test_takes_constraints_for_each_text(client: deepl.DeepLClient) -> None:
    results = client.translate_text(
        ["Restart the computer.", "Restart the computer."],
        target_lang="DE",
        extra_body_parameters={"constraints": [["Rechner"], []]},
    )
    assert isinstance(results, list)
    assert [("Rechner" in each.text) for each in results] == [True, False]


@pytest.mark.parametrize("target", ["XX", "FR"])
def test_refuses_a_language_without_model(client: deepl.DeepLClient, target: str) -> None:
    with pytest.raises(deepl.DeepLException, match=r"target_lang.*not supported"):
        client.translate_text("Hello.", target_lang=target)


def test_refuses_formality_that_no_model_has(client: deepl.DeepLClient) -> None:
    with pytest.raises(deepl.DeepLException, match="formality"):
        client.translate_text("Hello.", target_lang="DE", formality="more")
    client.translate_text("Hello.", target_lang="DE", formality="prefer_more")


def test_keeps_tags(client: deepl.DeepLClient) -> None:
    result = client.translate_text(
        'Select <b>a printer</b> from <x id="7"></x>.', target_lang="DE", tag_handling="xml"
    )
    assert isinstance(result, deepl.TextResult)
    assert result.text.count("<b>") == result.text.count("</b>") == 1
    assert result.text.count('<x id="7"></x>') == 1
    assert "Drucker</b>" in result.text


def test_ignored_tags_are_not_translated(client: deepl.DeepLClient) -> None:
    result = client.translate_text(
        "Open <keep>the file menu</keep> now.",
        target_lang="DE",
        tag_handling="xml",
        ignore_tags="keep",
    )
    assert isinstance(result, deepl.TextResult)
    assert "<keep>the file menu</keep>" in result.text


def test_lists_languages(client: deepl.DeepLClient) -> None:
    assert [(each.code, each.name) for each in client.get_source_languages()] == [("EN", "English")]
    (target,) = client.get_target_languages()
    assert (target.code, target.supports_formality) == ("DE", False)
    pairs = {(each.source_lang, each.target_lang) for each in client.get_glossary_languages()}
    assert ("EN", "DE") in {(a.upper(), b.upper()) for a, b in pairs}


def test_counts_characters(client: deepl.DeepLClient) -> None:
    before = client.get_usage().character
    client.translate_text("Hello.", target_lang="DE")
    after = client.get_usage().character
    assert after.count == (before.count or 0) + len("Hello.")
    assert after.limit == 10**12


def test_a_glossary_of_version_2(client: deepl.DeepLClient) -> None:
    entries = {"computer": "Rechner", "printer": "Druckgerät"}
    glossary = client.create_glossary("Terms", "en", "de", entries)
    assert glossary.ready
    assert glossary.entry_count == 2
    assert client.get_glossary(glossary.glossary_id).name == "Terms"
    assert client.get_glossary_entries(glossary) == entries
    assert glossary.glossary_id in [each.glossary_id for each in client.list_glossaries()]
    result = client.translate_text(
        "Restart the computer.", source_lang="EN", target_lang="DE", glossary=glossary
    )
    assert isinstance(result, deepl.TextResult)
    assert "Rechner" in result.text
    client.delete_glossary(glossary)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(glossary.glossary_id)


def test_a_glossary_for_languages_without_model(client: deepl.DeepLClient) -> None:
    glossary = client.create_glossary("Other", "de", "en", {"Hallo": "Hello"})
    assert (glossary.source_lang, glossary.target_lang) == ("DE", "EN")
    client.delete_glossary(glossary)


def test_glossaries_of_version_3(client: deepl.DeepLClient) -> None:
    glossary = client.create_multilingual_glossary(
        "Many",
        [
            MultilingualGlossaryDictionaryEntries("en", "de", {"computer": "Rechner"}),
            MultilingualGlossaryDictionaryEntries("de", "en", {"Rechner": "computer"}),
        ],
    )
    assert len(glossary.dictionaries) == 2
    found = client.get_multilingual_glossary_entries(glossary, "en", "de")
    assert str(found.dictionaries[0].entries) == "computer\tRechner"
    client.update_multilingual_glossary_dictionary(
        glossary, MultilingualGlossaryDictionaryEntries("en", "de", {"mouse": "Maus"})
    )
    client.update_multilingual_glossary_name(glossary, "Renamed")
    again = client.get_multilingual_glossary(glossary.glossary_id)
    assert again.name == "Renamed"
    assert {each.entry_count for each in again.dictionaries} == {1, 2}
    client.replace_multilingual_glossary_dictionary(
        glossary, MultilingualGlossaryDictionaryEntries("en", "de", {"computer": "Computer"})
    )
    result = client.translate_text(
        "Restart the computer.", source_lang="EN", target_lang="DE", glossary=glossary
    )
    assert isinstance(result, deepl.TextResult)
    assert result.text == "Starten Sie den Computer neu."
    client.delete_multilingual_glossary_dictionary(glossary, source_lang="de", target_lang="en")
    client.delete_multilingual_glossary(glossary)
    assert glossary.glossary_id not in [
        each.glossary_id for each in client.list_multilingual_glossaries()
    ]


def test_glossaries_from_csv(client: deepl.DeepLClient) -> None:
    glossary = client.create_glossary_from_csv("Csv", "en", "de", "mouse,Maus,en,de\n")
    assert client.get_glossary_entries(glossary) == {"mouse": "Maus"}
    client.delete_glossary(glossary)


def test_a_glossary_that_is_not_there(client: deepl.DeepLClient) -> None:
    with pytest.raises(deepl.DeepLException, match="Glossary"):
        client.translate_text(
            "Hello.", source_lang="EN", target_lang="DE", glossary=str(uuid.uuid4())
        )
    with pytest.raises(deepl.DeepLException):
        client.get_glossary("no id at all")


def test_a_text_that_is_a_term_is_its_translation(client: deepl.DeepLClient) -> None:
    glossary = client.create_glossary("Term", "en", "de", {"power button": "Netzschalter"})
    for text, expected in (
        ("power button", "Netzschalter"),
        (" power button\n", " Netzschalter\n"),
    ):
        result = client.translate_text(text, source_lang="EN", target_lang="DE", glossary=glossary)
        assert isinstance(result, deepl.TextResult)
        assert result.text == expected
    client.delete_glossary(glossary)


def test_documents(client: deepl.DeepLClient, tmp_path: Path) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("Restart the computer.\n\nThe password is wrong.\n")
    status = client.translate_document_from_filepath(source, target, target_lang="DE")
    assert status.done
    assert target.read_text().split("\n") == [
        "Starten Sie den Computer neu.",
        "",
        "Das Kennwort ist falsch.",
        "",
    ]


def test_html_documents_with_a_glossary(client: deepl.DeepLClient) -> None:
    glossary = client.create_glossary("Doc", "en", "de", {"computer": "Rechner"})
    page = b"<html><body><p>Restart the <b>computer</b>.</p></body></html>"
    out = io.BytesIO()
    client.translate_document(
        page, out, source_lang="EN", target_lang="DE", filename="a.html", glossary=glossary
    )
    assert b"<p>Starten Sie den <b>Rechner</b> neu.</p>" in out.getvalue()
    client.delete_glossary(glossary)


def test_documents_are_gone_after_download(client: deepl.DeepLClient) -> None:
    handle = client.translate_document_upload(b"Hello.", filename="a.txt", target_lang="DE")
    assert len(handle.document_id) == 32
    assert len(handle.document_key) == 64
    client.translate_document_wait_until_done(handle)
    client.translate_document_download(handle, io.BytesIO())
    with pytest.raises(deepl.DeepLException):
        client.translate_document_download(handle, io.BytesIO())
    with pytest.raises(deepl.DeepLException):
        client.translate_document_get_status(deepl.DocumentHandle(handle.document_id, "0" * 64))


def test_documents_of_unknown_kind(client: deepl.DeepLClient) -> None:
    with pytest.raises(deepl.DeepLException, match="Invalid file"):
        client.translate_document_upload(b"...", filename="a.exe", target_lang="DE")


def test_keys(locked_server: str) -> None:
    deepl.http_client.max_network_retries = 0
    with pytest.raises(deepl.AuthorizationException):
        deepl.DeepLClient("wrong", server_url=locked_server).translate_text(
            "Hello.", target_lang="DE"
        )
    good = deepl.DeepLClient("good", server_url=locked_server)
    good.translate_text("Hello.", target_lang="DE")
    small = deepl.DeepLClient("small", server_url=locked_server)
    small.translate_text("Hello.", target_lang="DE")
    assert small.get_usage().character.limit == 50
    with pytest.raises(deepl.QuotaExceededException):
        small.translate_text("Hello. " * 10, target_lang="DE")
    assert json.dumps(small.get_usage().character.count) == "6"


def test_each_key_has_glossaries_of_its_own(locked_server: str) -> None:
    good = deepl.DeepLClient("good", server_url=locked_server)
    small = deepl.DeepLClient("small", server_url=locked_server)
    glossary = good.create_glossary("Mine", "en", "de", {"mouse": "Maus"})
    assert small.list_glossaries() == []
    with pytest.raises(deepl.GlossaryNotFoundException):
        small.get_glossary(glossary.glossary_id)
    good.delete_glossary(glossary)

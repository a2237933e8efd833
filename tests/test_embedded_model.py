"""The model that comes with the package: the first thing that anybody sees."""

from __future__ import annotations

import pytest

import lexbeam
from lexbeam import loading

LARGEST = 15 * 2**20


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


def test_it_is_small_and_has_a_card() -> None:
    files = {path.name: path.stat().st_size for path in loading.EMBEDDED.iterdir()}
    assert sum(files.values()) <= LARGEST
    card = (loading.EMBEDDED / "MODEL_CARD.md").read_text(encoding="utf-8")
    for said in ("CC BY 2.0 FR", "CC BY 4.0", "MPL 2.0", "tatoeba-test", "docs-test"):
        assert said in card


def test_it_translates(translator: lexbeam.Translator) -> None:
    assert translator.info["source_language"] == "en"
    assert translator.info["target_language"] == "de"
    text = translator.translate("Click the button to open the file.").text
    assert text == "Klicken Sie auf die Schaltfläche, um die Datei zu öffnen."


@pytest.mark.parametrize(
    ("text", "constraints", "avoid"),
    [
        ("The house is big.", ["Gebäude"], []),
        ("Click the button to open the document.", ["Schaltfläche", "Datei"], ["Dokument"]),
        ("The server must be restarted.", ["neu gestartet"], []),
        ("I do not know him.", ["Herrn Müller", "überhaupt nicht", "Herrn Müller"], ["ihn"]),
        ("Open the menu.", ["Ελλάδα", "日本", "100 km/h"], []),
    ],
)
def test_constraints_are_met(
    translator: lexbeam.Translator, text: str, constraints: list[str], avoid: list[str]
) -> None:
    result = translator.translate(text, constraints, avoid)
    for report in result.constraints:
        assert report.span is not None
        start, end = report.span
        assert result.text[start:end] == report.text
    assert [report.text for report in result.constraints] == constraints
    assert not any(word in result.text.split() for word in avoid)

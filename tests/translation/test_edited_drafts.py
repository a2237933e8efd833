"""The free translation with terms in it."""

from __future__ import annotations

import pytest

import lexbeam


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


@pytest.mark.parametrize(
    ("text", "source", "term", "output"),
    [
        (
            "If true, this parameter is an output parameter for the task.",
            "task",
            "Aufgabe",
            "Wenn true, ist dieser Parameter ein Ausgabeparameter für die Aufgabe.",
        ),
        (
            "Database Mail updates these tables as each message is processed.",
            "message",
            "Meldung",
            "Datenbank-E-Mail aktualisiert diese Tabellen, wenn jede Meldung verarbeitet wird.",
        ),
        (
            "To see the list of deprecated features, click here.",
            "feature",
            "Merkmal",
            "Klicken Sie hier, um die Liste der veralteten Merkmale anzuzeigen.",
        ),
        (
            "Add packages to the instance library",
            "library",
            "Sammlung",
            "Hinzufügen von Paketen zur Instanzsammlung",
        ),
    ],
)
def test_a_term_replaces_one_word_and_what_agrees_with_it(
    translator: lexbeam.Translator, text: str, source: str, term: str, output: str
) -> None:
    glossary = lexbeam.Glossary.from_terms({source: term}, compounds=True, lemmas=True)
    result = translator.translate(text, glossary=glossary)
    assert result.text == output
    assert all(report.met for report in result.constraints)


def test_it_is_the_same_in_a_batch(translator: lexbeam.Translator) -> None:
    glossary = lexbeam.Glossary.from_terms({"task": "Aufgabe"}, compounds=True, lemmas=True)
    texts = [
        "Type a description of the File System task.",
        "An argument cannot include a space; otherwise, the task will not run.",
        "The file is open.",
    ]
    together = [each.text for each in translator.translate(texts, glossary=glossary)]
    assert together == [translator.translate(each, glossary=glossary).text for each in texts]

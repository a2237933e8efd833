"""Words before a noun that takes the place of another."""

from __future__ import annotations

import pytest

from lexbeam.text.german_agreement import agrees, is_possible


@pytest.mark.parametrize(
    ("before", "right", "wrong"),
    [
        ("Dieses Ereignis", "Dieser Vorfall", "Dieses Vorfall"),
        ("Dieses Ereignis", "Diesen Vorfall", "Diesem Vorfall"),
        ("auf ein Ereignis", "auf einen Vorfall", "auf ein Vorfall"),
        ("Für das neue Failover", "Für die neue Umschaltung", "Für das neue X-Umschaltung"),
        ("als neues großes Failover", "als neue große Umschaltung", "als neues großes Umschaltung"),
        ("von Benutzern", "von Anwendern", "von Anwender"),
        ("in Paketen", "in Softwarepaketen", "in Softwarepakete"),
        ("Ihrer Benutzer", "Ihrer Anwender", "Ihres Anwender"),
        ("eines aktuellen Benutzers", "eines aktuellen Anwenders", "eines aktuellen Anwender"),
        ("den Ordner", "das Verzeichnis", "den Verzeichnis"),
        ("im neuen Ordner", "im neuen Verzeichnis", "im neues Verzeichnis"),
        ("zur Datei", "zum Dokument", "zur Dokument"),
        ("keine neue Datei", "kein neues Dokument", "keine neue Dokument"),
        ("unsere alten Dateien", "unsere alten Dokumente", "unser altes Dokument"),
    ],
)  # fmt: skip
def test_words_agree_with_what_takes_the_place(before: str, right: str, wrong: str) -> None:
    *old_words, old_noun = before.split()
    for text, is_right in ((right, True), (wrong, False)):
        *words, noun = text.split()
        assert agrees(words, noun, old_words, old_noun) is is_right, text


def test_what_is_not_understood_agrees() -> None:
    assert agrees(["qwx"], "Xyz", ["qwx"], "Abc")
    assert agrees(["eine"], "Xyz", ["das"], "Qwertz")
    assert not agrees(["eine"], "Paket", ["der", "das"], "Benutzers")  # that was no German before


def test_words_may_agree_at_all() -> None:
    assert is_possible(["mit", "dem", "neuen"], "Programm")
    assert not is_possible(["mit", "der", "neuen"], "Programm")
    assert not is_possible(["mit", "neue"], "Programmen")
    assert is_possible(["Sie", "können"], "Programme")  # a verb, no adjective
    assert is_possible([], "Programm")

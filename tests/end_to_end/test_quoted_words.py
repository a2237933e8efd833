"""A word in quotation marks or brackets that is there anyway changes nothing when demanded."""

from __future__ import annotations

import re

import pytest

import lexbeam
from fuzz.text_problems import models

QUOTED = (
    '"Next"', "“Save”", "'Help'", "«Esc»", "„Enter“", "(Readme)", "[Login]", "{Paste}", "<OK>",
    "/Start", "-Undo", "»Zoom«", "`Beta`", "*Sync*", "„Backup”", "“Reset.”", "'\"Linux\"'",
    "[“Ctrl”]", '("Menu")', "‘Tab’", '"Enter"', "(Esc)", "“Login”", "[Save]",
)  # fmt: skip
FRAMES = ("Click the {} button.", "Select {} to continue.", "Choose {} from the list.")
FEWEST = 40
"""Of the 72 texts, so many have the word in their free translation with any of the models."""


@pytest.mark.parametrize("name", sorted(models()))
def test_a_quoted_word_that_is_there_anyway_changes_nothing(name: str) -> None:
    folder = models()[name]
    translator = lexbeam.load() if folder is None else lexbeam.load(folder)
    texts = [frame.format(quoted) for quoted in QUOTED for frame in FRAMES]
    words = [re.sub(r"\W", "", quoted) for quoted in QUOTED for _ in FRAMES]
    free = [found.text for found in translator.translate(texts)]
    demanded = translator.translate(texts, [[word] for word in words])
    there = 0
    for word, text, found in zip(words, free, demanded, strict=True):
        assert found.constraints[0].met
        if re.search(rf"(?<!\w){word}(?!\w)", text):
            there += 1
            assert found.text == text
    assert there >= FEWEST

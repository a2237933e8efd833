from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import SettingError
from lexbeam.translation.alignment import TokenText, link_words, pharaoh, words_of
from lexbeam.translation.keep import compile_patterns, find_kept
from lexbeam.translation.kept_spaces import respace
from lexbeam.translation.records import read_request, write_translation
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Link, Translation
from lexbeam.translation.translator import Translator

TEXT = "The cat sat on the mat."
LONG = "  The cat sat on the mat. The dog\nsat near the old house."


def linked(source: str, translation: Translation) -> list[tuple[str, str]]:
    assert translation.alignment is not None
    return [
        (source[slice(*link.source)], translation.text[slice(*link.target)])
        for link in translation.alignment
    ]


def test_words_of_a_text() -> None:
    text = "Don't stop, é"
    assert [text[slice(*word)] for word in words_of(TokenText(text, []))] == [
        *("Don", "'", "t", "stop", ",", "é")
    ]


def test_a_token_is_never_cut() -> None:
    text = "中国的经济 U.S."
    words = words_of(TokenText(text, [(0, 2), (2, 3), (3, 5), (6, 10)]))
    assert [text[slice(*word)] for word in words] == ["中国", "的", "经济", "U.S."]


def test_white_space_is_never_in_a_word() -> None:
    assert words_of(TokenText("a b", [(0, 3)])) == [(0, 1), (2, 3)]
    assert words_of(TokenText(" \n", [])) == []


def test_tokens_of_a_word_are_pooled() -> None:
    source = TokenText("font size", [(0, 4), (5, 9), (9, 9)])
    output = TokenText("Schriftgröße", [(0, 7), (7, 9), (9, 12)])
    attention = np.array([[0.9, 0.0, 0.1], [0.2, 0.8, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert link_words(source, output, attention) == [
        Link((0, 4), (0, 12)),
        Link((5, 9), (0, 12)),
    ]


def test_a_continued_word_inherits_the_source_of_its_beginning() -> None:
    source = TokenText("a b", [(0, 1), (2, 3)])
    output = TokenText("Haus x", [(0, 2), (2, 4), (5, 6)])
    attention = np.array([[1.0, 0.0], [0.1, 0.1], [0.0, 1.0]])
    assert link_words(source, output, attention) == [
        Link((0, 1), (0, 4)),
        Link((2, 3), (5, 6)),
    ]


def test_a_word_without_a_clear_source_has_no_link() -> None:
    source = TokenText("a b c d e f", [(i, i + 1) for i in range(0, 11, 2)])
    output = TokenText("x", [(0, 1)])
    assert link_words(source, output, np.full((2, 6), 1 / 6)) == []
    assert link_words(source, output, np.full((2, 6), np.nan)) == []


@given(
    st.text("ab ,中", max_size=8),
    st.text("ab ,中", max_size=8),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_any_shape_of_attention(source: str, output: str, rows: int, columns: int) -> None:
    sides = [
        TokenText(text, [(i, i + 1) for i in range(len(text))], 5) for text in (source, output)
    ]
    links = link_words(sides[0], sides[1], np.full((rows, columns), 0.5))
    words = [{(s + 5, e + 5) for s, e in words_of(side)} for side in sides]
    assert {link.source for link in links} <= words[0]
    assert {link.target for link in links} <= words[1]


def test_every_word_of_a_repeated_text_comes_from_itself(attending_translator: Translator) -> None:
    result = attending_translator.translate(TEXT, alignments=True)
    assert result.text == TEXT
    assert linked(TEXT, result) == [
        (word, word) for word in ["The", "cat", "sat", "on", "the", "mat", "."]
    ]


def test_offsets_are_those_of_the_whole_texts(attending_translator: Translator) -> None:
    result = attending_translator.translate(LONG, alignments=True)
    pairs = linked(LONG, result)
    assert [source for source, _ in pairs] == [output for _, output in pairs]
    assert " ".join(source for source, _ in pairs) == (
        "The cat sat on the mat . The dog sat near the old house ."
    )


def test_unknown_characters_do_not_shift_the_links(attending_translator: Translator) -> None:
    text = "The Ж and the cat."
    result = attending_translator.translate(text, ["Ж", "the"], alignments=True)
    assert [pair for pair in linked(text, result) if pair[0] != pair[1]] == []
    assert ("Ж", "Ж") in linked(text, result)
    assert ("cat", "cat") in linked(text, result)


def test_every_one_of_the_best_has_its_own(attending_translator: Translator) -> None:
    best = attending_translator.translate(TEXT, ["gato"], alignments=True, nbest=3).nbest
    assert len(best) == 3
    assert all(each.alignment and each.alignment[-1].target[1] <= len(each.text) for each in best)


def test_spaces_around_what_is_kept_move_the_links() -> None:
    text = "The <b> cat </b> sat{x}on."
    links = [
        Link((0, 3), (0, 3)),
        Link((7, 10), (8, 11)),
        Link((4, 6), (20, 23)),
        Link((1, 2), (23, 25)),
    ]
    kept = find_kept("The <b>cat</b> sat {x} on.", compile_patterns(["markup", "placeholders"]))
    moved = respace(Translation(text, 0.0, alignment=links), kept)
    assert moved.text == "The <b>cat</b> sat {x} on."
    assert moved.alignment is not None
    assert [moved.text[slice(*link.target)] for link in moved.alignment] == [
        "The",
        "cat",
        "{x}",
        "on",
    ]
    assert [link.source for link in moved.alignment] == [link.source for link in links]


def test_only_on_request(attending_translator: Translator, translator: Translator) -> None:
    assert attending_translator.translate(TEXT).alignment is None
    assert "alignment" not in attending_translator.translate(TEXT).to_dict()
    assert attending_translator.translate("", alignments=True).alignment == []
    with pytest.raises(SettingError, match="can't say which source words"):
        translator.translate(TEXT, alignments=True)


def test_records_ask_for_it_and_have_it(attending_translator: Translator) -> None:
    record = {"text": "The cat", "settings": {"alignments": True}}
    (result,) = attending_translator.translate_each([read_request(record, TextRequest(""))])
    assert isinstance(result, Translation)
    written = json.loads(json.dumps(write_translation(record, result)))
    assert written["alignment"] == [
        {"source": [0, 3], "target": [0, 3]},
        {"source": [4, 7], "target": [4, 7]},
    ]


def test_pharaoh_numbers_words_between_white_space() -> None:
    links = [Link((5, 7), (0, 3)), Link((0, 3), (4, 6)), Link((3, 4), (7, 8)), Link((5, 7), (2, 6))]
    assert pharaoh("The, xy", "abc de .", links) == "0-1 0-2 1-0 1-1"
    assert pharaoh("", "", []) == ""


def test_the_report_says_what_a_constraint_translates(attending_translator: Translator) -> None:
    glossary = Glossary.from_terms({"mat": "tapete"})
    constraints: list[Any] = ["The", {"text": "gato", "source": "cat"}]
    result = attending_translator.translate(TEXT, constraints, glossary=glossary)
    sources = [[TEXT[slice(*span)] for span in report.sources] for report in result.constraints]
    assert sources == [[], ["cat"], ["mat"]]
    assert [report.to_dict().get("sources") for report in result.constraints] == [
        *(None, [[4, 7]], [[19, 22]])
    ]

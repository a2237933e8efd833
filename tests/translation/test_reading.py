from __future__ import annotations

import pytest

from lexbeam.models.formats import load_path
from lexbeam.models.loading import EMBEDDED
from lexbeam.text.spelling import SourceText
from lexbeam.translation.reading import Reading, TermInSource

TEXT = "The font size of the application."


@pytest.fixture(scope="module")
def source() -> SourceText:
    return load_path(EMBEDDED, 1).source_text


def term(words: str, text: str) -> TermInSource:
    start = TEXT.index(words)
    return TermInSource(start, start + len(words), text)


def test_without_terms_a_sentence_is_read_as_it_is(source: SourceText) -> None:
    reading = Reading.of(TEXT, (), source)
    assert reading.tokens == tuple(source.encode(TEXT))
    assert reading.spans == source.token_spans(TEXT)


def test_terms_are_read_in_place_of_their_sources(source: SourceText) -> None:
    terms = (term("font size", "Schriftgrad"), term("application", "Programm"))
    reading = Reading.of(TEXT, terms, source)
    assert reading.tokens == tuple(source.encode("The Schriftgrad of the Programm."))


def test_tokens_of_terms_stand_where_their_sources_do(source: SourceText) -> None:
    terms = (term("font size", "Schriftgrad"), term("application", "Programm"))
    reading = Reading.of(TEXT, terms, source)
    assert len(reading.spans) == len(reading.tokens)
    words = [TEXT[start:end] for start, end in reading.spans]
    assert "".join(dict.fromkeys(words)) == "Thefont sizeoftheapplication."
    assert words[-1] == ""  # the end of sentence


def test_a_term_may_begin_or_be_the_sentence(source: SourceText) -> None:
    reading = Reading.of("Settings", (TermInSource(0, 8, "Einstellungen"),), source)
    assert reading.tokens == tuple(source.encode("Einstellungen"))
    assert set(reading.spans[:-1]) == {(0, 8)}

from __future__ import annotations

from lexbeam.text.word_masks import word_masks


def test_tokens_at_the_edges_of_words() -> None:
    written = [" Haus", "tür", ".", "", "a.", "東", "?"]
    boundary, closing = word_masks(written, vocabulary_size=9, unknown="?")
    assert boundary.tolist() == [True, False, True, False, False, True, False, False, False]
    assert closing.tolist() == [False, False, True, False, True, True, False, False, False]

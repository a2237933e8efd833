"""The words of a free translation that terms replace."""

from __future__ import annotations

from lexbeam.translation.replaced_words import _place, _word_for


def test_the_word_that_attends_most_is_replaced() -> None:
    words = ["die", "neue", "Fabrik", "Stadt"]
    assert _word_for([0.9, 0.0, 0.8, 0.4], words, is_noun=True) == 2
    assert _word_for([0.9, 0.0, 0.8, 0.4], words, is_noun=False) == 0
    assert _word_for([0.9, 0.0, 0.2, 0.2], words, is_noun=True) is None


def test_a_place_has_the_words_before_it_and_what_is_joined_to_it() -> None:
    pieces = ["▁In", "▁die", "▁neue", "▁Web", "-", "Fabrik", "▁gehen"]
    words = [(i, i + 1) for i in range(len(pieces))]
    place = _place(0, pieces, words, 5)
    assert (place.start, place.head, place.word, place.end) == (1, 3, 5, 6)

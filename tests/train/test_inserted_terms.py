from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lexbeam.models.loading import EMBEDDED
from lexbeam.train.alignment import Alignments
from lexbeam.train.inserted_terms import TermInsertion, part_of, phrase_pair
from lexbeam.train.vocabulary import SentencePieces
from lexbeam.train.words import PieceWords

VOCABULARY = SentencePieces(EMBEDDED / "source.spm")
SOURCES = [
    "You can change the font size in the preferences dialog of the programs.",
    "The settings of the application were saved.",
]
TARGETS = [
    "Sie können die Schriftgröße im Einstellungsdialog der Programme ändern.",
    "Die Einstellungen der Anwendung wurden gespeichert.",
]
BEGINNING = [(0, 0), (1, 1), (2, 8), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4), (8, 5), (9, 5)]
LINKS = [
    [*BEGINNING, (11, 6), (12, 7), (13, 9)],
    [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6)],
]


def alignments(copies: int = 1, off: int = 0) -> Alignments:
    """Make the links of the pairs, so many times; ``off`` makes the numbers of words wrong."""
    words = PieceWords(VOCABULARY.pieces)
    encoded = zip(VOCABULARY.encode(SOURCES), VOCABULARY.encode(TARGETS), strict=True)
    counts = [(len(words.split(s)) + off, len(words.split(t))) for s, t in encoded]
    links = [np.array(each, np.int16) for each in LINKS] * copies
    starts = np.concatenate([[0], np.cumsum([len(each) for each in links])])
    return Alignments(starts, np.concatenate(links), np.array(counts * copies, np.int32))


def insert(share: float = 0.999, seed: int = 1, language: str = "de", off: int = 0) -> list[str]:
    insertion = TermInsertion(VOCABULARY, alignments(off=off), share, language)
    encoded = VOCABULARY.encode(SOURCES), VOCABULARY.encode(TARGETS)
    rng = np.random.default_rng(seed)
    return VOCABULARY.decode(insertion.insert(*encoded, [(0,), (1,)], rng))


def all_inserted(language: str = "de") -> set[str]:
    return {text for seed in range(60) for text in insert(seed=seed, language=language)}


def test_translations_take_the_place_of_source_words() -> None:
    found = all_inserted()
    assert "The settings of the Anwendung were saved." in found
    assert "The Einstellungen of the application were saved." in found


def test_a_compound_takes_the_place_of_both_its_words() -> None:
    found = all_inserted()
    assert any("the Schriftgröße in the" in text for text in found)
    assert any("the Einstellungsdialog of the" in text for text in found)
    assert not any("font Schriftgröße" in text or "Schriftgröße size" in text for text in found)


def test_some_terms_are_in_their_dictionary_form() -> None:
    assert any(text.startswith("The Einstellung of") for text in all_inserted())


def test_without_a_dictionary_terms_are_as_they_stand_in_the_target() -> None:
    found = all_inserted(language="xx")
    assert any(text.startswith("The Einstellungen of") for text in found)
    assert not any(text.startswith("The Einstellung of") for text in found)


def test_function_words_stay() -> None:
    for text in all_inserted():
        assert text.startswith(("You can", "The "))
        assert not {"die", "der", "im", "Sie", "Die"} & set(text.split())


def test_nothing_changes_without_a_share_or_without_the_words_of_the_pair() -> None:
    assert insert(share=0.0) == SOURCES
    assert insert(off=1) == SOURCES


def test_the_same_seed_gives_the_same_terms() -> None:
    assert insert(seed=5) == insert(seed=5)


def test_the_share_is_one_of_examples() -> None:
    copies = 300
    insertion = TermInsertion(VOCABULARY, alignments(copies), 0.4, "de")
    sources, targets = VOCABULARY.encode(SOURCES * copies), VOCABULARY.encode(TARGETS * copies)
    parts = [(i,) for i in range(2 * copies)]
    inserted = insertion.insert(sources, targets, parts, np.random.default_rng(3))
    changed = sum(old != new for old, new in zip(sources, inserted, strict=True))
    # of the examples that are drawn some have no word that is
    assert 0.25 * len(parts) < changed < 0.4 * len(parts)


@pytest.mark.parametrize(
    ("word", "pair"),
    [(1, (1, 2, 1, 2)), (4, (4, 6, 3, 4)), (5, (4, 6, 3, 4)), (10, None)],
)
def test_a_pair_is_linked_to_itself_alone(word: int, pair: tuple[int, ...] | None) -> None:
    assert phrase_pair(np.array(LINKS[0], np.int16), word) == pair


def test_a_pair_is_no_longer_than_a_few_words() -> None:
    assert phrase_pair(np.array([(0, 0), (3, 0)], np.int16), 0) is None
    assert phrase_pair(np.array([(0, 0), (0, 2)], np.int16), 0) is None
    # the second target word has another source, far off
    assert phrase_pair(np.array([(0, 0), (0, 1), (5, 1)], np.int16), 0) is None


def test_parts_of_compounds_are_frequent_translations_of_a_word() -> None:
    seen = Counter({"Datei": 9, "Akte": 4})
    assert part_of("Protokolldatei", seen, is_head=True) == "Datei"
    assert part_of("Dateisystem", seen, is_head=False) == "Datei"
    assert part_of("Dateisystem", seen, is_head=True) == ""
    assert part_of("Datei", seen, is_head=True) == ""
    assert part_of("Protokolldatei", Counter({"Datei": 1}), is_head=True) == ""
    assert part_of("Protokolldatei", None, is_head=True) == ""

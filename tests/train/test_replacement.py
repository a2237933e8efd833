from __future__ import annotations

import numpy as np

from lexbeam.text.vocabulary import SPACE
from lexbeam.train.alignment import Alignments
from lexbeam.train.replacement import WordReplacement

PIECES = [
    "</s>",
    *(SPACE + word for word in ("the", "file", "is", "open", "data")),
    *(SPACE + word for word in ("die", "Datei", "Datenbank", "ist", "offen", "Azure")),
    "base",
    ".",
    SPACE,
]
ID = {piece.replace(SPACE, ""): number for number, piece in enumerate(PIECES)}


def ids(text: str) -> list[int]:
    return [ID[word] for word in text.split()]


def alignments(*pairs: tuple[list[tuple[int, int]], int, int]) -> Alignments:
    """Make alignments of links and numbers of words."""
    lengths = [len(links) for links, *_ in pairs]
    return Alignments(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.array([link for links, *_ in pairs for link in links], np.int16),
        np.array([words for _, *words in pairs], np.int32),
    )


SOURCES = [ids("the file is open ."), ids("the data base is open .")]
TARGETS = [ids("die Datei ist offen ."), ids("die Datenbank ist offen .")]
ONE_TO_ONE = ([(i, i) for i in range(5)], 5, 5)


def replace(links: Alignments, share: float = 0.999, seed: int = 1) -> list[list[int]]:
    replacement = WordReplacement(PIECES, links, share)
    return replacement.replace(SOURCES, TARGETS, [(0,), (1,)], np.random.default_rng(seed))


def test_words_change_places_with_all_their_pieces() -> None:
    found = {
        tuple(map(tuple, replace(alignments(ONE_TO_ONE, ONE_TO_ONE), seed=s))) for s in range(9)
    }
    swapped = tuple(ids("the data base is open .")), tuple(ids("the file is open ."))
    assert found == {tuple(map(tuple, SOURCES)), swapped}


def test_a_noun_is_not_replaced_by_another_word() -> None:
    # offen, which is small, is all that could take the place of Datei
    only_open = ([(3, 3)], 5, 5)
    only_noun = ([(1, 1)], 5, 5)
    assert replace(alignments(only_noun, only_open)) == SOURCES


def test_what_has_no_clear_translation_stays() -> None:
    several = ([(1, 1), (1, 2), (3, 3)], 5, 5)
    shared = ([(1, 1), (2, 1), (3, 3)], 5, 5)
    for links in (several, shared):
        for seed in range(9):
            found = replace(alignments(links, ONE_TO_ONE), seed=seed)
            assert found[0][1] == ID["file"]


def test_short_words_and_punctuation_stay() -> None:
    for seed in range(9):
        first, second = replace(alignments(ONE_TO_ONE, ONE_TO_ONE), seed=seed)
        assert (first[0], first[-3], first[-1]) == (ID["the"], ID["is"], ID["."])
        assert (second[0], second[-3], second[-1]) == (ID["the"], ID["is"], ID["."])


def test_a_name_that_is_copied_stays() -> None:
    sources, targets = (
        [ids(f"{words} {name}") for name in ("Azure", "data base", "file", "data base")]
        for words in ("the", "die")
    )
    targets[1:] = [ids("die Datenbank"), ids("die Datei"), ids("die Datenbank")]
    links = alignments(*[([(0, 0), (1, 1)], 2, 2)] * 4)
    replacement = WordReplacement(PIECES, links, 0.999)
    for seed in range(9):
        rng = np.random.default_rng(seed)
        replaced = replacement.replace(sources, targets, [(i,) for i in range(4)], rng)
        assert replaced[0] == sources[0]
        assert sum(new == sources[0] for new in replaced) == 1


def test_an_example_with_other_words_than_its_pair_stays() -> None:
    assert replace(alignments((ONE_TO_ONE[0], 6, 5), ONE_TO_ONE))[0] == SOURCES[0]


def test_the_share_says_how_many() -> None:
    assert replace(alignments(ONE_TO_ONE, ONE_TO_ONE), share=0.0) == SOURCES
    sources, targets = SOURCES * 500, TARGETS * 500
    links = alignments(*[ONE_TO_ONE, ONE_TO_ONE] * 500)
    replacement = WordReplacement(PIECES, links, 0.2)
    parts = [(i,) for i in range(1000)]
    replaced = replacement.replace(sources, targets, parts, np.random.default_rng(2))
    changed = sum(old != new for old, new in zip(sources, replaced, strict=True))
    # a fifth of the nouns is drawn, and half of these come upon one of the other kind
    assert 60 < changed < 140
    assert sources == SOURCES * 500

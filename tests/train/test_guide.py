from __future__ import annotations

import numpy as np
import pytest

from lexbeam.train.alignment import Alignments, concatenate
from lexbeam.train.batches import EncodedPairs
from lexbeam.train.guide import Guide
from lexbeam.train.words import PieceWords

PIECES = ["</s>", "<unk>", "▁the", "▁hou", "se", ".", "▁das", "▁Haus", "▁", "(", "<0xE2>", "'s"]
END = 0
THE, HOU, SE, DOT, DAS, HAUS, SPACE, OPEN, BYTE, HIS = range(2, 12)
PAIR = [THE, HOU, SE, DOT], [DAS, HAUS, DOT]


def make_alignments() -> Alignments:
    """Two pairs: words in order; and nothing but the second word, to the first."""
    links = np.array([[0, 0], [1, 1], [2, 2], [1, 0]], np.int16)
    return Alignments(np.array([0, 3, 4]), links, np.array([[3, 3], [3, 3]], np.int32))


def make_guide(
    parts: list[tuple[int, ...]], sides: list[tuple[list[int], list[int]]]
) -> np.ndarray:
    guide = Guide(PieceWords(PIECES), make_alignments())
    pairs = EncodedPairs([s for s, _ in sides], [t for _, t in sides], 20, guide, parts)
    found = pairs.batch(np.arange(len(pairs))).guide
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([THE, HOU, SE, DOT], ["the", "house", "."]),
        ([SPACE, OPEN, SE, HAUS, HIS], ["(", "se", "haus's"]),
        ([SPACE, BYTE, SE, DOT, DOT], ["<0xe2>se", ".", "."]),
        ([SE, SPACE, THE], ["se", "▁", "the"]),
        ([], []),
    ],
)
def test_words_are_made_of_pieces(ids: list[int], words: list[str]) -> None:
    assert PieceWords(PIECES).split(ids) == words


def test_pieces_share_the_links_of_their_words_and_the_end_looks_at_the_end() -> None:
    (matrix,) = make_guide([(0,)], [PAIR])
    expected = np.zeros((4, 5))
    expected[0, 0] = expected[2, 3] = expected[3, 4] = 1
    expected[1, [1, 2]] = 0.5
    np.testing.assert_array_equal(matrix, expected)


def test_words_without_a_link_and_padding_are_left_alone() -> None:
    long, short = make_guide([(0, 0), (1,)], [([*PAIR[0] * 2], [*PAIR[1] * 2]), PAIR])
    assert long.sum() == 7
    np.testing.assert_array_equal(short.sum(axis=1), [1, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(short[0, :5], [0, 0.5, 0.5, 0, 0])


def test_joined_pairs_keep_their_links() -> None:
    (matrix,) = make_guide([(0, 1)], [([*PAIR[0] * 2], [*PAIR[1] * 2])])
    (alone,) = make_guide([(0,)], [PAIR])
    np.testing.assert_array_equal(matrix[:3, :4], alone[:3, :4])
    np.testing.assert_array_equal(matrix[3, [5, 6]], [0.5, 0.5])
    assert not matrix[:3, 4:].any()
    assert not matrix[4:6].any()
    assert matrix[6, 8] == 1


def test_an_example_with_other_words_than_its_pairs_goes_without() -> None:
    swapped = [THE, HOU, DOT, SE, DOT], PAIR[1]
    assert not make_guide([(0,)], [swapped]).any()


def test_corpora_are_numbered_through() -> None:
    both = concatenate([make_alignments(), make_alignments()])
    assert both.of(3).tolist() == [[1, 0]]
    assert both.of(2).tolist() == make_alignments().of(0).tolist()
    joined = both.join((3, 2), (6, 6))
    assert joined is not None
    assert joined.tolist() == [[1, 0], [3, 3], [4, 4], [5, 5]]

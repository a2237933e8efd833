from __future__ import annotations

import pytest

from lexbeam.text.shown_phrases import Placed, ShownPhrase, Spelling, assign_tokens

UNKNOWN = 1
PIECES = {1: "<unk>", 2: "▁", 3: "▁a", 4: "▁b", 5: ".", 6: "c"}


def unknown(character: str, begins: bool = False) -> Spelling:
    return Spelling((2, UNKNOWN), character, pieces=("▁", character), begins=begins)


def spans(tokens: list[int], *phrases: ShownPhrase) -> list[list[tuple[int, int]] | None]:
    found = assign_tokens(tokens, [PIECES[token] for token in tokens], phrases)
    return [None if each is None else [placed[:2] for placed in each] for each in found]


def phrase(*parts: Spelling, **fields: bool | int) -> ShownPhrase:
    return ShownPhrase(tuple((part,) for part in parts), **fields)  # type: ignore[arg-type]


def test_each_phrase_gets_tokens_of_its_own() -> None:
    euro, yen = phrase(unknown("€")), phrase(unknown("¥"))
    assert spans([2, 1, 3, 2, 1], euro, yen) == [[(0, 2)], [(3, 5)]]
    assert spans([2, 1, 3], euro, yen) == [[(0, 2)], None]
    assert spans([2, 1, 3], euro, euro) == [[(0, 2)], None]


def test_equal_chains_follow_one_another() -> None:
    """The text is searched for one after the other."""
    chain = phrase(unknown("€"), Spelling((4,), "b"))
    assert spans([2, 1, 2, 1, 4, 4], chain, chain) == [[(0, 2), (4, 5)], None]
    assert spans([2, 1, 4, 2, 1, 4], chain, chain) == [[(0, 2), (2, 3)], [(3, 5), (5, 6)]]


def test_what_ends_the_output_is_at_its_end() -> None:
    end = phrase(unknown("€"), at_end=True)
    assert spans([2, 1, 3, 2, 1], end, phrase(unknown("¥"))) == [[(3, 5)], [(0, 2)]]
    assert spans([2, 1, 3], end) == [None]


def test_what_begins_the_output_keeps_its_tokens() -> None:
    begun = phrase(unknown("→", begins=True))
    chain = phrase(unknown("€"), unknown("¥"))
    assert spans([2, 1, 3, 2, 1], chain, begun) == [None, [(0, 2)]]
    assert spans([2, 1, 2, 1, 2, 1], chain, begun) == [[(2, 4), (4, 6)], [(0, 2)]]


def test_an_assignment_of_all_is_found_if_there_is_one() -> None:
    """The first that fits would take what another needs."""
    any_of = ShownPhrase(((unknown("€"), Spelling((3,), "a")),))
    chain = phrase(unknown("¥"), Spelling((4,), "b"))
    assert spans([2, 1, 4, 3], any_of, chain) == [[(3, 4)], [(0, 2), (2, 3)]]


@pytest.mark.parametrize(("within", "expected"), [(0, None), (1, [(0, 2), (3, 5)])])
def test_words_between_parts_are_counted(within: int, expected: object) -> None:
    chain = phrase(unknown("€"), unknown("¥"), within=within)
    assert spans([2, 1, 3, 2, 1], chain) == [expected]


def test_what_is_rewritten_is_not_what_it_was() -> None:
    """Where *a* is rewritten, *a.* is no longer there."""
    rewritten = phrase(Spelling((3,), "ª", written="a"))
    plain = phrase(Spelling((3, 5), "a."))
    assert None in spans([3, 5], rewritten, plain)
    assert spans([3, 5, 3], rewritten, plain) == [[(2, 3)], [(0, 2)]]


def test_a_phrase_without_space_stands_behind_punctuation_only() -> None:
    bare = Spelling((6,), "ç", spaced=False, written="c")
    assert bare.apart
    assert spans([3, 6], phrase(bare)) == [None]
    assert spans([5, 6], phrase(bare)) == [[(1, 2)]]


def test_a_word_that_goes_on_is_the_last_choice() -> None:
    one = phrase(Spelling((3,), "ª", written="a"))
    assert spans([3, 6, 3], one) == [[(2, 3)]]
    assert spans([3, 6], one) == [[(0, 1)]]
    assert Placed(0, 1, one.parts[0][0]).end == 1

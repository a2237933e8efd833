from __future__ import annotations

import pytest

from lexbeam.text.token_offsets import spans_between, token_offsets, tokens_in


@pytest.mark.parametrize(
    ("text", "pieces", "shown"),
    [
        ("Click it.", ["▁Click", "▁it", "."], ["Click", "it", "."]),
        ("a  “Next”", ["▁a", "▁", "“", "N", "ext", "”"], ["a", "", "“", "N", "ext", "”"]),
        ("ﬁle ½ x", ["▁fi", "le", "▁1", "⁄2", "▁x"], ["ﬁ", "le", "½", "½", "x"]),
        ("ñ x", ["▁", "<0xC3>", "<0xB1>", "▁x"], ["", "ñ", "ñ", "x"]),
        ("", [], []),
    ],
)
def test_pieces_are_found_in_their_text(text: str, pieces: list[str], shown: list[str]) -> None:
    spans = token_offsets(text, pieces)
    assert [text[start:end] for start, end in spans] == shown


def test_tokens_of_a_word() -> None:
    spans = token_offsets("The factory is big.", ["▁The", "▁fact", "ory", "▁is", "▁big", "."])
    assert tokens_in(spans, (4, 11)) == [1, 2]
    assert tokens_in(spans, (0, 3)) == [0]
    assert tokens_in(spans, (3, 4)) == []


def test_spans_between_ends() -> None:
    assert spans_between("ab c", [1, 2, 4]) == [(0, 1), (1, 2), (3, 4)]
    assert spans_between("é c", [1, 2, 1, 3, 9]) == [(0, 1), (1, 1), (1, 1), (2, 3), (3, 3)]
    assert spans_between("a", [-1, 1]) == [(0, 0), (0, 1)]
    assert spans_between("", []) == []

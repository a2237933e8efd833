from __future__ import annotations

import json
import sys

import pytest

from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.text.moses_vocabulary import CODES, PIECES, UNKNOWN, MosesBpe

AWKWARD = [
    'He said: "no house".',
    "It's a city; don't, can't!",
    "New York-City (the old one) is 10.5 km of 1,000.",
    "Das Haus hat eine Haustür, für Größe und Straße.",
    "„Haus“, so 'a b' (c)... yes?",
    "A.B. sat, e.g. 5-10 or so",
]


@pytest.mark.parametrize("text", AWKWARD)
def test_text_comes_back_as_it_was(moses: MosesBpe, text: str) -> None:
    pieces = moses.encode(text, out_type=str)
    assert moses.decode(pieces) == text
    ids = moses.encode(text)
    assert moses.id_to_piece(ids) == [
        piece if moses.piece_to_id(piece) != UNKNOWN else "<unk>" for piece in pieces
    ]


def test_pieces_show_where_words_begin(moses: MosesBpe) -> None:
    pieces = moses.encode("Haus hausen, Haustor", out_type=str)
    assert [piece for piece in pieces if piece.startswith("▁")][2] == "▁,"
    assert sum(piece.startswith("▁") for piece in pieces) == 4
    assert "".join(pieces) == "▁Haus▁hausen▁,▁Haustor"
    assert len(pieces) > 4


def test_text_is_read_as_it_is_seen(moses: MosesBpe) -> None:
    assert moses.encode("Ha\u00adus\u200b") == moses.encode("Haus")
    assert moses.encode("cafe\u0301") == moses.encode("café")
    assert moses.encode("the\u00a0cat\tsat") == moses.encode("the cat sat")
    assert moses.encode(["", "  ", "\u200b"]) == [[], [], []]


def test_what_was_never_seen_is_unknown(moses: MosesBpe) -> None:
    ids = moses.encode("the 🎉 cat")
    assert ids[1:-1] == [UNKNOWN]
    assert moses.decode(ids) == "the ⁇ cat"
    assert moses.decode([*ids, moses.eos_id()]) == "the ⁇ cat"


def test_a_vocabulary_can_be_read_again(moses: MosesBpe) -> None:
    again = MosesBpe(moses.files[CODES], moses.files[PIECES])
    assert again.encode(AWKWARD) == moses.encode(AWKWARD)
    assert again.rules == "en"


def test_rules_are_those_that_were_written_down(moses: MosesBpe) -> None:
    table = json.loads(moses.files[PIECES]) | {"rules": "fr"}
    french = MosesBpe(moses.files[CODES], json.dumps(table).encode())
    assert french.decode(french.encode("Yes?")) == "Yes ?"


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (b"{", "bpe.json: not JSON"),
        (b"[]", 'the text "rules" and the list "pieces"'),
        (b'{"rules": "en", "pieces": ["</s>", "<unk>", 3]}', "every piece must be text"),
        (b'{"rules": "en", "pieces": ["<unk>", "</s>"]}', "must begin with </s>, <unk>"),
        (b'{"rules": "en", "pieces": ["</s>", "<unk>", "a", "a"]}', "and differ"),
    ],
)
def test_damaged_pieces_are_refused(moses: MosesBpe, pieces: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        MosesBpe(moses.files[CODES], pieces)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (b"\xff\xfe", "bpe.codes: not a text"),
        (b"a b\n", "subword-nmt's version"),
        (b"#version: 0.2\na b\na b c\n", "bpe.codes, line 3"),
    ],
)
def test_damaged_merges_are_refused(moses: MosesBpe, codes: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        MosesBpe(codes, moses.files[PIECES])


def test_the_extra_is_named(moses: MosesBpe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(MissingExtraError, match=r'pip install "lexbeam\[moses\]"'):
        MosesBpe(moses.files[CODES], moses.files[PIECES])

from __future__ import annotations

import sentencepiece

from helpers.checkpoints import TARGET_TEXT, pieces_of, sentence_pieces
from lexbeam.models.importers.huggingface.pieces import Kind, PieceModel, Special

SIZE = 200


def reverse_ids(model: bytes, *more: str) -> dict[str, int]:
    texts = [*more, *reversed(pieces_of(model))]
    return {text: place for place, text in enumerate(texts, 3)}


def renumbered(
    model: bytes, ids: dict[str, int], **options: Kind
) -> sentencepiece.SentencePieceProcessor:
    special = Special(control=frozenset({"<s>"}))
    data = PieceModel(model).renumbered(ids, SIZE, special=special, **options)
    return sentencepiece.SentencePieceProcessor(model_proto=data)


def test_text_is_cut_as_before_into_other_ids() -> None:
    for kind in ("unigram", "bpe"):
        model = sentence_pieces(TARGET_TEXT, kind=kind)
        ids = reverse_ids(model)
        old = sentencepiece.SentencePieceProcessor(model_proto=model)
        new = renumbered(model, ids)
        for text in [*TARGET_TEXT, "Haus ÿ", "ﬁne"]:
            pieces = [old.id_to_piece(i) for i in old.encode(text)]
            assert new.encode(text) == [ids[piece] for piece in pieces]
            assert new.decode(new.encode(text)) == old.decode(old.encode(text))
        assert (new.eos_id(), new.unk_id()) == (ids["</s>"], ids["<unk>"])
        assert len(new) == SIZE


def test_foreign_pieces_are_written_but_no_text_is_cut_into_them() -> None:
    model = sentence_pieces(TARGET_TEXT)
    ids = reverse_ids(model, "▁Haustür", "ÿ", ">>de<<")
    cut = sentencepiece.SentencePieceProcessor(model_proto=model).encode("Haustür", out_type=str)
    written = renumbered(model, ids, foreign=Kind.UNUSED)
    assert written.encode("Haustür", out_type=str) == cut
    assert written.decode([ids["▁Haustür"]]) == "Haustür"
    assert written.encode("ÿ")[-1] == ids["ÿ"]  # a character that would be unknown otherwise
    silent = renumbered(model, ids)
    assert silent.decode([ids["▁Haustür"]]) == ""


def test_pieces_without_an_id_are_cut_into_smaller_ones() -> None:
    model = sentence_pieces(TARGET_TEXT)
    ids = reverse_ids(model)
    longest = max((text for text in ids if "<" not in text), key=len)
    del ids[longest]
    new = renumbered(model, ids)
    found = new.encode(longest.replace("▁", ""))
    assert max(found) < SIZE < len(new) + 1
    assert new.unk_id() not in found
    assert new.decode(found) == longest.replace("▁", "")

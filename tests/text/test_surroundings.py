from __future__ import annotations

import sentencepiece

from lexbeam.text.spelling import TargetText
from lexbeam.text.surroundings import MOST_SPELLINGS, spell_beside_punctuation

Processor = sentencepiece.SentencePieceProcessor


def test_a_phrase_is_spelled_as_behind_a_quotation_mark(processor: Processor) -> None:
    found = spell_beside_punctuation(processor, "gato")
    assert 1 <= len(found) <= MOST_SPELLINGS
    for ids, text, spaced in found:
        assert "gato" in text
        assert processor.id_to_piece(list(ids))[0].startswith("▁") == spaced
    in_text = processor.encode("o (gato) no")
    bare = [ids for ids, text, spaced in found if text == "gato" and not spaced]
    assert any(tuple(in_text[i : i + len(ids)]) == ids for ids in bare for i in range(len(in_text)))


def test_the_spellings_of_a_phrase_write_it(processor: Processor) -> None:
    target = TargetText(processor)
    for spelling in target.spell_all("gato"):
        assert "gato" in target.decode(spelling.ids)
        assert spelling.apart == (not spelling.spaced and spelling.surface == "gato")


def test_nothing_but_a_space_stands_before_a_combining_mark(processor: Processor) -> None:
    spellings = TargetText(processor).spell_all("\u0301a")
    assert [spelling.spaced for spelling in spellings] == [True]


def test_what_begins_with_punctuation_may_stand_behind_a_word(processor: Processor) -> None:
    spellings = TargetText(processor).spell_all("(a)")
    assert any(not spelling.spaced for spelling in spellings)
    assert not any(spelling.apart for spelling in spellings)

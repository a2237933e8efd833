from __future__ import annotations

import pytest
import sentencepiece

import lexbeam
from lexbeam.text.prefixes import completions


def beginnings(processor: sentencepiece.SentencePieceProcessor, text: str) -> list[str]:
    ids = tuple(processor.encode(text))
    found = completions(processor, text, ids)
    assert found[0] == (ids, "")
    assert len(set(found)) == len(found)
    written = [processor.decode(list(tokens)) for tokens, _ in found]
    assert written == [text + rest for _, rest in found]
    return written


@pytest.mark.parametrize("text", ["g", "O ga", "O gat", "Das Hau", "中", "O gato", "xq"])
def test_all_begin_with_the_text_and_go_beyond_it(
    processor: sentencepiece.SentencePieceProcessor, text: str
) -> None:
    first, *longer = beginnings(processor, text)
    assert first == text
    for written in longer:
        assert written.startswith(text)
        assert len(written) > len(text)
        assert " " not in written[len(text) :]


def test_whole_words_of_the_vocabulary_are_offered(
    processor: sentencepiece.SentencePieceProcessor,
) -> None:
    assert processor.encode("gato", out_type=str) == ["▁gato"]
    assert "O gato" in beginnings(processor, "O ga")


def test_a_word_of_the_corpus_can_always_be_finished(
    processor: sentencepiece.SentencePieceProcessor,
) -> None:
    """However a word is cut, the pieces of the whole one begin with one of the offers."""
    for word in ("tapete", "coração", "Haustür", "sentaram"):
        whole = processor.encode(f"O {word}")
        for length in range(1, len(word)):
            text = f"O {word[:length]}"
            offers = completions(processor, text, tuple(processor.encode(text)))
            assert any(tuple(whole[: len(offer)]) == offer for offer, _ in offers), text


def test_words_behind_a_space_of_its_own_are_offered() -> None:
    """The vocabulary of the bundled model writes *reich* as a space and a word."""
    translator = lexbeam.load()
    text = "Tom says he's rich."
    free = translator.translate(text)
    assert free.text == "Tom sagt, er ist reich."
    for begun in ("Tom sagt, er ist r", "Tom sagt, er ist rei"):
        assert translator.translate(text, prefix=begun).text == free.text

"""Where the tokens of an output stand in its text, whatever the vocabulary."""

from __future__ import annotations

from itertools import pairwise

import pytest
import sentencepiece

from lexbeam.models.model import make_target
from lexbeam.text.moses_vocabulary import MosesBpe
from lexbeam.text.vocabulary import Processor

TEXTS = [
    "O gato sentou no tapete, perto da casa velha.",
    "Das Haus (hat) eine Haustür: 10.5 km!",
    "中国的经济增长很快。",
    'He said: "no".',
    "",
]


def check(processor: Processor, text: str) -> None:
    target = make_target(processor)
    ids: list[int] = processor.encode(text)
    written = target.decode(ids)
    spans = target.token_spans(ids)
    assert len(spans) == len(ids)
    assert all(start <= end <= len(written) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    covered = {offset for span in spans for offset in range(*span)}
    assert covered == {i for i, character in enumerate(written) if not character.isspace()}


@pytest.mark.parametrize("text", TEXTS)
def test_sentencepiece(processor: sentencepiece.SentencePieceProcessor, text: str) -> None:
    check(processor, text)


@pytest.mark.parametrize("text", [*TEXTS, "für 🙂 Größe ŧ Ж ½"])
def test_bytes(byte_processor: sentencepiece.SentencePieceProcessor, text: str) -> None:
    check(byte_processor, text)


@pytest.mark.parametrize("text", TEXTS)
def test_moses(moses: MosesBpe, text: str) -> None:
    check(moses, text)


def test_the_end_of_sentence_has_an_empty_span(
    processor: sentencepiece.SentencePieceProcessor,
) -> None:
    target = make_target(processor)
    spans = target.token_spans([*processor.encode("cat"), processor.eos_id()])
    assert spans[-1] == (3, 3)


@pytest.mark.parametrize("phrase", ["Ж", "½", "x½y"])
def test_phrases_that_are_written_otherwise(
    processor: sentencepiece.SentencePieceProcessor, phrase: str
) -> None:
    target = make_target(processor).with_literals(processor.get_piece_size())
    spelling = target.spell(phrase)
    ids = [*processor.encode("The"), *spelling.ids, *processor.encode("mat")]
    written = target.decode(ids, [spelling])
    assert written == f"The {phrase} mat"
    spans = target.token_spans(ids, [spelling])
    behind = len(processor.encode("mat"))
    assert (spans[-behind][0], spans[-1][1]) == (len(written) - 3, len(written))
    assert written[slice(*spans[0])] == "The"[: spans[0][1]]

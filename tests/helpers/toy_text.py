"""A tiny vocabulary and a toy model, so that text can be tested without a real one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sentencepiece

from lexbeam.models.model import Model, cannot_continue_word
from lexbeam.search.arrays import PAD, IntArray
from lexbeam.search.scorer import Scores
from lexbeam.text.moses_vocabulary import MosesBpe
from lexbeam.text.word_masks import BoolArray
from lexbeam.translation.translator import Translator

CORPUS = """
The cat sat on the mat. The black cat and the white dog sat on the mat, near the old house.
O gato sentou no tapete. O gato preto e o cão branco sentaram no tapete, perto da casa velha.
A casa (a velha casa) fica em Lisboa; a porta da casa é azul. Café, maçã, ação e coração!
Das Haus hat eine Haustür. Die Tür ist alt. Der Hund sitzt vor dem Haus. Größe, Straße, für.
New York City is a city. He said: "no". It's 10.5 km, 20 % of 1,000 - or so? Yes! don't can't
中国的经济增长很快。 我们在北京看到了猫。 日本語の文章です。 猫が好きです。 GDP增长
القط على السجادة. البيت القديم جميل. שלום עולם, הבית ישן.
แมวนั่งบนเสื่อ ประเทศไทยสวยงาม
a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I J K L M N O P Q R S T U V W
0 1 2 3 4 5 6 7 8 9 . , ; : ! ? ( ) - / ' "
""".strip().splitlines()

EOS, UNKNOWN = 0, 1


def train(
    byte_fallback: bool = False, vocab_size: int = 420
) -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 3),
        model_writer=model,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        character_coverage=1.0,
        byte_fallback=byte_fallback,
        eos_id=EOS,
        unk_id=UNKNOWN,
        bos_id=-1,
        pad_id=-1,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


class EchoScorer:
    """A model that repeats its source and hurries back to it whenever it is led astray."""

    bos = -1
    eos = EOS

    def __init__(self, vocabulary_size: int, word_starts: BoolArray) -> None:
        self.vocabulary_size = vocabulary_size
        self.word_starts = word_starts
        self.batches: list[int] = []

    def start(self, sources: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]]) -> Any:  # noqa: ARG002
        self.batches.append(len(sources))
        return [(tuple(source), 0) for source in sources]

    def step(
        self,
        state: Any,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        top: int,
        hold: BoolArray | None = None,
    ) -> Scores:
        rows = []
        for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True):
            source, place = state[parent]
            rows.append((source, place + (token == source[place])))
        logits = np.zeros((len(rows), self.vocabulary_size))
        logits += np.linspace(0, -1, self.vocabulary_size)
        for row, (source, place) in enumerate(rows):
            logits[row, source[min(place, len(source) - 1)]] = 8.0
        logits[:, UNKNOWN] = -20.0
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        asked = np.take_along_axis(log_probs, np.maximum(ask, 0), axis=1)
        for row, banned in enumerate(ban.tolist()):
            log_probs[row, [EOS, *(token for token in banned if token != PAD)]] = -np.inf
        if hold is not None:
            log_probs[hold[:, None] & self.word_starts] = -np.inf
        ids = np.argsort(-log_probs, axis=1, kind="stable")[:, :top]
        return Scores(
            np.take_along_axis(log_probs, ids, axis=1),
            ids,
            np.where(ask == PAD, -np.inf, asked),
            rows,
        )


class AttendingEchoScorer(EchoScorer):
    """The same model, which attends to the source token that it repeats next, and to no other."""

    attends = True

    def step(self, *arguments: Any, attention: bool = False, **others: Any) -> Scores:
        scores = super().step(*arguments, **others)
        if not attention:
            return scores
        longest = max(len(source) for source, _ in scores.state)
        weights = np.zeros((len(scores.state), longest))
        for row, (source, place) in enumerate(scores.state):
            weights[row, min(place, len(source) - 1)] = 1.0
        return scores._replace(attention=weights)


@pytest.fixture(scope="session")
def processor() -> sentencepiece.SentencePieceProcessor:
    return train()


@pytest.fixture(scope="session")
def byte_processor() -> sentencepiece.SentencePieceProcessor:
    return train(byte_fallback=True, vocab_size=700)


@pytest.fixture(scope="session")
def moses(tmp_path_factory: pytest.TempPathFactory) -> MosesBpe:
    pytest.importorskip("sacremoses")
    pytest.importorskip("subword_nmt")
    from lexbeam.train.moses import MosesPieces  # noqa: PLC0415

    return MosesPieces.train(CORPUS * 3, 520, tmp_path_factory.mktemp("moses")).stored


@pytest.fixture
def echo(processor: sentencepiece.SentencePieceProcessor) -> EchoScorer:
    return EchoScorer(len(processor), cannot_continue_word(processor))


@pytest.fixture
def toy_model(processor: sentencepiece.SentencePieceProcessor, echo: EchoScorer) -> Model:
    return Model(echo, processor, processor, max_source_length=64, info={"name": "echo"})


@pytest.fixture
def translator(toy_model: Model) -> Translator:
    return Translator(toy_model)


@pytest.fixture
def attending_translator(processor: sentencepiece.SentencePieceProcessor) -> Translator:
    """A translator whose model says where it attends."""
    scorer = AttendingEchoScorer(len(processor), cannot_continue_word(processor))
    return Translator(Model(scorer, processor, processor, max_source_length=64, info={}))

"""A model that is ready to translate: what an importer returns and a translator needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import sentencepiece as spm

from lexbeam.errors import ModelError
from lexbeam.search.scorer import Scorer
from lexbeam.text.moses_spelling import MosesText
from lexbeam.text.moses_vocabulary import MosesBpe
from lexbeam.text.spelling import BoolArray, SourceText, TargetText
from lexbeam.text.vocabulary import Processor


@dataclass(frozen=True)
class Framing:
    """Tokens that a network is used to see around a text, and those it must not write.

    The languages of a multilingual network are among them: they stand before or after the
    source, and before the output.
    """

    source_prefix: tuple[int, ...] = ()
    source_suffix: tuple[int, ...] | None = None
    """None: the end of sentence."""
    output_start: tuple[int, ...] = ()
    """What the output follows; nothing: a token that embeds as zeros."""
    never: tuple[int, ...] = ()
    """Ids that are not taken into any output."""


@dataclass(frozen=True)
class Model:
    """An engine, the vocabularies of both sides and what there is to say about them.

    Sources are given to the engine as the ids of ``source`` in their ``framing``.
    ``max_source_length`` counts pieces; longer sentences were not seen in training.
    """

    engine: Scorer
    source: Processor
    target: Processor
    max_source_length: int
    info: Mapping[str, Any]
    framing: Framing = Framing()

    @cached_property
    def source_text(self) -> SourceText:
        """The source side: text in, the ids that the engine reads out."""
        framing = self.framing
        return SourceText(self.source, framing.source_prefix, framing.source_suffix)

    @cached_property
    def target_text(self) -> TargetText:
        """The target side: phrases in, text out."""
        return make_target(self.target, self.info.get("target_language"))

    def encode(self, text: str) -> list[int]:
        """Return a sentence as the engine reads it."""
        return self.source_text.encode(text)

    def decode(self, ids: list[int]) -> str:
        """Return the text of output ids."""
        return str(self.target.decode(ids))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file before what is said to be wrong with a model, if it lacks one."""
    try:
        yield
    except ModelError as error:
        message = str(error)
        raise ModelError(message if str(path) in message else f"{path}: {message}") from None


def load_vocabulary(data: bytes, path: Path, size: int) -> spm.SentencePieceProcessor:
    """Read a SentencePiece model and check that it has as many pieces as the network.

    Pieces past those of the network must be marked as unused: no text is cut into them.
    """
    processor = spm.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(data)
    except RuntimeError:
        raise ModelError(f"{path}: damaged, or not a SentencePiece model") from None
    extra = list(range(size, len(processor)))
    if len(processor) < size or not all(processor.is_unused(extra)):
        raise ModelError(f"{path}: {len(processor)} pieces, but the network has {size}")
    if processor.eos_id() < 0:
        raise ModelError(f"{path}: the vocabulary has no end of sentence")
    return processor


def make_target(processor: Processor, language: str | None = None) -> TargetText:
    """Return the target side of a vocabulary."""
    if isinstance(processor, MosesBpe):
        return MosesText(processor, language)
    return TargetText(processor, language)


def word_starts(processor: Processor, vocabulary_size: int | None = None) -> BoolArray:
    """Mark the pieces that can't go on with a word: they start one, or are punctuation."""
    begins_apart, _ = make_target(processor).masks(vocabulary_size or len(processor))
    return begins_apart

"""A model that is ready to translate: what a format loads and a translator needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lexbeam.models.engines.tokens import TokenRules
from lexbeam.search.scorer import Scorer
from lexbeam.text.moses_spelling import MosesText
from lexbeam.text.moses_vocabulary import MosesBpe
from lexbeam.text.spelling import SourceText, TargetText
from lexbeam.text.vocabulary import Processor
from lexbeam.text.word_masks import BoolArray


@dataclass(frozen=True)
class Framing:
    """Tokens that a network expects around a text, and those it must not write.

    The language tokens of multilingual networks are among them: before or after the source, and
    before the output.
    """

    source_prefix: tuple[int, ...] = ()
    source_suffix: tuple[int, ...] | None = None
    """None: the end of sentence."""
    output_start: tuple[int, ...] = ()
    """Tokens that the output follows; without any, it follows a token whose embedding is zero."""
    never: tuple[int, ...] = ()
    """Tokens that are never part of an output."""


@dataclass(frozen=True)
class Model:
    """An engine, the vocabularies of both sides and facts about them.

    The engine reads sources as ids of ``source`` with the ``framing`` around them.
    ``max_source_length`` counts pieces; the network has seen no longer sentences in training.
    ``sets_aside`` says how a search without constraints ends, if nothing else is asked for: as
    in the toolkit the model comes from, where what has finished leaves its slot of the beam, and
    a sentence is done when as many have finished as there are slots. ``reads_terms`` says that the
    network was trained on sources with words of the target language in them: it reads a term in
    place of the words that the term translates, and says it.
    """

    engine: Scorer
    source: Processor
    target: Processor
    max_source_length: int
    info: Mapping[str, Any]
    framing: Framing = Framing()
    sets_aside: bool = False
    reads_terms: bool = False

    @cached_property
    def source_text(self) -> SourceText:
        """The source side, which turns text into the ids that the engine reads."""
        framing = self.framing
        return SourceText(self.source, framing.source_prefix, framing.source_suffix)

    @cached_property
    def target_text(self) -> TargetText:
        """The target side, which spells phrases and turns ids into text."""
        return make_target(self.target, self.info.get("target_language"))

    def encode(self, text: str) -> list[int]:
        """Return a sentence as the engine reads it."""
        return self.source_text.encode(text)

    def decode(self, ids: list[int]) -> str:
        """Return the text of output ids."""
        return str(self.target.decode(ids))


def make_target(processor: Processor, language: str | None = None) -> TargetText:
    """Return the target side of a vocabulary."""
    if isinstance(processor, MosesBpe):
        return MosesText(processor, language)
    return TargetText(processor, language)


def cannot_continue_word(processor: Processor, vocabulary_size: int | None = None) -> BoolArray:
    """Return a mask of the tokens that start a word or are punctuation: none continues a word."""
    begins_apart, _ = make_target(processor).masks(vocabulary_size or len(processor))
    return begins_apart


def token_rules(
    sizes: tuple[int, int], target: Processor, framing: Framing | None = None
) -> TokenRules:
    """Return what an engine has to know of token ids.

    Args:
        sizes: number of source and target tokens of the network.
        target: the target vocabulary, which may be smaller.
        framing: tokens around source and output.
    """
    framing = framing or Framing()
    return TokenRules(
        vocabulary_size=sizes[1],
        eos=target.eos_id(),
        source_vocabulary_size=sizes[0],
        output_start=framing.output_start,
        never=framing.never,
        word_starts=cannot_continue_word(target, sizes[1]),
    )

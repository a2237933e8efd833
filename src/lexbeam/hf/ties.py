"""Constraints given as text that are tied to words of the source.

The encoder's input says which tokens a source word has. What a draft of the search says for them is
displaced, as for texts (`lexbeam.translation.displaced`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import ConstraintError, InputError, quoted
from lexbeam.hf.sources import Source, SourceReader
from lexbeam.hf.spelling import Speller, writings
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import Beginning, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.text.casing import variants
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.token_offsets import tokens_in
from lexbeam.text.vocabulary import SPACE
from lexbeam.translation.displaced import CLEAR, SHORT, said_for, split_words, words_of
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.ties import find_sources


def is_tied(asked: Constraints) -> bool:
    """Return whether the source of a constraint is named."""
    return any(each.source is not None for each in asked.demanded)


class TextTies:
    """The ties of a batch whose constraints were given as text."""

    def __init__(
        self,
        tokenizer: Any,
        asked: Sequence[Constraints],
        phrases: Sequence[Sequence[Tokens | Pattern]],
        texts: Sequence[str] | None,
        source_ids: Sequence[Sequence[int]],
    ) -> None:
        """Find the source tokens of tied constraints.

        ``phrases`` are the constraints as tokens, as often as each is asked for; ``texts`` the
        sources if they were given.
        """
        if texts is not None and len(texts) != len(source_ids):
            raise InputError(f"sources has {len(texts)} texts for {len(source_ids)} sentences")
        self._tokenizer = tokenizer
        self._asked, self._phrases = asked, phrases
        self._sources: list[Source | None] = []
        self.tokens: list[dict[int, list[int]]] = []
        """For each sentence, the source tokens of phrases, by the indices of the phrases."""
        reader = SourceReader(tokenizer)
        for i, (constraints, ids) in enumerate(zip(asked, source_ids, strict=True)):
            source, tied = None, {}
            if is_tied(constraints):
                try:
                    source = reader.read(ids, None if texts is None else texts[i])
                    tied = _tie(constraints, source)
                except InputError as error:
                    raise type(error)(f"sentence {i}: {error}") from None
            self._sources.append(source)
            self.tokens.append(tied)

    def find_displaced(self, sentence: int, draft: Hypothesis) -> list[Tokens]:
        """Return the tokens of what a draft says for the sources of tied constraints."""
        source, pieces = self._sources[sentence], self._pieces(draft.tokens)
        if source is None or pieces is None or draft.attention is None:
            return []
        words = split_words(pieces)
        written = ["".join(pieces[start:end]).strip(SPACE).casefold() for start, end in words]
        said = {
            self._decode(draft.tokens[start:end]): (start, end)
            for word, (start, end) in zip(written, words, strict=True)
            if written.count(word) == 1
        }
        demanded = self._asked[sentence].demanded
        kept = words_of(demanded)
        found: dict[Tokens, None] = {}
        for tokens in self.tokens[sentence].values():
            share = np.asarray(draft.attention[:, tokens].sum(axis=1), np.float64)
            clear = [
                (most, word)
                for word, (start, end) in said.items()
                if (most := float(share[start:end].max())) >= CLEAR
            ]
            for word in said_for(clear, _has_several_words(source, tokens)):
                compound = any(each.compound and each.find(word) for each in demanded)
                if word.casefold() not in kept and not compound:
                    found |= dict.fromkeys(self._ways_to_say(word, draft.tokens, said[word]))
        ways = [tuple(way) for phrase in self._phrases[sentence] for way in _forms(phrase)]
        found |= dict.fromkeys(self._torn(ways))
        return [each for each in found if not any(find_subsequence(way, each) for way in ways)]

    @cached_property
    def _speller(self) -> Speller:
        return Speller(self._tokenizer)

    def _pieces(self, tokens: Sequence[int]) -> list[str] | None:
        """Return tokens as pieces that show where words begin; None if that is not known."""
        written = writings(self._tokenizer)
        if written is None:
            return None
        return [
            written[token].replace(" ", SPACE) if token < len(written) else "" for token in tokens
        ]

    def _decode(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text.strip()

    def _ways_to_say(
        self, word: str, tokens: Sequence[int], span: tuple[int, int]
    ) -> Iterator[Tokens]:
        """Yield the tokens of a word in any case, and those that the draft has for it."""
        kind = Beginning if len(word) > SHORT else tuple
        yield kind(tokens[slice(*span)])
        for variant in variants(word, "any"):
            try:
                forms = [*self._speller.forms(variant.text), *self._speller.inside(variant.text)]
            except ConstraintError:  # characters that the tokenizer can't write in this case
                continue
            yield from (kind(form.tokens) for form in forms)

    def _torn(self, ways: Sequence[Tokens]) -> list[Tokens]:
        """Return the tokens of phrases with a space between them and a hyphen: *Core- Projekt*."""
        written = writings(self._tokenizer)
        if written is None or "-" not in written:
            return []
        hyphen = written.index("-")
        return [(hyphen, *way) for way in ways if written[way[0]].startswith(" ")]


def _tie(asked: Constraints, source: Source | None) -> dict[int, list[int]]:
    """Return the source tokens of constraints, by the index of each among all that are asked."""
    if source is None:
        raise InputError(
            "the tokenizer does not show what source tokens write: give the texts as sources"
        )
    for each in asked.demanded:
        if isinstance(each.source, tuple) and not source.is_given:
            raise InputError(
                f"the source {list(each.source)} of {quoted(each.text)} is counted in characters "
                "of the text, which is not known here: give the texts as sources"
            )
    found = find_sources(asked, ReadableSource.of(source.text, [])).counted
    copies = [(each, copy) for each in found for copy in range(each.count)]
    ties = {
        index: tokens_in(source.spans, each.source_spans[copy])
        for index, (each, copy) in enumerate(copies)
        if each.source_spans
    }
    return {index: tokens for index, tokens in ties.items() if tokens}


def _forms(phrase: Tokens | Pattern) -> Iterator[Sequence[int]]:
    """Yield the tokens of everything that a phrase may be written as."""
    if isinstance(phrase, Pattern):
        yield from (form.tokens for part in phrase.parts for form in part)
    else:
        yield phrase


def _has_several_words(source: Source, tokens: Sequence[int]) -> bool:
    """Return whether there is a space between source tokens."""
    start, end = source.spans[min(tokens)][0], source.spans[max(tokens)][1]
    return " " in source.text[start:end].strip()

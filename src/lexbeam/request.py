"""What is asked of each sentence, as tokens, checked before any decoding starts.

A mistake must not surface as a strange translation or a traceback from the middle of the
search: everything that can be known to be impossible is refused here, with the sentence and
the phrase named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from lexbeam.errors import ConstraintError, InputError
from lexbeam.trie import Tokens
from lexbeam.words import Words


@dataclass(frozen=True)
class Request:
    """The phrases that one output must have, must not have, and begins with."""

    phrases: tuple[Tokens, ...]
    avoid: tuple[Tokens, ...]
    prefix: Tokens

    @property
    def tokens(self) -> list[int]:
        """All tokens the search may ask the model for."""
        return sorted({*self.prefix, *(token for phrase in self.phrases for token in phrase)})


def read_requests(
    sentences: int,
    phrases: Sequence[Any] | None,
    avoid: Sequence[Any] | None,
    prefix: Sequence[Any] | None,
    vocabulary_size: int,
    eos: int,
    words: Words | None = None,
) -> list[Request]:
    """Return one checked request a sentence.

    Raises:
        InputError: a list does not have one entry a sentence.
        ConstraintError: a phrase is empty, has a token outside the vocabulary or the end of
            sentence in it, or is avoided as well.
    """
    for name, given in (("phrases", phrases), ("avoid", avoid), ("prefix", prefix)):
        if given is not None and len(given) != sentences:
            raise InputError(
                f"{name} has {len(given)} entries for {sentences} sentences; "
                "give one list a sentence, an empty one for none"
            )
    requests = []
    for i in range(sentences):
        read = _PhraseReader(i, vocabulary_size, eos)
        request = Request(
            tuple(read.phrases("phrase", phrases[i] if phrases is not None else None)),
            tuple(read.phrases("avoided phrase", avoid[i] if avoid is not None else None)),
            read.tokens("prefix", prefix[i])
            if prefix is not None and prefix[i] is not None
            else (),
        )
        _refuse_contradictions(i, request, words)
        requests.append(request)
    return requests


@dataclass(frozen=True)
class _PhraseReader:
    sentence: int
    vocabulary_size: int
    eos: int

    def phrases(self, kind: str, given: Any) -> list[Tokens]:
        """Return the phrases of a sentence as tuples of plain integers."""
        if given is None:
            return []
        if isinstance(given, str | bytes):
            raise ConstraintError(f"sentence {self.sentence}: expected a list, got {given!r}")
        read = []
        for number, phrase in enumerate(given):
            name = f"{kind} {number}"
            tokens = self.tokens(name, phrase)
            if not tokens:
                raise ConstraintError(f"sentence {self.sentence}: {name} is empty")
            read.append(tokens)
        return read

    def tokens(self, name: str, given: Any) -> Tokens:
        """Return one phrase as a tuple of plain integers."""
        where = f"sentence {self.sentence}: {name}"
        try:
            tokens = tuple(index(token) for token in given)
        except TypeError:
            message = f"{where} is not a list of token ids: {given!r}"
            raise ConstraintError(message) from None
        for token in tokens:
            if not 0 <= token < self.vocabulary_size:
                raise ConstraintError(
                    f"{where} {list(tokens)} has token {token}, outside the vocabulary "
                    f"of {self.vocabulary_size}"
                )
            if token == self.eos:
                raise ConstraintError(
                    f"{where} {list(tokens)} has the end-of-sentence token {token} in it"
                )
        return tokens


def _refuse_contradictions(sentence: int, request: Request, words: Words | None) -> None:
    named = [(f"phrase {i}", phrase, False) for i, phrase in enumerate(request.phrases)]
    for name, phrase, goes_on in [*named, ("prefix", request.prefix, True)]:
        for number, avoided in enumerate(request.avoid):
            if _occurs(avoided, phrase, words, goes_on):
                what = "is also avoided" if avoided == phrase else "contains what is avoided"
                raise ConstraintError(
                    f"sentence {sentence}: {name} {list(phrase)} {what} "
                    f"(avoided phrase {number} {list(avoided)})"
                )


def _occurs(avoided: Tokens, tokens: Tokens, words: Words | None, goes_on: bool) -> bool:
    """Say whether an avoided phrase stands in the tokens, all in a row, as whole words.

    ``goes_on``: more tokens may follow, and make the last word another one.
    """
    n = len(avoided)
    for end in range(n, len(tokens) + 1):
        if tokens[end - n : end] == avoided:
            if words is None or not words.waits(avoided):
                return True
            if words.ends(tokens[end]) if end < len(tokens) else not goes_on:
                return True
    return False

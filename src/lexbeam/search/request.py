"""What is asked of each sentence, as tokens, checked before any decoding starts.

A mistake must not surface as a strange translation or a traceback from the middle of the
search: everything that can be known to be impossible is refused here, with the sentence and
the phrase named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any

from lexbeam.errors import ConstraintError, InputError
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.bit_layout import Demand, tokens_of
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.whole_words import Words


@dataclass(frozen=True)
class Request:
    """The phrases that one output must have, must not have, and begins with."""

    phrases: tuple[Demand, ...]
    avoid: tuple[Tokens, ...]
    prefix: Tokens
    whole_prefix: bool = False
    """Whether the word that the prefix ends with must not go on."""

    @property
    def tokens(self) -> list[int]:
        """All tokens the search may ask the model for."""
        demanded = (token for phrase in self.phrases for token in tokens_of(phrase))
        return sorted({*self.prefix, *demanded})


def read_requests(
    sentences: int,
    phrases: Sequence[Any] | None,
    avoid: Sequence[Any] | None,
    prefix: Sequence[Any] | None,
    vocabulary_size: int,
    eos: int,
    words: Words | None = None,
    whole_prefix: Sequence[bool] | None = None,
) -> list[Request]:
    """Return one checked request a sentence.

    Raises:
        InputError: a list does not have one entry a sentence.
        ConstraintError: a phrase is empty, has a token outside the vocabulary or the end of
            sentence in it, or is avoided as well.
    """
    lists = {"phrases": phrases, "avoid": avoid, "prefix": prefix, "whole_prefix": whole_prefix}
    for name, given in lists.items():
        if given is not None and len(given) != sentences:
            raise InputError(
                f"{name} has {len(given)} entries for {sentences} sentences; "
                "give one list a sentence, an empty one for none"
            )
    if whole_prefix is not None and words is None:
        raise InputError("whole_prefix is given without boundary: nothing says where words end")
    requests = []
    for i in range(sentences):
        read = _PhraseReader(i, vocabulary_size, eos)
        request = Request(
            tuple(read.demands(phrases[i] if phrases is not None else None)),
            tuple(read.phrases("avoided phrase", avoid[i] if avoid is not None else None)),
            read.tokens("prefix", prefix[i])
            if prefix is not None and prefix[i] is not None
            else (),
            whole_prefix is not None and bool(whole_prefix[i]),
        )
        _refuse_contradictions(i, request, words)
        requests.append(_without_avoided_forms(i, request, words))
    return requests


@dataclass(frozen=True)
class _PhraseReader:
    sentence: int
    vocabulary_size: int
    eos: int

    def demands(self, given: Any) -> list[Demand]:
        """Return what is demanded in a sentence; patterns are checked as their phrases are."""
        read: list[Demand] = []
        for number, demand in enumerate(self.listed(given)):
            name = f"phrase {number}"
            if isinstance(demand, Pattern):
                read.append(self.pattern(name, demand))
            else:
                read.append(self.phrase(name, demand))
        if sum(isinstance(demand, Pattern) and demand.strict for demand in set(read)) > 1:
            raise ConstraintError(
                f"sentence {self.sentence}: two patterns that the output has to begin with; "
                "give one with the forms that both allow"
            )
        return read

    def phrases(self, kind: str, given: Any) -> list[Tokens]:
        """Return the phrases of a sentence as tuples of plain integers."""
        return [self.phrase(f"{kind} {n}", phrase) for n, phrase in enumerate(self.listed(given))]

    def listed(self, given: Any) -> Any:
        """Refuse text where a list of phrases is due; None stands for no phrases."""
        if isinstance(given, str | bytes):
            raise ConstraintError(f"sentence {self.sentence}: expected a list, got {given!r}")
        return () if given is None else given

    def phrase(self, name: str, given: Any) -> Tokens:
        """Return one phrase, which must not be empty."""
        tokens = self.tokens(name, given)
        if not tokens:
            raise ConstraintError(f"sentence {self.sentence}: {name} is empty")
        return tokens

    def pattern(self, name: str, pattern: Pattern) -> Pattern:
        """Return a pattern with plain integers in it; a plain phrase in disguise as well."""
        where = f"sentence {self.sentence}: {name}"
        parts = tuple(
            tuple(dict.fromkeys(Form(self.phrase(name, f.tokens), bool(f.first)) for f in part))
            for part in pattern.parts
        )
        if not parts or not all(parts):
            raise ConstraintError(f"{where} is a pattern without forms")
        for value, what in ((pattern.within, "within"), (pattern.price, "price")):
            if value is not None and not 0 <= value < float("inf"):
                raise ConstraintError(f"{where}: {what} is {value}, but must be 0 or more")
        checked = replace(pattern, parts=parts)
        if not checked.strict and any(all(form.first for form in part) for part in parts):
            raise ConstraintError(
                f"{where}: a part with nothing but forms that begin the output has to be a "
                "pattern of its own, with no price and not at the end"
            )
        return checked

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


def show_demand(demand: Demand) -> str:
    """Show what is demanded in a message."""
    if not isinstance(demand, Pattern):
        return str(list(demand))
    parts = ("|".join(str(list(form.tokens)) for form in part) for part in demand.parts)
    return " … ".join(parts)


def _without_avoided_forms(sentence: int, request: Request, words: Words | None) -> Request:
    """Leave out the forms of patterns that are avoided; refuse a part that has none left."""
    if not request.avoid:
        return request

    def allowed(form: Form, strict: bool) -> bool:
        return not any(_occurs(avoided, form.tokens, words, strict) for avoided in request.avoid)

    kept: list[Demand] = []
    for number, demand in enumerate(request.phrases):
        if isinstance(demand, Pattern):
            parts = tuple(
                tuple(form for form in part if allowed(form, demand.strict))
                for part in demand.parts
            )
            if not all(parts) and demand.price is not None:
                kept.append(demand)  # It will be given up.
                continue
            if not all(parts):
                raise ConstraintError(
                    f"sentence {sentence}: phrase {number} {show_demand(demand)} can't be met "
                    "without an avoided phrase"
                )
            left = [form for part in parts for form in part if not form.first]
            kept.append(replace(demand, parts=parts) if left or demand.strict else demand)
        else:
            kept.append(demand)
    return replace(request, phrases=tuple(kept))


def _refuse_contradictions(sentence: int, request: Request, words: Words | None) -> None:
    named = [
        (f"phrase {i}", phrase, False)
        for i, phrase in enumerate(request.phrases)
        if not isinstance(phrase, Pattern)
    ]
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

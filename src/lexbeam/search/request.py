"""What is asked of each sentence, as tokens, checked before any decoding starts.

A mistake must not surface as a strange translation or a traceback from the middle of the
search: everything that can be known to be impossible is refused here, with the sentence and
the phrase named.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lexbeam.arguments import as_list, as_number, as_whole, per_sentence
from lexbeam.errors import ConstraintError, InputError, Subject, represented
from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.patterns import (
    Beginning,
    Form,
    Pattern,
    TokenConstraint,
    show_constraint,
    tokens_of,
)
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.occurrences import Inside, occurs
from lexbeam.search.settings import MOST_PENALTY, is_flag, read_flag, shown_whole

_FLAGS = "first", "apart", "inside", "goes_on"
"""Of a form."""


@dataclass(frozen=True)
class Request:
    """The phrases that one output must have, must not have, and begins with."""

    phrases: tuple[TokenConstraint, ...]
    avoid: tuple[Tokens, ...]
    prefix: Tokens
    whole_prefix: bool = False
    """Whether the word that the prefix ends with must not go on."""

    @property
    def tokens(self) -> list[int]:
        """All tokens the search may ask the model for."""
        in_phrases = (token for phrase in self.phrases for token in tokens_of(phrase))
        return sorted({*self.prefix, *in_phrases})

    @property
    def subjects(self) -> list[Subject]:
        """The phrases, as errors speak of them."""
        return [
            Subject("phrase", i, show_constraint(phrase)) for i, phrase in enumerate(self.phrases)
        ]

    @property
    def avoided_subjects(self) -> list[Subject]:
        """The avoided phrases, as errors speak of them."""
        return [
            Subject("avoided", i, show_constraint(phrase)) for i, phrase in enumerate(self.avoid)
        ]


def listed(subjects: Sequence[Subject]) -> str:
    """Return the part of an error's reason that lists some subjects."""
    return ", ".join(["{}"] * len(subjects))


def read_requests(
    sentences: int,
    phrases: Sequence[Any] | None,
    avoid: Sequence[Any] | None,
    prefix: Sequence[Any] | None,
    vocabulary_size: int,
    ends: Collection[int],
    words: WordBoundaries | None = None,
    whole_prefix: Sequence[bool] | None = None,
    can_hold: bool = True,
) -> list[Request]:
    """Return one checked request per sentence.

    ``ends`` are the tokens that end an output; ``can_hold`` says whether an avoided word may be
    begun by a longer one (`search.scorer`).

    Raises:
        InputError: a list does not have one entry per sentence.
        ConstraintError: a phrase is empty, has a token outside the vocabulary or the end of
            sentence in it, or is avoided as well.
    """
    phrases = per_sentence("phrases", phrases, sentences)
    avoid = per_sentence("avoid", avoid, sentences)
    prefix = per_sentence("prefix", prefix, sentences)
    if whole_prefix is not None and words is None:
        raise InputError("whole_prefix is given without boundary: nothing says where words end")
    whole = per_sentence("whole_prefix", whole_prefix, sentences)
    requests = []
    for i in range(sentences):
        reader = _Reader(i, vocabulary_size, ends)
        request = Request(
            tuple(reader.constraints(phrases[i])),
            tuple(reader.avoided(avoid[i])),
            reader.prefix(prefix[i]),
            whole_prefix is not None and read_flag("whole_prefix", whole[i]),
        )
        avoided_as = words if can_hold else None
        _refuse_contradictions(i, request, avoided_as)
        requests.append(_without_avoided_forms(i, request, avoided_as))
    return requests


def avoid_more(
    request: Request, tokens: Sequence[Tokens], sentence: int, words: WordBoundaries | None
) -> Request:
    """Return a request that avoids more, or the same one if it could not be met then.

    ``words`` is given if an avoided word may be begun by a longer one.
    """
    more = replace(request, avoid=(*request.avoid, *tokens))
    try:
        _refuse_contradictions(sentence, more, words)
        return _without_avoided_forms(sentence, more, words)
    except ConstraintError:
        return request


@dataclass(frozen=True)
class _Name:
    """What an error calls something that is being read."""

    role: Literal["phrase", "avoided", "prefix"]
    index: int = 0

    def __str__(self) -> str:
        written = {"phrase": "phrase", "avoided": "avoided phrase", "prefix": "prefix"}[self.role]
        return written if self.role == "prefix" else f"{written} {self.index}"

    def subject(self, constraint: TokenConstraint) -> Subject:
        return Subject(self.role, self.index, show_constraint(constraint))


@dataclass(frozen=True)
class _Reader:
    """Reads what is asked of one sentence."""

    sentence: int
    vocabulary_size: int
    ends: Collection[int]

    def constraints(self, given: Any) -> list[TokenConstraint]:
        """Return what a sentence must have; patterns are checked as their phrases are."""
        read: list[TokenConstraint] = []
        for number, constraint in enumerate(self._list("phrases", given)):
            name = _Name("phrase", number)
            if isinstance(constraint, Pattern):
                read.append(self._pattern(name, constraint))
            else:
                read.append(self._phrase(name, constraint))
        if sum(isinstance(each, Pattern) and each.strict for each in set(read)) > 1:
            raise self._error(
                "two patterns that the output has to begin with; "
                "give one with the forms that both allow"
            )
        return read

    def avoided(self, given: Any) -> list[Tokens]:
        """Return the avoided phrases as tuples of plain integers."""
        read: list[Tokens] = []
        for number, phrase in enumerate(self._list("avoid", given)):
            tokens = self._phrase(_Name("avoided", number), phrase)
            read.append(Beginning(tokens) if isinstance(phrase, Beginning) else tokens)
        return read

    def prefix(self, given: Any) -> Tokens:
        """Return the prefix, which may be empty; None stands for an empty one."""
        return () if given is None else self._tokens(_Name("prefix"), given)

    def _error(self, reason: str, *subjects: Subject) -> ConstraintError:
        return ConstraintError(reason, *subjects, sentence=self.sentence)

    def _list(self, name: str, given: Any) -> Any:
        """Return the phrases of a list, or say that it is none; None stands for no phrases."""
        listed = [] if given is None else as_list(given)
        if listed is not None:
            return listed
        raise self._error(f"{name}: expected a list of phrases, got {represented(given)}")

    def _phrase(self, name: _Name, given: Any) -> Tokens:
        """Return one phrase, which must not be empty."""
        tokens = self._tokens(name, given)
        if not tokens:
            raise self._error(f"{name} is empty")
        return tokens

    def _pattern(self, name: _Name, pattern: Pattern) -> Pattern:
        """Return a pattern with plain numbers in it."""
        given = [as_list(part) for part in _or_none(as_list(pattern.parts))]
        parts = tuple(
            tuple(dict.fromkeys(self._form(name, form) for form in part))
            for part in given
            if part is not None
        )
        if len(parts) < len(given):
            raise self._error(
                f"{name}: a pattern has a tuple of parts, and a part is a tuple of Form, "
                f"not {represented(pattern.parts)}"
            )
        if not parts or not all(parts):
            raise self._error(f"{name} is a pattern without forms")
        self._refuse_no_flags(name, pattern, "last", "may_overlap", "exact")
        checked = replace(
            pattern,
            parts=parts,
            within=self._within(name, pattern.within),
            penalty=self._penalty(name, pattern.penalty),
            demand=self._whole(name, "demand", pattern.demand),
        )
        self._refuse_misplaced(name, checked)
        return checked

    def _refuse_misplaced(self, name: _Name, checked: Pattern) -> None:
        """Raise if something in a pattern would not count."""
        parts = checked.parts
        if not checked.strict and any(all(form.first for form in part) for part in parts):
            raise self._error(
                f"{name}: a part with nothing but forms that begin the output has to be a "
                "pattern of its own, with no penalty and not at the end"
            )
        joined = any(form.in_compounds for part in parts for form in part)
        if joined and (len(parts) > 1 or checked.last or checked.exact):
            raise self._error(
                f"{name}: parts of compounds count only in a pattern of one part that is neither "
                "exact nor at the end"
            )
        if checked.exact and not checked.is_phrase:
            raise self._error(
                f"{name}: exact counts only in a pattern of one part that may_overlap, with no "
                "penalty, not at the end and not only at the beginning"
            )

    def _form(self, name: _Name, given: Any) -> Form:
        """Return a form with plain integers in it."""
        if not isinstance(given, Form):
            raise self._error(
                f"{name}: a part of a pattern has Forms in it, not {represented(given)}"
            )
        self._refuse_no_flags(name, given, *_FLAGS)
        if given.inside and (given.first or given.apart):
            other = "first" if given.first else "apart"
            raise self._error(f"{name}: a form can't be both inside and {other}")
        tokens = self._phrase(name, given.tokens)
        return given if tokens is given.tokens else replace(given, tokens=tokens)

    def _are_plain(self, given: tuple[Any, ...]) -> bool:
        """Return whether all of these are plain integers that may stand in a phrase."""
        most, ends = self.vocabulary_size, self.ends
        return all(type(each) is int and 0 <= each < most and each not in ends for each in given)

    def _refuse_no_flags(self, name: _Name, given: Form | Pattern, *flags: str) -> None:
        """Raise if one of these is neither true nor false."""
        for flag in flags:
            value = getattr(given, flag)
            if value is True or value is False:
                continue
            if not is_flag(value):
                raise self._error(f"{name}: {flag} must be True or False, not {represented(value)}")

    def _whole(self, name: _Name, what: str, value: Any) -> int:
        """Return a number of a pattern as a plain integer."""
        whole = as_whole(value)
        if whole is None:
            raise self._error(f"{name}: {what} must be an integer, not {represented(value)}")
        return whole

    def _within(self, name: _Name, value: Any) -> int | None:
        """Return the words that may stand between parts; None: any."""
        if value is None:
            return None
        words = self._whole(name, "within", value)
        if words < 0:
            raise self._error(f"{name}: within is {shown_whole(words)}, but must be 0 or more")
        return words

    def _penalty(self, name: _Name, value: Any) -> float | None:
        """Return for what a pattern is given up; None: for nothing."""
        if value is None:
            return None
        penalty = None if isinstance(value, str | bytes) else as_number(value)
        if penalty is None or not 0 <= penalty <= MOST_PENALTY:
            raise self._error(
                f"{name}: penalty is {represented(value)}, but must be a number from 0 to "
                f"{MOST_PENALTY:,.0f}"
            )
        return penalty

    def _tokens(self, name: _Name, given: Any) -> Tokens:
        """Return one phrase as a tuple of plain integers."""
        if type(given) is tuple and self._are_plain(given):  # as nearly all are
            return given
        listed = as_list(given)
        tokens = tuple(token for token in map(as_whole, listed or ()) if token is not None)
        if listed is None or len(tokens) < len(listed):
            raise self._error(f"{name} is not a list of token ids: {represented(given)}")
        for token in tokens:
            if not 0 <= token < self.vocabulary_size:
                raise self._error(
                    f"{name} {{}} has token {shown_whole(token)}, outside the vocabulary "
                    f"of {self.vocabulary_size}",
                    name.subject(tokens),
                )
            if token in self.ends:
                raise self._error(
                    f"{name} {{}} has the end-of-sentence token {token} in it",
                    name.subject(tokens),
                )
        return tokens


def _or_none(listed: list[Any] | None) -> list[Any]:
    """Return a list, or one with nothing but None for what is no list."""
    return [None] if listed is None else listed


def _without_avoided_forms(
    sentence: int, request: Request, words: WordBoundaries | None
) -> Request:
    """Leave out the forms of patterns that are avoided; refuse a part that has none left.

    Patterns that become alike are still demanded each by itself, so that one occurrence is
    enough for both.
    """
    if not request.avoid:
        return request

    inside = Inside(request.avoid)

    def allowed(form: Form, strict: bool) -> bool:
        on = strict or form.goes_on
        return not any(occurs(each, form.tokens, words, on) for each in inside.of(form.tokens))

    kept: list[TokenConstraint] = []
    alike: dict[Pattern, dict[Pattern, int]] = {}

    def keep(asked: Pattern, left: Pattern) -> None:
        asked_for = alike.setdefault(replace(left, demand=0), {})
        kept.append(replace(left, demand=asked_for.setdefault(asked, len(asked_for))))

    for number, constraint in enumerate(request.phrases):
        if not isinstance(constraint, Pattern):
            kept.append(constraint)
            continue
        strict = constraint.strict
        parts = tuple(
            tuple(form for form in part if allowed(form, strict)) for part in constraint.parts
        )
        if not all(parts) and constraint.penalty is not None:
            keep(constraint, constraint)  # It will be given up.
            continue
        if not all(parts):
            raise ConstraintError(
                f"phrase {number} {{}} can't be met without an avoided phrase",
                request.subjects[number],
                sentence=sentence,
            )
        left = [form for part in parts for form in part if not form.first]
        usable = replace(constraint, parts=parts) if left or constraint.strict else constraint
        keep(constraint, usable)
    return replace(request, phrases=tuple(kept))


def _refuse_contradictions(sentence: int, request: Request, words: WordBoundaries | None) -> None:
    """Raise if a phrase or the prefix has something in it that is avoided."""
    named = [
        (_Name("phrase", i), phrase, False)
        for i, phrase in enumerate(request.phrases)
        if not isinstance(phrase, Pattern)
    ]
    for name, phrase, goes_on in [
        *named,
        (_Name("prefix"), request.prefix, not request.whole_prefix),
    ]:
        for number, avoided in enumerate(request.avoid):
            if occurs(avoided, phrase, words, goes_on):
                what = "is also avoided" if avoided == phrase else "contains what is avoided"
                raise ConstraintError(
                    f"{name} {{}} {what} (avoided phrase {number} {{}})",
                    name.subject(phrase),
                    _Name("avoided", number).subject(avoided),
                    sentence=sentence,
                )

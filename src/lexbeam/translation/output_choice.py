"""Which of several outputs is taken that were found with terms in the source, or without.

Each has two scores: for the source as it was given, and for the source with the terms. What the
sentence says and what its terms are, neither alone tells which output is better, so both count.
Where two outputs differ in nothing but small words or endings, one of the two scores is known to
be right more often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lexbeam.search.beam import Hypothesis

WEIGHT = 1.5
"""How much the score for the source with terms counts, next to that for the source as given."""

MARGIN = 0.08
"""How much less the score for the source as given may be."""

FORM_MARGIN = 0.12
"""How much less it may be where the terms are in other forms, such as another number."""

AGREEMENT_MARGIN = 0.25
"""How much less it may be where nothing but endings behind the terms differ."""

CLOSE = 0.6
"""How much is added for an output that is the free translation, but for its terms."""

CHANGE = 0.1
"""How much less of that there is for each other word that has changed."""

FAULT = 0.6
"""How much is taken away for each term with which the words before it can't agree, or to which they
are glued."""

FORMS_READ = 0.3
"""How much the score for the source with terms, each in one form, counts for their forms."""

AS_CLOSE = 0.2
"""How much less worth the free translation with its terms may be, if these agree best in it."""

_NEAR = 3
"""Words before a term that may go with it: article, adverb, adjective."""

_SHORT = 5
"""Letters of words such as articles and prepositions, at most."""

_ENDING = 2
"""Letters at the end of words that say how they agree with others, at most."""

_STEM = 3
"""Letters that two words have in common if one is a form of the other, at least."""


class Output(NamedTuple):
    """An output with its scores."""

    hypothesis: Hypothesis
    text: str
    as_given: float
    """For the source as it was given."""
    as_read: float
    """For the source with the terms."""
    changes: int | None = None
    """Words in which it differs from the free translation, besides the terms; None: not known."""
    is_edited: bool = False
    """Whether it is the free translation but for the terms and what has to agree with them."""
    faults: int = 0
    """Terms with which the words before them can't agree, or to which they are glued."""

    @property
    def worth(self) -> float:
        """What outputs are compared by."""
        close = preference(self.changes) - FAULT * self.faults
        return self.as_given + WEIGHT * self.as_read + close


def choose(old: Output, found: Sequence[Output], has_term: Callable[[str], bool]) -> Output:
    """Return the best of an output and those found with terms in the source.

    Of the free translations with their terms, one with the forms of the terms is taken that the
    given source finds best, and in which the words before them agree best, as both sources find.
    Only what is much better takes its place.
    """
    best = _choose(old, found, has_term)
    edited = [each for each in (old, *found) if each.is_edited]
    if not edited:
        return best
    likely = max(edited, key=lambda each: each.as_given + FORMS_READ * each.as_read)
    forms = _split(likely.text, has_term).forms
    alike = [each for each in edited if _split(each.text, has_term).forms == forms]
    close = max(alike, key=lambda each: each.as_given + each.as_read)
    return close if close.worth >= best.worth - AS_CLOSE else best


def _choose(old: Output, found: Sequence[Output], has_term: Callable[[str], bool]) -> Output:
    """Return the best of an output and those found with terms in the source.

    ``has_term`` says whether a word has a term in it, or a part of one. The words before a term
    are those that the given source finds best: the model that reads a term does not know its
    gender better. Endings behind the terms are those that the source with the terms finds best:
    in the other source something else stood in their place. What has two spaces in a row, which
    models sometimes say behind a term, is not taken.
    """
    found = [each for each in found if "  " not in each.text]
    words = {id(each): _split(each.text, has_term) for each in (old, *found)}
    better = [
        each
        for each in found
        if is_better(each, old, words[id(each)].forms == words[id(old)].forms)
    ]
    best = max((old, *better), key=lambda each: each.worth)
    alike = [e for e in (old, *found) if _differ_before_terms(words[id(best)], words[id(e)])]
    best = max((best, *alike), key=lambda each: each.as_given)
    alike = [e for e in (old, *found) if _differ_behind_terms(words[id(best)], words[id(e)])]
    least = best.as_given - AGREEMENT_MARGIN
    return max((best, *(e for e in alike if e.as_given >= least)), key=lambda each: each.as_read)


def preference(changes: int | None) -> float:
    """Return what is added for an output that differs from the free translation in few words."""
    return 0.0 if changes is None else max(CLOSE - changes * CHANGE, 0.0)


def count_changes(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words have to be replaced, added or taken away to make one of another."""
    one, other = _without_common_start(one, other)
    one, other = _without_common_start(one[::-1], other[::-1])
    costs = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        before, costs[0] = costs[0], i
        for j, there in enumerate(other, 1):
            least = min(before + (word != there), costs[j] + 1, costs[j - 1] + 1)
            before, costs[j] = costs[j], least
    return costs[-1]


def _without_common_start(
    one: Sequence[str], other: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    pairs = enumerate(zip(one, other, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    return one[same:], other[same:]


def is_better(new: Output, old: Output, has_same_forms: bool = True) -> bool:
    """Return whether an output is better than that of the source as given.

    What is much worse for the source as given has forgotten something of it. ``has_same_forms``
    says that both have the terms in the same forms.
    """
    margin = MARGIN if has_same_forms else FORM_MARGIN
    least = old.as_given + preference(old.changes) - preference(new.changes) - margin
    return new.as_given >= least and new.worth > old.worth


class _Words(NamedTuple):
    """The words of an output, and which of them have terms."""

    words: list[str]
    terms: list[int]

    @property
    def forms(self) -> list[str]:
        """The words that have terms."""
        return [self.words[i] for i in self.terms]


def _split(text: str, has_term: Callable[[str], bool]) -> _Words:
    words = text.split()
    return _Words(words, [i for i, word in enumerate(words) if has_term(word)])


def _differences(one: _Words, other: _Words) -> list[int]:
    """Return where outputs differ, if they have as many words, and terms at the same places."""
    if len(one.words) != len(other.words) or one.terms != other.terms or not one.terms:
        return []
    pairs = enumerate(zip(one.words, other.words, strict=True))
    different = [i for i, (word, there) in pairs if word != there]
    return [] if set(different) & set(one.terms) else different


def _differ_before_terms(one: _Words, other: _Words) -> bool:
    """Return whether outputs differ only in articles, or endings, shortly before terms."""
    different = _differences(one, other)
    return bool(different) and all(
        any(i < term <= i + _NEAR for term in one.terms)
        and (_are_short(one.words[i], other.words[i]) or _are_forms(one.words[i], other.words[i]))
        for i in different
    )


def _differ_behind_terms(one: _Words, other: _Words) -> bool:
    """Return whether outputs differ only in endings of words behind all terms."""
    different = _differences(one, other)
    return bool(different) and all(
        i > one.terms[-1] and _are_forms(one.words[i], other.words[i]) for i in different
    )


def _are_short(word: str, other: str) -> bool:
    return max(len(word), len(other)) <= _SHORT


def _are_forms(word: str, other: str) -> bool:
    """Return whether two words differ in nothing but their endings."""
    longest = max(len(word), len(other))
    same = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    common = min(len(word), len(other)) if same is None else same
    return common >= max(longest - _ENDING, _STEM)
